import Glibc

/// A file of a legacy database, open for reading only. Its bytes do not change, nor, if the system
/// allows it, the time of its last access.
struct SourceFile: ~Copyable {
  let path: String
  private let descriptor: Int32

  /// - Returns: Nil if there is no such file.
  /// - Throws: ``ImportError`` `unreadable`, also for anything but a regular file.
  static func open(_ path: String) throws(ImportError) -> SourceFile? {
    // Glibc's module lacks this one; the system refuses it for the file of another user.
    let keepsAccessTime: Int32 = 0o1_000_000
    // A fifo must not make us wait, and what the path leads to has been resolved before.
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    var descriptor = Glibc.open(path, flags | keepsAccessTime)
    if descriptor < 0, errno == EPERM { descriptor = Glibc.open(path, flags) }
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw unreadable(path, errno)
    }
    let file = SourceFile(path: path, descriptor: descriptor)
    guard try file.status().st_mode & S_IFMT == S_IFREG else {
      throw ImportError(.unreadable, "this is no regular file", [("path", path)])
    }
    return file
  }

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Returns up to `count` bytes from `offset` on; fewer at the end of the file.
  func bytes(at offset: Int64, count: Int) throws(ImportError) -> [UInt8] {
    guard let bytes = readBytes(of: descriptor, at: offset, count: count) else {
      throw Self.unreadable(path, errno)
    }
    return bytes
  }

  func byteCount() throws(ImportError) -> Int64 { Int64(try status().st_size) }

  func stamp() throws(ImportError) -> SourceStamp { SourceStamp(try status()) }

  private func status() throws(ImportError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, errno) }
    return status
  }

  private static func unreadable(_ path: String, _ code: Int32) -> ImportError {
    ImportError(
      .unreadable, "the file cannot be read",
      [("path", path), ("system", String(cString: strerror(code)))])
  }
}

/// Returns up to `count` bytes of an open file, fewer at its end; `nil` for an error, which `errno`
/// has.
func readBytes(of descriptor: Int32, at offset: Int64, count: Int) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  var filled = 0
  while filled < count {
    // SAFETY: the place to read to lies within the array, and so does its end.
    let got = bytes.withUnsafeMutableBytes {
      pread(descriptor, $0.baseAddress?.advanced(by: filled), count - filled, Int(offset) + filled)
    }
    if got < 0, errno == EINTR { continue }
    guard got >= 0 else { return nil }
    if got == 0 { break }
    filled += got
  }
  bytes.removeLast(count - filled)
  return bytes
}

/// The properties of a file that distinguish its states without reading it.
struct SourceStamp: Hashable {
  let inode: UInt64
  let bytes: Int64
  let modifiedSeconds: Int
  let modifiedNanoseconds: Int

  fileprivate init(_ status: stat) {
    inode = UInt64(status.st_ino)
    bytes = Int64(status.st_size)
    modifiedSeconds = status.st_mtim.tv_sec
    modifiedNanoseconds = status.st_mtim.tv_nsec
  }
}
