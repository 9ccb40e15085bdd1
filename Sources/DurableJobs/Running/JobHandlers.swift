import EntityStore
import Foundation
import SystemSupport

/// The handlers of a runner: a closure for each kind of jobs.
///
/// A runner does not claim jobs of other kinds.
public struct JobHandlers: Sendable {
  private(set) var byKind: [JobKind: JobHandler] = [:]

  public init() {}

  public var kinds: Set<JobKind> { Set(byKind.keys) }

  /// Registers the handler of a type, in place of an earlier one.
  ///
  /// The closure runs on Swift's cooperative pool, so it must not block. Its task is cancelled when
  /// the job is cancelled, when its timeout has passed, and when the runner stops.
  public mutating func handle<J: Job>(
    _ type: J.Type, _ body: @escaping @Sendable (J, JobContext) async throws -> J.Output
  ) {
    byKind[J.kind] = JobHandler(backoff: J.policy.backoff, blocks: false) { context, _ in
      let job = try context.decode(J.self)
      return try context.encode(try await body(job, context))
    }
  }

  /// Registers a handler that blocks: it runs on the runner's own threads. It should call
  /// `JobContext.checkCancellation` regularly.
  public mutating func handleBlocking<J: Job>(
    _ type: J.Type, _ body: @escaping @Sendable (J, JobContext) throws -> J.Output
  ) {
    byKind[J.kind] = JobHandler(backoff: J.policy.backoff, blocks: true) { context, threads in
      let job = try context.decode(J.self)
      return try await threads.run { try context.encode(try body(job, context)) }
    }
  }
}

/// The handler of one kind.
struct JobHandler: Sendable {
  let backoff: Backoff
  /// True if it runs on the runner's threads.
  let blocks: Bool
  /// Returns the output as JSON.
  let run: @Sendable (JobContext, BoundedThreads) async throws -> Data?
}
