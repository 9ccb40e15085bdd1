public import EntityStore
import Foundation

/// A job that somebody follows, in whichever process it runs.
public struct JobHandle<J: Job>: Sendable {
  public let id: JobID
  public let store: Store

  /// The job's status now and after each change, until it has ended. Who looks rarely misses what was
  /// between: only the newest is kept.
  ///
  /// Throws `unknownJob` if the job is not there, or is removed meanwhile.
  public var updates: AsyncThrowingStream<JobStatus, any Error> {
    JobQueue(store).updates(of: id)
  }

  /// What comes out of the job; waits for its end.
  ///
  /// Cancelling the task that waits does not cancel the job.
  ///
  /// - Throws: `failed`, `cancelled`, `poisoned`, with what it says of it; `unknownJob`.
  public var value: J.Output {
    get async throws {
      for try await status in updates where status.state.isFinished {
        return try status.output(of: J.self)
      }
      // The sequence ends early only when this task is cancelled.
      throw CancellationError()
    }
  }

  /// See `JobQueue.cancel`.
  @discardableResult
  public func cancel() async throws -> JobState { try await JobQueue(store).cancel(id) }
}

extension JobQueue {
  /// As `JobHandle.updates`, for a job of any kind.
  public func updates(of id: JobID) -> AsyncThrowingStream<JobStatus, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task.detached { [self] in
        do {
          let commits = try store.commits.observe()
          var seen = 0
          var last: JobStatus?
          while last?.state.isFinished != true {
            seen = try await commits.next(after: seen)
            guard let status = try status(id) else { throw JobError.unknown(id) }
            if status != last { continuation.yield(status) }
            last = status
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

extension JobStatus {
  /// What came out of a job that has ended.
  ///
  /// - Throws: `notFinished`; `failed`, `cancelled`, `poisoned`; `badPayload` if the output cannot be read.
  public func output<J: Job>(of type: J.Type) throws -> J.Output {
    switch state {
    case .succeeded: break
    case .discarded: throw ending(.failed, "the job has failed")
    case .cancelled: throw ending(.cancelled, "the job was cancelled")
    case .poisoned: throw ending(.poisoned, "the job's runners died with it")
    case .scheduled, .ready, .held, .blocked, .running:
      throw ending(.notFinished, "the job has not ended")
    }
    if let nothing = NoOutput() as? J.Output { return nothing }
    do {
      return try JSONDecoder().decode(J.Output.self, from: Data((output ?? "null").utf8))
    } catch {
      throw ending(.badPayload, "the output of a job cannot be read")
    }
  }

  private func ending(_ code: JobError.Code, _ summary: StaticString) -> JobError {
    var context = [("job", id.description), ("kind", kind)]
    if let error { context.append(("error", error)) }
    return JobError(code, summary, context, advice: "see `mooring jobs show \(id)`")
  }
}
