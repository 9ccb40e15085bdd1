import DurableJobs
import EntityStore
import Maintenance
import SystemSupport

/// The compactions that jobs have requested.
///
/// A job cannot compact the store that its own process has open. It requests the compaction and is
/// snoozed, its runner stops, and the worker compacts the closed store. When the job runs again, it
/// returns the result.
final class Compactions: Sendable {
  private struct State {
    var requests: [JobID] = []
    /// The last result, for the job that has requested it. A job that comes much later, as after a
    /// cancellation, requests another compaction.
    var done:
      (job: JobID, result: Result<CompactionReport, any Error>, at: ContinuousClock.Instant)?
  }

  private static let resultAgeMax = Duration.seconds(600)
  private let state = Locked(State())

  /// The job that has waited longest.
  var next: JobID? { state.withLock { $0.requests.first } }

  /// Returns the result for a job, or requests a compaction.
  ///
  /// - Parameter stopRunner: Called after a request.
  /// - Throws: The error of the compaction; a `JobStop` that snoozes the job after a request.
  func take(
    _ job: JobID, onRequest stopRunner: @Sendable () -> Void
  ) throws -> CompactionReport {
    let result = state.withLock { state in
      var result: Result<CompactionReport, any Error>?
      if let done = state.done, done.job == job {
        if done.at + Self.resultAgeMax > .now { result = done.result }
        state.done = nil
      }
      if result == nil, !state.requests.contains(job) { state.requests.append(job) }
      return result
    }
    if let result { return try result.get() }
    stopRunner()
    // The job must end, because the stop of the runner waits for it. The snooze lasts until after
    // the runner has stopped claiming.
    throw JobStop.snooze(for: .seconds(1))
  }

  func finish(_ job: JobID, _ result: Result<CompactionReport, any Error>) {
    state.withLock { state in
      state.requests.removeAll { $0 == job }
      state.done = (job, result, .now)
    }
  }
}
