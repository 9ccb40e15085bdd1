/// The commits of a store, for those who follow it.
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

/// Follows the commits of a store. While it lives, other processes know that this one wants to
/// hear of theirs; so whoever waits again and again keeps one for all the while.
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
  /// Commits that come quickly wake once. There may be one in which nothing has changed.
  ///
  /// - Parameter commit: The id of the snapshot that the caller has read last; 0 for none.
  /// - Returns: The newest commit: a snapshot that begins now is of this one or a newer one.
  /// - Throws: `CancellationError` if the task is cancelled; `closed` if the store is closed, now
  ///   or while this waits; `storage` if it cannot be read.
  package func next(after commit: Int) async throws -> Int {
    try await signal.next(after: commit, in: lifetime)
  }
}
