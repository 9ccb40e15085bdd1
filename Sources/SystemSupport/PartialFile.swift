import Glibc

/// A file that gets its name when it is complete: whatever ends the process before, no part of a
/// file has that name.
///
/// Until then it is `PATH.partial`, with mode 0600, and a lock shows that it is in use: after a
/// kill, the next one for the same path takes it over.
package final class PartialFile: Sendable {
  /// The reason why there is no such file, and its path.
  package struct Failure: Error {
    package enum Reason: Sendable {
      /// The path is taken.
      case exists
      /// The path is that of something other than a regular file.
      case notAFile
      /// Another process writes a file for the same path.
      case busy
      case system(SystemError)
    }

    package let reason: Reason
    package let path: String
  }

  private let path: String
  private let replaces: Bool
  private let lock: FileLock
  /// True until the temporary file has its name or is removed.
  private let isPartial = Locked(true)

  /// The path of the temporary file.
  package let partialPath: String

  /// Creates the temporary file, empty.
  ///
  /// - Parameter replaces: True if `finish()` may replace a file.
  package init(_ path: String, replaces: Bool) throws(Failure) {
    self.path = path
    self.replaces = replaces
    partialPath = path + ".partial"
    try Self.checkName(path, replaces)
    lock = try Self.openLocked(partialPath)
    guard ftruncate(lock.descriptor, 0) == 0 else {
      throw Failure(reason: .system(SystemError()), path: partialPath)
    }
  }

  deinit { discard() }

  /// Removes the temporary file, unless it has its name. The object does the same when it is
  /// released, which the end of the process may precede.
  package func discard() {
    isPartial.withLock { isPartial in
      // A file that cannot be removed is taken over by the next one.
      if isPartial { unlink(partialPath) }
      isPartial = false
    }
  }

  /// The open temporary file. The object closes it.
  package var descriptor: Int32 { lock.descriptor }

  /// Flushes the file and gives it its name.
  ///
  /// - Throws: `exists` also for a file that was created since `init`.
  package func finish() throws(Failure) {
    guard fsync(descriptor) == 0 else {
      throw Failure(reason: .system(SystemError()), path: partialPath)
    }
    try Self.checkName(path, replaces)
    guard rename(partialPath, path) == 0 else {
      throw Failure(reason: .system(SystemError()), path: path)
    }
    isPartial.withLock { $0 = false }
    do throws(SystemError) {
      try FolderFile.flushFolder(FolderFile.parent(of: path))
    } catch {
      throw Failure(reason: .system(error), path: path)
    }
  }

  /// - Throws: `exists` or `notAFile` if the path is taken by something that may not be replaced.
  private static func checkName(_ path: String, _ replaces: Bool) throws(Failure) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw Failure(reason: .system(SystemError()), path: path)
    }
    if !replaces { throw Failure(reason: .exists, path: path) }
    if status.st_mode & S_IFMT != S_IFREG { throw Failure(reason: .notAFile, path: path) }
  }

  private static func openLocked(_ path: String) throws(Failure) -> FileLock {
    do throws(SystemError) {
      if let lock = try openFree(path) { return lock }
    } catch {
      throw Failure(reason: .system(error), path: path)
    }
    throw Failure(reason: .busy, path: path)
  }

  /// - Returns: `nil` if another process holds the file.
  private static func openFree(_ path: String) throws(SystemError) -> FileLock? {
    while true {
      // O_NONBLOCK so that a pipe of this name does not make the call wait.
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      let descriptor = open(path, flags, 0o600)
      guard descriptor >= 0 else { throw SystemError() }
      let lock = FileLock(descriptor: descriptor)
      guard try lock.take() else { return nil }
      // A process that has finished since has renamed the file that was opened here.
      if lock.isNamed(path) { return lock }
    }
  }
}
