import Synchronization

/// A task of the simulated program, which runs only while the simulation waits for it: until it
/// sleeps in virtual time, or ends. So one task runs at a time, in an order that the seed decides.
final class Strand: Sendable {
  enum Pause: Equatable {
    case sleeping(until: Int)
    case ended
  }

  /// The strand that the current task belongs to.
  @TaskLocal static var current: Strand?

  private struct State {
    /// The simulation, which waits for the next pause.
    var waiter: UnsafeContinuation<Pause, Never>?
    var sleeper: UnsafeContinuation<Void, Never>?
    var isKilled = false
    /// True from a cancellation on: a sleep ends at once.
    var isCancelled = false
  }

  private let state = Mutex(State())
  let clock: VirtualClock

  init(clock: VirtualClock) { self.clock = clock }

  // MARK: The simulation

  /// Starts the task, which must call `end()` at last, and returns at its first pause.
  func begin(_ start: @escaping @Sendable () -> Void) async -> Pause {
    await withUnsafeContinuation { continuation in
      state.withLock { $0.waiter = continuation }
      start()
    }
  }

  /// Ends the sleep of the task, and returns at its next pause.
  func proceed() async -> Pause {
    await withUnsafeContinuation { continuation in
      let sleeper = state.withLock { state in
        state.waiter = continuation
        return state.sleeper.take()
      }
      sleeper?.resume()
    }
  }

  /// Lets the sleeps of the task throw.
  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Lets the task end as that of a killed process: its sleeps throw.
  func kill() { state.withLock { ($0.isKilled, $0.isCancelled) = (true, true) } }

  // MARK: The task

  /// Sleeps in virtual time.
  ///
  /// - Throws: `CancellationError` if the strand was cancelled or killed.
  func sleep(milliseconds: Int) async throws {
    if state.withLock(\.isCancelled) { throw CancellationError() }
    let end = clock.elapsed + max(0, milliseconds)
    await withUnsafeContinuation { continuation in
      let waiter = state.withLock { state in
        state.sleeper = continuation
        return state.waiter.take()
      }
      waiter?.resume(returning: .sleeping(until: end))
    }
    if state.withLock(\.isCancelled) { throw CancellationError() }
  }

  var isKilled: Bool { state.withLock(\.isKilled) }

  func end() {
    state.withLock { $0.waiter.take() }?.resume(returning: .ended)
  }
}
