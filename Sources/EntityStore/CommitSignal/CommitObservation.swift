import Synchronization

/// The commits of a store, for its observers.
package struct StoreCommits: Sendable {
  let signal: CommitSignal
  package let lifetime: StoreLifetime

  /// Begins to observe. The store is observed until the object is released.
  ///
  /// - Throws: `closed`.
  package func observe() throws -> CommitObservation {
    try CommitObservation(signal: signal, lifetime: lifetime)
  }
}

/// Follows the commits of a store. While it exists, other processes notify this process of their
/// commits; so a program that waits repeatedly should hold one for the whole time.
///
/// Threads: may be used by any number of tasks at once.
package final class CommitObservation: Sendable {
  private let signal: CommitSignal
  private let lifetime: StoreLifetime
  private let number: Int

  fileprivate init(signal: CommitSignal, lifetime: StoreLifetime) throws {
    self.signal = signal
    self.lifetime = lifetime
    number = try signal.addObserver(of: lifetime)
  }

  deinit { signal.removeObserver(number) }

  /// Waits until the store has a newer commit. Blocks no thread.
  ///
  /// Several commits in quick succession wake the caller once. A commit may contain no changes.
  ///
  /// - Parameter commit: The id of the snapshot that the caller has read last; 0 for none.
  /// - Returns: The newest commit: a snapshot that begins now is of this one or a newer one.
  /// - Throws: `CancellationError` if the task is cancelled; `closed` if the store is closed, now
  ///   or while this waits; a storage failure if it cannot be read.
  package func next(after commit: Int) async throws -> Int {
    try await signal.next(after: commit, in: lifetime)
  }

  /// Waits for a newer commit, at most for the given time.
  ///
  /// - Returns: The newest commit that is known.
  package func next(after commit: Int, within bound: Duration) async throws -> Int {
    try await withThrowingTaskGroup(of: Int?.self) { group in
      group.addTask { try await self.next(after: commit) }
      group.addTask {
        try await Task.sleep(for: bound)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next().flatMap { $0 } ?? commit
    }
  }
}

/// The state of a store: open or closed. Objects that may outlive the last reference to the store
/// hold it, too.
package final class StoreLifetime: Sendable {
  private let closed = Atomic<Bool>(false)

  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Checks that the store is open.
  ///
  /// - Throws: `closed`.
  package func checkOpen() throws(StoreError) {
    if isClosed { throw .closed }
  }

  func close() { closed.store(true, ordering: .releasing) }
}

extension StoreError {
  static var closed: StoreError { StoreError(.closed, "the store has been closed") }
}
