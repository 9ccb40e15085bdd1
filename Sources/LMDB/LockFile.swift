import Glibc
import SystemSupport

/// `lock.mdb`, locked so that no process can have the store open.
///
/// Each process that has an LMDB environment open holds a shared lock on byte 0 of this file. An
/// exclusive lock is granted only when no process does.
///
/// A process that has the environment open must never open this file: closing it would drop the
/// locks of that environment, which belong to the process. So this is used only within
/// `OpenEnvironments.whileNotOpen`.
struct LockFile {
  private let file: FileLock
  private let path: String

  /// - Throws: `.busy`, with the process that holds the lock, if the system reports it.
  static func hold(in folder: String) throws(StorageError) -> LockFile {
    let path = StoreFiles.lockFile(folder)
    let process: Int32?
    do throws(SystemError) {
      let file = try FileLock(path)
      if try file.take(.bytes(from: 0, count: 1)) { return LockFile(file: file, path: path) }
      process = try file.holder(ofBytesFrom: 0, count: 1)
    } catch {
      throw .system(error, "the lock file cannot be locked", context: [("path", path)])
    }
    // The number is not positive for a process in another namespace.
    throw busy(folder, process.flatMap { $0 > 0 ? LockHolder(process: $0) : nil })
  }

  /// Removes the content that belongs to the data file that is being replaced: the table of readers
  /// and the number of the last commit.
  ///
  /// The next process that opens the store is the first one and writes them again. A process that
  /// is already waiting for the lock would not: it takes the file as it is. While the gate is shut,
  /// this can only be another program, such as `mdb_stat`. With an empty file it ends with an error
  /// (the map of no bytes is refused); with the old table it would read the wrong meta page.
  func empty() throws(StorageError) {
    guard ftruncate(file.descriptor, 0) == 0 else {
      throw .system(errno, "the lock file cannot be emptied", context: [("path", path)])
    }
  }

  func release() { file.release(.bytes(from: 0, count: 1)) }

  private static func busy(_ folder: String, _ holder: LockHolder?) -> StorageError {
    var context = [("path", folder)]
    if let holder {
      context.append(("pid", holder.pid))
      if !holder.command.isEmpty { context.append(("command", holder.command)) }
    }
    return StorageError(
      .busy, "another process has the store open", context: context,
      advice: "end that process, or wait for it, and try again")
  }
}
