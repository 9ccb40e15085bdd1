import DurableJobs
import EntityStore
import Maintenance
import Synchronization

/// The compactions that jobs have asked for.
///
/// A job cannot compact the store that its own process has open. So it asks and steps back, its runner
/// stops, the worker compacts between two openings, and when the job runs again the result is there.
final class Compactions: Sendable {
  private struct State {
    var asked: [JobID] = []
    /// Of the last one, for the job that has asked, if it comes soon: one that was cancelled and is tried
    /// again later asks anew.
    var done:
      (job: JobID, result: Result<CompactionReport, any Error>, at: ContinuousClock.Instant)?
  }

  private static let resultAgeMax = Duration.seconds(600)
  private let state = Mutex(State())

  /// The job that has waited longest.
  var next: JobID? { state.withLock { $0.asked.first } }

  /// The result for a job, if it is there; else asks for it.
  ///
  /// - Throws: What the compaction threw; a `JobStop` that puts the job off when it has asked.
  func take(
    _ job: JobID, onAsking stopRunner: @Sendable () -> Void
  ) throws -> CompactionReport {
    let result = state.withLock { state in
      var result: Result<CompactionReport, any Error>?
      if let done = state.done, done.job == job {
        if done.at + Self.resultAgeMax > .now { result = done.result }
        state.done = nil
      }
      if result == nil, !state.asked.contains(job) { state.asked.append(job) }
      return result
    }
    if let result { return try result.get() }
    stopRunner()
    // Not waited for here, or the runner's stop would wait for this job. The time is for the stop to
    // come before the next claim.
    throw JobStop.snooze(for: .seconds(1))
  }

  func finish(_ job: JobID, _ result: Result<CompactionReport, any Error>) {
    state.withLock { state in
      state.asked.removeAll { $0 == job }
      state.done = (job, result, .now)
    }
  }
}
