import DurableJobs
import Synchronization

/// The runner that a worker has just now, and whether it is to stop: an order that comes between two
/// runners is not lost.
final class CurrentRunner: Sendable {
  private struct State {
    var runner: JobRunner?
    var isStopping = false
  }

  private let state = Mutex(State())

  var runner: JobRunner? { state.withLock { $0.runner } }

  /// The worker stops for good.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// - Returns: `false` if the worker is to stop: the runner must not be begun.
  func begin(_ runner: JobRunner) -> Bool {
    state.withLock { state in
      if !state.isStopping { state.runner = runner }
      return !state.isStopping
    }
  }

  func end() { state.withLock { $0.runner = nil } }

  /// Stops the runner, and whatever would come after it.
  func stopForGood(within bound: Duration) {
    let runner = state.withLock { state in
      state.isStopping = true
      return state.runner
    }
    stop(runner, within: bound)
  }

  /// Stops the runner; another one may come after it.
  func stop(within bound: Duration) { stop(runner, within: bound) }

  private func stop(_ runner: JobRunner?, within bound: Duration) {
    guard let runner else { return }
    Task { await runner.stop(within: bound) }
  }
}
