import Glibc

/// `lock.mdb`, held so that no process can have the store open.
///
/// Whoever has an LMDB environment open holds a shared lock on byte 0 of this file. An exclusive
/// one can be had only when nobody does.
///
/// It must never be opened by a process that has the environment open: closing it would drop the
/// locks of that environment, which belong to the process. So this comes after
/// `OpenEnvironments.whileNotOpen`.
struct LockFile {
  private static let firstByte = FileRegionLock(count: 1)

  private let descriptor: Int32
  private let path: String

  /// - Throws: `.busy`, with the process if the system tells it.
  static func hold(in folder: String) throws(LMDBError) -> LockFile {
    let path = folder + "/lock.mdb"
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw .system(errno, "the lock file cannot be opened", context: [("path", path)])
    }
    guard firstByte.set(.exclusive, of: descriptor) else {
      let number = errno
      defer { close(descriptor) }
      guard number == EAGAIN || number == EACCES else {
        throw .system(number, "the lock file cannot be locked", context: [("path", path)])
      }
      throw busy(folder, holder: holder(descriptor))
    }
    return LockFile(descriptor: descriptor, path: path)
  }

  /// Takes away what was written for the data file that is about to go: the table of readers and
  /// the number of the last commit.
  ///
  /// The next process that opens the store is the first one and makes them anew. One that waits for
  /// the lock just now, which behind the gate only a foreign program such as `mdb_stat` can, would
  /// not: it takes the file as it is. From an empty one it ends with an error (the map of no bytes
  /// is refused), where the old table would have it read the wrong meta page.
  func empty() throws(LMDBError) {
    guard ftruncate(descriptor, 0) == 0 else {
      throw .system(errno, "the lock file cannot be emptied", context: [("path", path)])
    }
  }

  func release() {
    Self.firstByte.set(.none, of: descriptor)
    close(descriptor)
  }

  /// One of the processes that hold the lock; nil for one in another namespace.
  private static func holder(_ descriptor: Int32) -> Int32? {
    guard let process = firstByte.holder(of: descriptor), process > 0 else { return nil }
    return process
  }

  private static func busy(_ folder: String, holder: Int32?) -> LMDBError {
    var context = [("path", folder)]
    if let holder {
      context.append(("pid", String(holder)))
      if let command = command(of: holder) { context.append(("command", command)) }
    }
    return LMDBError(
      .busy, "another process has the store open", context: context,
      advice: "end that process, or wait for it, and try again")
  }

  /// The command line of a process, printable characters only.
  private static func command(of pid: Int32) -> String? {
    let descriptor = Glibc.open("/proc/\(pid)/cmdline", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    let words = buffer.prefix(count).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    let line = words.joined(separator: " ").unicodeScalars
    return String(String.UnicodeScalarView(line.filter { $0.value >= 0x20 && $0.value != 0x7f }))
  }
}
