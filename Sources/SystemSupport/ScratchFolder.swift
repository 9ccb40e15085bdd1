import Foundation
import Glibc

/// A folder for the files of one run. A file lock, which ends with the process, shows that it is in
/// use, so that a later run can remove the folder of a killed one.
package final class ScratchFolder: Sendable {
  package let path: String
  private let lock: FileLock
  private let isUnnamed: Bool

  private init(path: String, lock: FileLock, isUnnamed: Bool) {
    self.path = path
    self.lock = lock
    self.isUnnamed = isUnnamed
  }

  deinit { if isUnnamed { Self.remove(path) } }

  package struct Failure: Error {
    package let path: String
    package let error: SystemError
  }

  // MARK: A folder with a name of its own

  /// Creates a folder, mode 0700, whose name begins with `prefix`. The folder is removed with its
  /// contents when the object is released. Also removes the folders that killed runs have left.
  ///
  /// - Parameter parent: The folder in which it is created. The default is `$TMPDIR`, or `/var/tmp`
  ///   if that is not set: copies may be large, and `/tmp` is in memory on many machines.
  /// - Throws: ``Failure`` with the parent.
  package static func create(
    prefix: String, in parent: String?
  ) throws(Failure) -> ScratchFolder {
    let parent = parent ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
    removeLeftovers(prefix, in: parent)
    while true {
      var template = Array((parent + "/" + prefix + "XXXXXX").utf8CString)
      // SAFETY: mkdtemp writes over the six last characters of a string that ends with zero.
      let path = template.withUnsafeMutableBufferPointer { buffer in
        buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
      }
      guard let path else { throw Failure(path: parent, error: SystemError()) }
      do throws(SystemError) {
        let lock = try FileLock(path + "/" + lockName, .createNew)
        if try lock.take(), lock.isNamed(path + "/" + lockName) {
          return ScratchFolder(path: path, lock: lock, isUnnamed: true)
        }
        // Another run has taken the folder for a leftover before the lock was held, and removes it.
      } catch {
        remove(path)
        throw Failure(path: parent, error: error)
      }
    }
  }

  private static let lockName = "lock"
  private static let unlockedSecondsMax = 86_400

  private static func remove(_ folder: String) {
    // A folder that cannot be removed now is left for the next run.
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Removes the folders whose lock nobody holds. A folder without a lock may be one that is just
  /// being created, and is removed after a day.
  private static func removeLeftovers(_ prefix: String, in parent: String) {
    // If the parent cannot be listed, old folders stay.
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent) else { return }
    for name in names where name.hasPrefix(prefix) {
      let folder = parent + "/" + name
      var status = stat()
      guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
        status.st_uid == geteuid()
      else { continue }
      do throws(SystemError) {
        let lock = try FileLock.take(.file, of: folder + "/" + lockName, .existing)
        if let lock {
          remove(folder)
          lock.release()
        }
      } catch {
        if error.number == ENOENT, time(nil) - status.st_mtim.tv_sec > unlockedSecondsMax {
          remove(folder)
        }
      }
    }
  }

  // MARK: A folder at a given path

  /// Creates the folder, mode 0700, or takes over that of a killed run, with its contents. The
  /// caller removes it, and then calls ``release()``.
  ///
  /// - Returns: `nil` if another run holds it.
  package static func claim(
    _ path: String, ownedBy owner: FolderFile.FolderOwner
  ) throws(Failure) -> ScratchFolder? {
    do throws(SystemError) {
      while true {
        try FolderFile.makeFolder(path, ownedBy: owner)
        do throws(SystemError) {
          let lock = FileLock(descriptor: try FolderFile.openFolder(path, ownedBy: owner))
          guard try lock.take() else { return nil }
          if lock.isNamed(path) {
            return ScratchFolder(path: path, lock: lock, isUnnamed: false)
          }
          // The owner has removed the file after it was opened here.
        } catch {
          // The owner has removed the file before it was opened here.
          guard error.number == ENOENT else { throw error }
        }
      }
    } catch {
      throw Failure(path: path, error: error)
    }
  }

  /// Releases the folder for other runs.
  package func release() { lock.release() }
}
