import EntityStore
import Foundation
package import SystemSupport

/// A folder in which a data file is prepared, on the same device as its target.
///
/// It has the same name each time, so that the next run finds and removes the files of a killed
/// run. The store is one level below, because opening it locks its own folder, too.
package struct StagingFolder {
  private let folder: ScratchFolder

  /// The folder for the data file.
  package var store: String { folder.path + "/store" }

  /// Creates the missing folders of a path, mode 0700.
  ///
  /// - Throws: `diskFull`, `readOnly`, `notPermitted`, `notAFolder`, `inputOutput`, `storage`.
  package static func makeFolders(_ path: String) throws {
    guard let failure = FolderFile.makeFolders(path) else { return }
    throw refusal("a folder for the copy cannot be created", failure.path, failure.error)
  }

  /// Creates the folder with an empty folder for the data file, mode 0700, or takes over that of a
  /// killed run.
  ///
  /// - Parameter owner: The user that both belong to.
  /// - Throws: `busy` if another process uses it; `occupied` if it contains something that no run
  ///   puts there; the errors of `makeFolders`.
  package static func claim(
    _ path: String, ownedBy owner: FolderFile.FolderOwner
  ) throws -> StagingFolder {
    let claimed: ScratchFolder?
    do {
      claimed = try ScratchFolder.claim(path, ownedBy: owner)
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
    do {
      try FolderFile.flushFolder(target + "/..")
    } catch {
      throw Self.refusal("the folder of the backup cannot be flushed", target, error)
    }
  }

  /// Removes the remaining files and the folder. Files that cannot be removed are left for the next
  /// run.
  package func remove() {
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
    do {
      try FolderFile.makeFolder(store)
    } catch {
      throw Self.refusal("a folder for the copy cannot be created", store, error)
    }
  }

  private func removeStore() {
    // A link in the place of the folder is removed as a link: what it leads to is not ours.
    if unlink(store) == 0 { return }
    let descriptor = open(store, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    for name in ["data.mdb", "lock.mdb"] { unlinkat(descriptor, name, 0) }
    close(descriptor)
    rmdir(store)
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

/// Returns the path or, if something is there already, the path with a number at its end.
package func unusedPath(_ path: String) -> String {
  var candidate = path
  var number = 1
  while FileManager.default.fileExists(atPath: candidate) {
    number += 1
    candidate = "\(path)-\(number)"
  }
  return candidate
}
