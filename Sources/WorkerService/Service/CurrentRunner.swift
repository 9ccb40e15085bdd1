import DurableJobs
import SystemSupport

/// The current runner of a worker, and whether the worker stops: a stop between two runners is not
/// lost.
final class CurrentRunner: Sendable {
  private struct State {
    var runner: JobRunner?
    var isStopping = false
  }

  private let state = Locked(State())

  var runner: JobRunner? { state.withLock { $0.runner } }

  /// True if the worker stops for good.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Sets the current runner.
  ///
  /// - Returns: `false` if the worker stops. Then the runner must not be started.
  func begin(_ runner: JobRunner) -> Bool {
    state.withLock { state in
      if !state.isStopping { state.runner = runner }
      return !state.isStopping
    }
  }

  func end() { state.withLock { $0.runner = nil } }

  /// Stops the runner. No other one can begin after it.
  func stopForGood(within bound: Duration) {
    state.withLock { $0.isStopping = true }
    stop(within: bound)
  }

  /// Stops the runner. Another one may begin after it.
  func stop(within bound: Duration) {
    guard let runner else { return }
    Task { await runner.stop(within: bound) }
  }
}
