import EntityStore
import Foundation
import LMDB

/// A folder in which a data file is made ready, on the device of the place that it goes to.
///
/// It has the same name each time, so that what a killed run has left is found and removed by the
/// next one. One run at a time has it: a kernel lock (`flock`) on the folder says so, and ends with
/// the process. The store stands one level below, since opening that locks its folder, too.
struct StagingFolder {
  private let path: String
  private let descriptor: Int32

  /// The folder for the data file; it is not there yet.
  var store: String { path + "/store" }

  /// Makes the folders that a place is in, mode 0700, as far as they are missing.
  ///
  /// - Parameter place: an absolute path.
  /// - Throws: `LMDBError` with `.diskFull`, `.permission`, `.notAFolder`, `.inputOutput`.
  static func makeFolders(above place: String) throws {
    var path = ""
    for name in place.split(separator: "/").dropLast() {
      path += "/" + name
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw refusal("a folder for the copy cannot be made", path, errno)
      }
    }
  }

  /// Makes the folder, mode 0700, or takes over what a killed run has left.
  ///
  /// - Throws: `LMDBError` with `.busy` if another process works in it; `StoreError` with `occupied`
  ///   if something is in it that no run puts there.
  static func claim(_ path: String) throws -> StagingFolder {
    while true {
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw refusal("a folder for the copy cannot be made", path, errno)
      }
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else {
        if errno == ENOENT { continue }  // its owner has just removed it
        throw refusal("a folder for the copy cannot be opened", path, errno)
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let number = errno
        close(descriptor)
        if number == EWOULDBLOCK { throw busy(path) }
        throw refusal("a folder for the copy cannot be locked", path, number)
      }
      // Its owner may have removed it after it was opened here.
      let staging = StagingFolder(path: path, descriptor: descriptor)
      guard staging.isInPlace else {
        close(descriptor)
        continue
      }
      do {
        try staging.makeEmpty()
      } catch {
        staging.leave()
        throw error
      }
      return staging
    }
  }

  /// Moves the folder with the data file, and nothing beside it, to its place.
  ///
  /// - Parameter target: must not exist, or be an empty folder.
  func moveStore(to target: String) throws {
    // Checking has opened the copy.
    unlink(store + "/lock.mdb")
    guard rename(store, target) == 0 else {
      throw Self.refusal("the backup cannot be put into its place", target, errno)
    }
    flush(parentOf: target)
  }

  /// Removes what is left, and the folder. A failure leaves rubbish that the next run removes.
  func remove() {
    removeStore()
    rmdir(path)
    leave()
  }

  private func leave() {
    // A process that is being started has a copy of the descriptor until it executes its program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private var isInPlace: Bool {
    var (held, named) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && stat(path, &named) == 0
      && held.st_dev == named.st_dev && held.st_ino == named.st_ino
  }

  private func makeEmpty() throws {
    removeStore()
    guard try FileManager.default.contentsOfDirectory(atPath: path).isEmpty else {
      throw StoreError(
        .occupied, "the folder for the copy holds other files", [("path", path)],
        advice: "move them away")
    }
  }

  private func removeStore() {
    for name in ["data.mdb", "lock.mdb"] { unlink(store + "/" + name) }
    rmdir(store)
  }

  private func flush(parentOf target: String) {
    let parent = open(target + "/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { return }
    fsync(parent)
    close(parent)
  }

  private static func busy(_ path: String) -> LMDBError {
    LMDBError(
      .busy, "another process makes a copy for the same place", context: [("path", path)],
      advice: "try again when it is done")
  }

  private static func refusal(
    _ summary: StaticString, _ path: String, _ number: Int32
  ) -> LMDBError {
    let code: LMDBError.Code =
      switch number {
      case ENOSPC, EDQUOT: .diskFull
      case EACCES, EPERM, EROFS: .permission
      case ENOTDIR, ENOENT, ELOOP: .notAFolder
      case EIO: .inputOutput
      default: .other
      }
    return LMDBError(
      code, summary, context: [("path", path), ("cause", String(cString: strerror(number)))],
      advice: "see to it that files can be made there")
  }
}
