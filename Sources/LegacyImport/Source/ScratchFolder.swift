import Foundation
import Glibc

/// A private folder that is removed with its owner. A folder that a killed process has left is
/// removed by a later one, after a day and if no process holds it.
final class ScratchFolder: Sendable {
  let path: String
  private let lock: Int32

  /// - Parameter parent: `$TMPDIR` without it, and `/var/tmp` without that: copies may be large,
  ///   and `/tmp` is memory on many machines.
  init(in parent: String?) throws(ImportError) {
    let parent = parent ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
    Self.removeLeftovers(in: parent)
    var template = Array((parent + "/" + Self.prefix + "XXXXXX").utf8CString)
    // SAFETY: mkdtemp writes over the six last characters of a string that ends with zero.
    let made = template.withUnsafeMutableBufferPointer {
      mkdtemp($0.baseAddress!).map { String(cString: $0) }
    }
    guard let made else { throw Self.failure(parent) }
    path = made
    lock = open(made + "/" + Self.lockName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let error = Self.failure(parent)
      if lock >= 0 { close(lock) }
      Self.remove(made)
      throw error
    }
  }

  deinit {
    Self.remove(path)
    close(lock)
  }

  private static let prefix = "mooring-import-"
  private static let lockName = "lock"
  private static let leftoverSecondsMin = 86_400

  private static func failure(_ parent: String) -> ImportError {
    ImportError(
      errno == ENOSPC ? .noSpace : .unreadable, "no folder can be made for the copy of the file",
      [("folder", parent), ("system", String(cString: strerror(errno)))],
      advice: "set TMPDIR to a folder that you may write in")
  }

  private static func remove(_ folder: String) {
    // What cannot be removed now is a leftover for the next one.
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func removeLeftovers(in parent: String) {
    // Of a folder that cannot be listed they stay.
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent) else { return }
    for name in names where name.hasPrefix(prefix) {
      let folder = parent + "/" + name
      var status = stat()
      guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
        status.st_uid == geteuid(), time(nil) - status.st_mtim.tv_sec > leftoverSecondsMin
      else { continue }
      let lock = open(folder + "/" + lockName, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      if lock >= 0 {
        defer { close(lock) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { continue }
        remove(folder)
      } else if errno == ENOENT {
        remove(folder)
      }
    }
  }
}
