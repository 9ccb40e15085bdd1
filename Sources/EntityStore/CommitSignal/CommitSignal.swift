import Dispatch
import LMDB
import SystemSupport

/// Wakes the observers of a store after each commit, of this process or another.
///
/// A commit of this process wakes them by a direct call, one of another process by the wake socket.
/// Commits without a notification are found by a poll every two seconds: where no socket can be
/// bound, and when a writer died between its commit and its notification. Without observers there
/// is no socket, no timer and no thread.
///
/// There is one for each environment: two stores that a process has opened on one folder wake each
/// other's observers.
///
/// Threads: all methods may be called from any thread, and none of them blocks.
final class CommitSignal: Sendable {
  private struct Waiter: Sendable {
    let commit: Int
    let store: StoreLifetime
    let continuation: CheckedContinuation<Int, any Error>
  }

  private struct State {
    var numbersEver = 0
    var observers: [Int: StoreLifetime] = [:]
    var waiters: [Int: Waiter] = [:]
    /// The wake socket while there are observers; `nil` if it cannot be bound.
    var wakeSocket: WakeSocket?
    /// Stops the poll timer; set while there are observers.
    var stopTimer: (@Sendable () -> Void)?

    mutating func nextNumber() -> Int {
      numbersEver += 1
      return numbersEver
    }

    mutating func removeWaiters(where isOut: (Waiter) -> Bool) -> [Waiter] {
      let out = waiters.filter { isOut($0.value) }
      for number in out.keys { waiters[number] = nil }
      return Array(out.values)
    }
  }

  private let environment: Environment
  private let timer: PollTimer
  private let folder: ObserversFolder
  private let queue = DispatchQueue(label: "mooring.commits")
  private let state = Locked(State())

  init(environment: Environment, timer: PollTimer) {
    self.environment = environment
    self.timer = timer
    folder = ObserversFolder(ofStore: environment.folder)
  }

  deinit { CommitSignals.forget(self, of: environment) }

  // MARK: Writers

  /// Notifies all observers of a commit of this process.
  ///
  /// - Complexity: one system call if there are no observers.
  func notify() {
    checkForCommits()
    folder.notify(exceptFor: state.withLock { $0.wakeSocket?.name })
  }

  // MARK: Observers

  /// Adds an observer.
  ///
  /// - Returns: The number by which the observer is removed.
  func addObserver(of store: StoreLifetime) throws -> Int {
    try state.withLock { state in
      // Under the lock, so that a concurrent `end` either comes later or is seen here.
      try store.checkOpen()
      let number = state.nextNumber()
      state.observers[number] = store
      if state.stopTimer == nil { startListening(&state) }
      return number
    }
  }

  func removeObserver(_ number: Int) {
    state.withLock { state in
      state.observers[number] = nil
      if state.observers.isEmpty { stopListening(&state) }
    }
  }

  /// Ends every observation of a store that has been closed.
  func end(_ store: StoreLifetime) {
    let ended = state.withLock { state in
      state.observers = state.observers.filter { $0.value !== store }
      if state.observers.isEmpty { stopListening(&state) }
      return state.removeWaiters { $0.store === store }
    }
    for waiter in ended { waiter.continuation.resume(throwing: StoreError.closed) }
  }

  /// The number of tasks that are waiting.
  var waitersCount: Int { state.withLock { $0.waiters.count } }

  /// Waits until there is a newer commit, and returns the newest.
  func next(after commit: Int, in store: StoreLifetime) async throws -> Int {
    let number = state.withLock { $0.nextNumber() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        add(Waiter(commit: commit, store: store, continuation: continuation), number)
      }
    } onCancel: {
      resume(number, with: .failure(CancellationError()))
    }
  }

  private func add(_ waiter: Waiter, _ number: Int) {
    let isOpen = state.withLock { state in
      let isOpen = !waiter.store.isClosed
      if isOpen { state.waiters[number] = waiter }
      return isOpen
    }
    guard isOpen else { return waiter.continuation.resume(throwing: StoreError.closed) }
    // Read after the waiter is registered: a commit or a cancellation just before that has not
    // woken it.
    let newest = newestCommit()
    if Self.isNews(newest, after: waiter.commit) { resume(number, with: newest) }
    if Task.isCancelled { resume(number, with: .failure(CancellationError())) }
  }

  private func resume(_ number: Int, with result: Result<Int, any Error>) {
    // The thread that removes a continuation is the one to resume it.
    let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
    waiter?.continuation.resume(with: result)
  }

  // MARK: Polling

  /// Wakes the waiters for whom there is a newer commit.
  private func checkForCommits() {
    guard state.withLock({ !$0.waiters.isEmpty }) else { return }
    let newest = newestCommit()
    let woken = state.withLock { state in
      state.removeWaiters { Self.isNews(newest, after: $0.commit) }
    }
    for waiter in woken { waiter.continuation.resume(with: newest) }
  }

  private func newestCommit() -> Result<Int, any Error> {
    Result { try translatingStorageErrors { try environment.lastCommit } }
  }

  /// True for a newer commit and for a failure, which a waiter would not learn of otherwise.
  private static func isNews(_ newest: Result<Int, any Error>, after commit: Int) -> Bool {
    switch newest {
    case .success(let newest): newest > commit
    case .failure: true
    }
  }

  // MARK: Listening to other processes

  private func startListening(_ state: inout State) {
    state.wakeSocket = bindWakeSocket()
    state.stopTimer = timer.start(queue) { [weak self] in self?.tick() }
  }

  private func stopListening(_ state: inout State) {
    state.wakeSocket?.remove()
    state.wakeSocket = nil
    state.stopTimer?()
    state.stopTimer = nil
  }

  private func bindWakeSocket() -> WakeSocket? {
    WakeSocket(in: folder, queue: queue) { [weak self] in self?.checkForCommits() }
  }

  private func tick() {
    state.withLock { state in
      // Another process may have removed the socket, or the folder may have become writable.
      guard state.stopTimer != nil, state.wakeSocket?.isBound != true else { return }
      state.wakeSocket?.remove()
      state.wakeSocket = bindWakeSocket()
    }
    checkForCommits()
  }
}
