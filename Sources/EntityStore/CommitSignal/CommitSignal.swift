import Dispatch
import LMDB
import SystemSupport

/// Wakes whoever waits for the next commit of a store, whichever process makes it.
///
/// A commit of this process wakes by `ring`, one of another by a doorbell, and what no bell
/// announces, by a look every two seconds: where no socket can be bound, and when a writer died
/// between its commit and its ring. While nobody observes there is no socket, no timer and no
/// thread.
///
/// One for each environment: two stores that a process has opened on one folder hear each other.
///
/// Threads: all of it may be called from any thread, and none of it blocks.
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
    /// While there are observers; `nil` if it cannot be hung.
    var doorbell: Doorbell?
    /// While there are observers.
    var stopTicker: (@Sendable () -> Void)?

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
  private let ticker: CommitTicker
  private let folder: ObserversFolder
  private let queue = DispatchQueue(label: "mooring.commits")
  private let state = Locked(State())

  init(environment: Environment, ticker: CommitTicker) {
    self.environment = environment
    self.ticker = ticker
    folder = ObserversFolder(ofStore: environment.folder)
  }

  deinit { CommitSignals.forget(self, of: environment) }

  // MARK: Writers

  /// Tells everybody of a commit that this process has made.
  ///
  /// - Complexity: one system call if nobody observes.
  func ring() {
    look()
    folder.ring(exceptFor: state.withLock { $0.doorbell?.name })
  }

  // MARK: Observers

  /// - Returns: The number by which the observer is removed.
  func addObserver(of store: StoreLifetime) throws -> Int {
    try state.withLock { state in
      // Under the lock, so that `end` either comes later or is seen here.
      try store.checkOpen()
      let number = state.nextNumber()
      state.observers[number] = store
      if state.stopTicker == nil { startListening(&state) }
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

  /// How many wait just now.
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
    // Both come after it is known: a commit, or a cancellation, of a moment ago met nobody.
    let newest = newestCommit()
    if Self.isNews(newest, after: waiter.commit) { resume(number, with: newest) }
    if Task.isCancelled { resume(number, with: .failure(CancellationError())) }
  }

  private func resume(_ number: Int, with result: Result<Int, any Error>) {
    // Whoever takes a continuation out is the one to resume it.
    let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
    waiter?.continuation.resume(with: result)
  }

  // MARK: Looking

  /// Wakes those for whom there is news.
  private func look() {
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

  /// A failure is news as well: whoever waits would not hear of it otherwise.
  private static func isNews(_ newest: Result<Int, any Error>, after commit: Int) -> Bool {
    switch newest {
    case .success(let newest): newest > commit
    case .failure: true
    }
  }

  // MARK: Listening to other processes

  private func startListening(_ state: inout State) {
    state.doorbell = hangDoorbell()
    state.stopTicker = ticker.start(queue) { [weak self] in self?.tick() }
  }

  private func stopListening(_ state: inout State) {
    state.doorbell?.takeDown()
    state.doorbell = nil
    state.stopTicker?()
    state.stopTicker = nil
  }

  private func hangDoorbell() -> Doorbell? {
    Doorbell(in: folder, queue: queue) { [weak self] in self?.look() }
  }

  private func tick() {
    state.withLock { state in
      // Somebody may have removed the socket, or made the folder writable.
      guard state.stopTicker != nil, state.doorbell?.isHung != true else { return }
      state.doorbell?.takeDown()
      state.doorbell = hangDoorbell()
    }
    look()
  }
}
