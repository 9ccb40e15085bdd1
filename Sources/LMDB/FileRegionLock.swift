import Glibc

/// A kernel lock on bytes of an open file (`F_OFD_SETLK`).
///
/// It belongs to the open file and not to the process: two descriptors of one process exclude each
/// other, and no other code of the process can drop it by closing a descriptor of its own. The kernel
/// frees it when its holder dies.
package struct FileRegionLock: Sendable {
  package enum Kind: Sendable { case shared, exclusive, none }

  /// Of <fcntl.h>, which Swift's module of glibc does not show.
  private static let getLockOfOpenFile: Int32 = 36
  private static let setLockOfOpenFile: Int32 = 37

  private let start: Int
  private let count: Int

  /// - Parameter count: Bytes; 0 for all from the start on.
  package init(start: Int = 0, count: Int = 0) {
    self.start = start
    self.count = count
  }

  /// Takes the lock, or gives it up, without waiting.
  ///
  /// A process that is being started has a copy of the descriptor until it executes its program, so
  /// that closing one does not free its lock: give it up first.
  ///
  /// - Returns: Whether that was done; else `errno` says why, `EAGAIN` or `EACCES` for another holder.
  @discardableResult
  package func set(_ kind: Kind, of descriptor: Int32) -> Bool {
    var range = region(kind)
    return fcntl(descriptor, Self.setLockOfOpenFile, &range) == 0
  }

  /// The process that keeps others from having the lock alone. Nothing is taken to find out.
  ///
  /// - Returns: `nil` if nobody does; 0 or less for one whose number the system does not tell.
  package func holder(of descriptor: Int32) -> Int32? {
    var range = region(.exclusive)
    guard fcntl(descriptor, Self.getLockOfOpenFile, &range) == 0,
      Int32(range.l_type) != Int32(F_UNLCK)
    else { return nil }
    return range.l_pid
  }

  /// Whether somebody keeps others from having the lock alone.
  ///
  /// - Returns: `nil` if the system does not tell; `errno` says why.
  package func isHeld(of descriptor: Int32) -> Bool? {
    var range = region(.exclusive)
    guard fcntl(descriptor, Self.getLockOfOpenFile, &range) == 0 else { return nil }
    return Int32(range.l_type) != Int32(F_UNLCK)
  }

  private func region(_ kind: Kind) -> Glibc.flock {
    var range = Glibc.flock()
    switch kind {
    case .shared: range.l_type = Int16(F_RDLCK)
    case .exclusive: range.l_type = Int16(F_WRLCK)
    case .none: range.l_type = Int16(F_UNLCK)
    }
    range.l_whence = Int16(SEEK_SET)
    range.l_start = start
    range.l_len = count
    return range
  }
}
