import Glibc
import SystemSupport

/// `lock.mdb`, held so that no process can have the store open.
///
/// Each process that has an LMDB environment open holds a shared lock on byte 0 of this file. An
/// exclusive one can be had only when no process does.
///
/// It must never be opened by a process that has the environment open: closing it would drop the
/// locks of that environment, which belong to the process. So this comes after
/// `OpenEnvironments.whileNotOpen`.
struct LockFile {
  private let file: FileLock
  private let path: String

  /// - Throws: `.busy`, with the process if the system tells it.
  static func hold(in folder: String) throws(StorageError) -> LockFile {
    let path = folder + "/lock.mdb"
    let process: Int32?
    do throws(SystemError) {
      let file = try FileLock(path)
      if try file.take(.bytes(from: 0, count: 1)) { return LockFile(file: file, path: path) }
      process = try file.holder(ofBytesFrom: 0, count: 1)
    } catch {
      throw .system(error.number, "the lock file cannot be locked", context: [("path", path)])
    }
    // Not positive for a process in another namespace.
    throw busy(folder, process.flatMap { $0 > 0 ? LockHolder(process: $0) : nil })
  }

  /// Removes what was written for the data file that is about to go: the table of readers and the
  /// number of the last commit.
  ///
  /// The next process that opens the store is the first one and writes them again. One that waits
  /// for the lock at this moment, which behind the gate only a foreign program such as `mdb_stat`
  /// can, would not: it takes the file as it is. From an empty one it ends with an error (the map
  /// of no bytes is refused), where the old table would have it read the wrong meta page.
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
