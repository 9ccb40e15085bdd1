import EntityStore
import Foundation
import SystemSupport

/// Who does the work: for each kind of jobs that a runner knows, a closure.
///
/// A job of another kind is left where it is, for a runner that knows it.
public struct JobHandlers: Sendable {
  private(set) var byKind: [JobKind: JobHandler] = [:]

  public init() {}

  public var kinds: Set<JobKind> { Set(byKind.keys) }

  /// Registers who runs the jobs of a type. The last one registered counts.
  ///
  /// The closure runs on Swift's cooperative pool, so it must not block. It is cancelled when the
  /// job is, when its time is up, and when the runner stops.
  public mutating func handle<J: Job>(
    _ type: J.Type, _ body: @escaping @Sendable (J, JobContext) async throws -> J.Output
  ) {
    byKind[J.kind] = JobHandler(backoff: J.policy.backoff, blocks: false) { context, _ in
      let job = try context.decode(J.self)
      return try context.encode(try await body(job, context))
    }
  }

  /// Registers who runs the jobs of a type, for work that blocks: it runs on the runner's own threads.
  /// It asks `JobContext.checkCancellation` now and then.
  public mutating func handleBlocking<J: Job>(
    _ type: J.Type, _ body: @escaping @Sendable (J, JobContext) throws -> J.Output
  ) {
    byKind[J.kind] = JobHandler(backoff: J.policy.backoff, blocks: true) { context, threads in
      let job = try context.decode(J.self)
      return try await withCheckedThrowingContinuation { continuation in
        threads.submit {
          continuation.resume(with: Result { try context.encode(try body(job, context)) })
        }
      }
    }
  }
}

struct JobHandler: Sendable {
  let backoff: Backoff
  /// Whether it does its work on the runner's threads.
  let blocks: Bool
  /// Returns the output as JSON.
  let run: @Sendable (JobContext, BoundedThreads) async throws -> Data?
}
