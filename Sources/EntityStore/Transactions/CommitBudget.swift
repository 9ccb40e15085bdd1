import Dispatch

/// Decides whether a transaction takes another chunk of long work before its commit.
///
/// Each commit waits for the device, and writes each page that it has changed once: the more chunks
/// share a commit, the less each of them costs. A transaction takes another chunk until
///
/// - another process waits to write, or a write of this process waits;
/// - with another chunk the commit would write more than ``StoreLimits/dirtyPagesMax`` pages, or
///   for a load ``StoreLimits/loadDirtyPagesMax``: those who come then would wait for the device;
/// - ``StoreLimits/commitDuration`` is over: a kill loses what is not committed, and no reader sees
///   it before.
package struct CommitBudget {
  /// The end by `DispatchTime`.
  private let deadline: UInt64
  private let isAwaited: () -> Bool

  /// Begins a transaction now.
  ///
  /// - Parameter isAwaited: Returns true if another writer waits for the commit.
  init(duration: Duration, isAwaited: @escaping () -> Bool) {
    deadline = (DispatchTime.now() + duration / .seconds(1)).uptimeNanoseconds
    self.isAwaited = isAwaited
  }

  /// Returns true if the transaction may take another chunk.
  ///
  /// - Parameter dirtyPages: The number of pages that the commit would write after another chunk.
  /// - Parameter limit: The most pages that it should write.
  /// - Complexity: a few system calls.
  func hasRoom(dirtyPages: Int, limit: Int) -> Bool {
    dirtyPages <= limit && DispatchTime.now().uptimeNanoseconds < deadline
      && !isAwaited()
  }
}
