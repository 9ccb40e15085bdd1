public import EntityStore
import Foundation

/// A handle for observing one job, in whichever process it runs.
public struct JobHandle<J: Job>: Sendable {
  public let id: JobID
  public let store: Store

  /// The job's status now and after each change, until it has ended. Only the newest status is
  /// buffered, so a slow reader misses some.
  ///
  /// Throws `unknownJob` if the job does not exist or is removed.
  public var updates: AsyncThrowingStream<JobStatus, any Error> {
    JobQueue(store).updates(of: id)
  }

  /// Waits for the end of the job and returns its output.
  ///
  /// Cancelling the waiting task does not cancel the job.
  ///
  /// - Throws: `failed`, `cancelled`, `poisoned`, with the error of the job; `unknownJob`.
  public var value: J.Output {
    get async throws {
      for try await status in updates where status.state.isFinished {
        return try status.output(of: J.self)
      }
      // The sequence ends early only when this task is cancelled.
      throw CancellationError()
    }
  }

  /// Cancels the job; see `JobQueue.cancel`.
  @discardableResult
  public func cancel() async throws -> JobState { try await JobQueue(store).cancel(id) }
}

extension JobQueue {
  /// Returns the same as `JobHandle.updates`, for a job of any kind.
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
  /// Returns the output of a job that has succeeded.
  ///
  /// - Throws: `notFinished`; `failed`, `cancelled`, `poisoned`; `badPayload` if the output cannot
  ///   be read.
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
