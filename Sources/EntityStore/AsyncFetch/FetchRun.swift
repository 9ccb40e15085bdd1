import SystemSupport

/// The state of one asynchronous read: it waits, runs, and ends once, with a value or an error.
///
/// Shared by the handle that the caller holds and the thread that does the work.
final class FetchRun<Value: Sendable>: Sendable {
  typealias Work = @Sendable (FetchRun) throws -> Value

  private struct State {
    /// The work, until it begins.
    var work: Work?
    var isCancelled = false
    var result: Result<Value, any Error>?
    var progress = FetchProgress()
    var waiters: [CheckedContinuation<Value, any Error>] = []
    var observers: [Int: AsyncStream<FetchProgress>.Continuation] = [:]
    var observersEver = 0
  }

  private let state: Locked<State>

  init(_ work: @escaping Work) { state = Locked(State(work: work)) }

  // MARK: On the thread of the work

  /// Does the work, unless the fetch was cancelled before.
  func perform() {
    let work = state.withLock { state in
      defer { state.work = nil }
      return state.work
    }
    guard let work else { return }
    end(Result { try work(self) })
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func report(_ progress: FetchProgress) {
    let observers = state.withLock { state in
      state.progress = progress
      return Array(state.observers.values)
    }
    for observer in observers { observer.yield(progress) }
  }

  // MARK: On any thread

  /// Cancels the fetch. It ends immediately if it has not begun, else at the next check. Does
  /// nothing after the end.
  func cancel() {
    let isWaiting = state.withLock { state in
      state.isCancelled = true
      defer { state.work = nil }
      return state.work != nil
    }
    if isWaiting { end(.failure(CancellationError())) }
  }

  private func end(_ outcome: Result<Value, any Error>) {
    let ended = state.withLock { state in
      // A cancelled fetch returns no value, however late it was cancelled.
      let result = state.isCancelled ? .failure(CancellationError()) : outcome
      state.result = result
      defer { (state.waiters, state.observers) = ([], [:]) }
      return (result: result, waiters: state.waiters, observers: state.observers.values)
    }
    for waiter in ended.waiters { waiter.resume(with: ended.result) }
    for observer in ended.observers { observer.finish() }
  }

  var progress: FetchProgress { state.withLock { $0.progress } }

  var value: Value {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state in
          if state.result == nil { state.waiters.append(continuation) }
          return state.result
        }
        if let result { continuation.resume(with: result) }
      }
    }
  }

  /// Returns the newest progress, and each change of it until the end.
  func observe() -> AsyncStream<FetchProgress> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: FetchProgress.self, bufferingPolicy: .bufferingNewest(1))
    // Sent before the observer is registered, so that progress that is reported concurrently is
    // newer.
    let number = state.withLock { state -> Int? in
      continuation.yield(state.progress)
      guard state.result == nil else { return nil }
      state.observersEver += 1
      state.observers[state.observersEver] = continuation
      return state.observersEver
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.observers.removeValue(forKey: number) }
    }
    return stream
  }
}
