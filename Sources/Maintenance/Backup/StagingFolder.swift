import EntityStore
import Foundation
import SystemSupport

/// A folder in which a data file is prepared, on the same device as its target.
///
/// It has the same name each time, so that the next run finds and removes the files of a killed
/// run. The store is one level below, because opening it locks its own folder, too.
struct StagingFolder {
  private let folder: ScratchFolder

  /// The folder for the data file. It is not created here.
  var store: String { folder.path + "/store" }

  /// Creates the missing parent folders of a path, mode 0700.
  ///
  /// - Parameter place: An absolute path.
  /// - Throws: `diskFull`, `readOnly`, `notPermitted`, `notAFolder`, `inputOutput`, `storage`.
  static func makeFolders(above place: String) throws {
    var path = ""
    for name in place.split(separator: "/").dropLast() {
      path += "/" + name
      if mkdir(path, 0o700) == 0 {
        flush(parentOf: path)
      } else if errno != EEXIST {
        throw refusal("a folder for the copy cannot be created", path, SystemError())
      }
    }
  }

  /// Creates the folder, mode 0700, or takes over that of a killed run.
  ///
  /// - Throws: `busy` if another process uses it; `occupied` if it contains something that no run
  ///   puts there; the errors of `makeFolders`.
  static func claim(_ path: String) throws -> StagingFolder {
    let claimed: ScratchFolder?
    do {
      claimed = try ScratchFolder.claim(path)
    } catch {
      throw refusal("a folder for the copy cannot be created", path, error.error)
    }
    guard let folder = claimed else {
      throw StoreError(
        .busy, "another process makes a copy for the same place", [("path", path)],
        advice: "try again when it is done")
    }
    let staging = StagingFolder(folder: folder)
    try staging.makeEmpty()
    return staging
  }

  /// Moves the folder with the data file, and no other file, to its target.
  ///
  /// - Parameter target: A path that does not exist, or an empty folder.
  func moveStore(to target: String) throws {
    // Opening the copy for the check has created this file.
    unlink(store + "/lock.mdb")
    guard rename(store, target) == 0 else {
      throw Self.refusal("the backup cannot be put into its place", target, SystemError())
    }
    Self.flush(parentOf: target)
  }

  /// Removes the remaining files and the folder. Files that cannot be removed are left for the next
  /// run.
  func remove() {
    removeStore()
    rmdir(folder.path)
    folder.release()
  }

  private func makeEmpty() throws {
    removeStore()
    guard try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty else {
      throw StoreError(
        .occupied, "the folder for the copy holds other files", [("path", folder.path)],
        advice: "move them away")
    }
  }

  private func removeStore() {
    for name in ["data.mdb", "lock.mdb"] { unlink(store + "/" + name) }
    rmdir(store)
  }

  private static func flush(parentOf target: String) {
    let parent = open(target + "/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { return }
    fsync(parent)
    close(parent)
  }

  private static func refusal(
    _ summary: StaticString, _ path: String, _ cause: SystemError
  ) -> StoreError {
    let code: StoreError.Code =
      switch cause.number {
      case ENOSPC, EDQUOT: .diskFull
      case EACCES, EPERM, EROFS: .refusal(cause)
      case ENOTDIR, ENOENT, ELOOP: .notAFolder
      case EIO: .inputOutput
      default: .storage
      }
    return StoreError(
      code, summary, [("path", path), ("cause", cause.text)],
      advice: "make sure that files can be created there")
  }
}
