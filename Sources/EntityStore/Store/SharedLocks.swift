package import Foundation

/// The locks that hold on all machines that have a store.
///
/// The taker of one holds the kernel lock of the same right in the store's folder, which holds on
/// this machine and ends with the process. So a lock that this machine had belongs to nobody.
package protocol SharedLocks: Sendable {
  /// Takes a lock.
  ///
  /// - Returns: `nil` if another machine has it.
  /// - Throws: `StorageError` with `.unreachable`.
  func take(_ name: String) throws -> (any SharedLock)?

  /// Returns the time for which another machine has the lock if it does not renew it; `nil` if none
  /// has it.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  func timeHeldElsewhere(_ name: String) throws -> Duration?

  /// Returns the last note about a lock, which may be some seconds old.
  func note(of name: String) -> SharedNote?

  /// Reserves the next of several turns that are so far apart, and returns the time until it.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  func reserveTurn(_ name: String, spacing: Duration) throws -> Duration
}

extension SharedLocks {
  /// Returns true while another machine has the lock.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  package func isHeldElsewhere(_ name: String) throws -> Bool {
    try timeHeldElsewhere(name) != nil
  }
}

/// A lock that this process has until it releases it, or releases this object.
package protocol SharedLock: Sendable {
  /// Stores a note, which stays after the end of the lock. A failure is ignored.
  func leave(_ note: SharedNote)

  func release()
}

/// A note about the last use of a lock.
package struct SharedNote: Hashable, Sendable {
  package let text: String
  package let date: Date

  package init(_ text: String, at date: Date) {
    self.text = text
    self.date = date
  }
}

/// The locks of a store that one machine has: the kernel locks in the folder suffice.
package struct FolderLocks: SharedLocks {
  private struct Lock: SharedLock {
    func leave(_ note: SharedNote) {}
    func release() {}
  }

  package init() {}

  package func take(_ name: String) -> (any SharedLock)? { Lock() }
  package func timeHeldElsewhere(_ name: String) -> Duration? { nil }
  package func note(of name: String) -> SharedNote? { nil }
  package func reserveTurn(_ name: String, spacing: Duration) -> Duration { .zero }
}
