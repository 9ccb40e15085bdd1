import Glibc

/// An open file or folder, and the kernel locks that were taken through it.
///
/// The locks belong to the open file and not to the process: two objects of one process exclude
/// each other, and no other code of the process drops a lock by closing a descriptor of its own.
/// The kernel frees them when the process dies, so that nothing has to expire. The object frees
/// them when it is released. All methods may be called from any thread.
package final class FileLock: Sendable {
  /// The part of a file that is locked. Locks of the two kinds do not exclude each other.
  package enum Region: Sendable {
    /// The file as a whole, by `flock`.
    case file
    /// A range of bytes, by `F_OFD_SETLK`; a count of 0 means all bytes from the start on.
    case bytes(from: Int, count: Int)

    /// Returns the region of one byte, whose offset is computed from a hash.
    package static func byte(hash: Int64) -> Region {
      .bytes(from: Int(hash & (.max >> 1)), count: 1)
    }
  }

  package enum Mode: Sendable { case shared, exclusive }

  package let descriptor: Int32

  /// Opens the file without taking a lock.
  ///
  /// - Parameter opening: `.readOnly` is enough to ask who holds a lock.
  package init(
    _ path: String, _ opening: FolderFile.Opening = .create
  ) throws(SystemError) {
    descriptor = try FolderFile.open(path, opening)
  }

  /// Opens a folder that the user has named, which may be reached through symbolic links.
  package init(folder path: String) throws(SystemError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError() }
  }

  /// Takes over an open file or folder, and closes it at the end.
  package init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // A child process holds a copy of the descriptor until it executes its program. Closing this
    // descriptor alone would leave the locks with the copy.
    release(.file)
    release(.bytes(from: 0, count: 0))
    close(descriptor)
  }

  /// Opens a file and takes a lock without waiting.
  ///
  /// - Returns: `nil` if another open file has the lock.
  package static func take(
    _ region: Region, of path: String, _ opening: FolderFile.Opening = .create
  ) throws(SystemError) -> FileLock? {
    let lock = try FileLock(path, opening)
    return try lock.take(region) ? lock : nil
  }

  /// Takes a lock without waiting.
  ///
  /// - Returns: False if another open file has it.
  package func take(
    _ region: Region = .file, _ mode: Mode = .exclusive
  ) throws(SystemError) -> Bool {
    while true {
      let result =
        switch region {
        case .file: flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB)
        case .bytes(let start, let count):
          Self.setRange(descriptor, mode == .shared ? F_RDLCK : F_WRLCK, start, count)
        }
      if result == 0 { return true }
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES: return false
      default: throw SystemError()
      }
    }
  }

  /// Waits for a lock. It polls, because a blocking lock call has no deadline.
  ///
  /// - Parameter intervalMax: The longest interval, in microseconds.
  /// - Parameter isCancelled: Called before each pause; true ends the wait.
  /// - Returns: False if another open file still has it at the deadline, or the wait was cancelled.
  package func take(
    _ region: Region = .file, _ mode: Mode = .exclusive, until deadline: ContinuousClock.Instant,
    intervalMax: UInt32 = 5_000, isCancelled: () -> Bool = { false }
  ) throws(SystemError) -> Bool {
    var microseconds: UInt32 = 200
    while try !take(region, mode) {
      guard ContinuousClock.now < deadline, !isCancelled() else { return false }
      usleep(microseconds)
      microseconds = min(microseconds * 2, intervalMax)
    }
    return true
  }

  /// Releases a lock; does nothing if it is not held.
  package func release(_ region: Region = .file) {
    switch region {
    case .file: flock(descriptor, LOCK_UN)
    case .bytes(let start, let count): _ = Self.setRange(descriptor, F_UNLCK, start, count)
    }
  }

  /// Returns true while another open file has an exclusive lock, or, for bytes, any lock.
  ///
  /// For bytes this takes no lock, so that it cannot make another process fail. For a whole file it
  /// takes a shared lock for a moment, and releases a lock that was taken through this object.
  package func isHeld(_ region: Region = .file) throws(SystemError) -> Bool {
    switch region {
    case .file:
      let isFree = try take(.file, .shared)
      if isFree { release(.file) }
      return !isFree
    case .bytes(let start, let count):
      return try holder(ofBytesFrom: start, count: count) != nil
    }
  }

  /// Returns the process that prevents an exclusive lock on bytes. Takes no lock.
  ///
  /// - Returns: `nil` if there is none; 0 or less if the system does not report its number, as for
  ///   locks of this kind and for processes in another namespace.
  package func holder(ofBytesFrom start: Int, count: Int) throws(SystemError) -> Int32? {
    var range = Self.range(F_WRLCK, start, count)
    guard fcntl(descriptor, Self.getLockOfOpenFile, &range) == 0 else { throw SystemError() }
    return Int32(range.l_type) == F_UNLCK ? nil : range.l_pid
  }

  /// Returns true if the path leads to the file or folder that is open here.
  func isNamed(_ path: String) -> Bool {
    var (held, named) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && stat(path, &named) == 0
      && held.st_dev == named.st_dev && held.st_ino == named.st_ino
  }

  // MARK: Text

  /// Returns the first bytes of the file, at most `bytesMax`.
  package func text(bytesMax: Int = 512) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: bytesMax)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return Array(buffer.prefix(max(0, count)))
  }

  /// Replaces the text of the file. The text is used in messages only, so that a failure, for
  /// example on a full disk, is ignored.
  package func setText(_ text: [UInt8]) {
    if pwrite(descriptor, text, text.count, 0) == text.count { ftruncate(descriptor, text.count) }
  }

  // MARK: Ranges of bytes

  /// The constants of <fcntl.h> that Swift's module of glibc does not export.
  private static let getLockOfOpenFile: Int32 = 36
  private static let setLockOfOpenFile: Int32 = 37

  private static func setRange(
    _ descriptor: Int32, _ type: Int32, _ start: Int, _ count: Int
  ) -> Int32 {
    var range = range(type, start, count)
    return fcntl(descriptor, setLockOfOpenFile, &range)
  }

  private static func range(_ type: Int32, _ start: Int, _ count: Int) -> Glibc.flock {
    var range = Glibc.flock()
    range.l_type = Int16(type)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = start
    range.l_len = count
    return range
  }
}

/// A failure of a system call: an `errno` without a message for users. The caller converts it into
/// an error of its own.
package struct SystemError: Error, Hashable, Sendable {
  package let number: Int32
  /// The reason of a refusal that is not the system's; `nil` for the text of the system.
  private let reason: String?

  /// Creates the error of a failed system call.
  ///
  /// - Parameter number: An `errno`; by default that of the current thread.
  package init(_ number: Int32 = errno) {
    self.number = number
    reason = nil
  }

  private init(number: Int32, reason: String) {
    self.number = number
    self.reason = reason
  }

  /// Returns the error for something that the system allows and this program does not: `EPERM`.
  package static func refusal(_ reason: String) -> SystemError {
    SystemError(number: EPERM, reason: reason)
  }

  /// The text of the system, such as "No such file or directory", or the reason of a refusal.
  package var text: String {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    reason ?? String(cString: strerror(number))
  }

  package var isPermissionDenied: Bool { number == EACCES || number == EPERM }
}
