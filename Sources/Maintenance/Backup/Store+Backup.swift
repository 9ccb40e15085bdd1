public import EntityStore
public import Foundation
import LMDB

/// A backup that was made.
public struct BackupReport: Codable, Hashable, Sendable {
  /// The folder.
  public let path: String
  public let bytes: Int
  public let storeID: UUID
  /// The number of the last transaction that is in the backup.
  public let transaction: Int64
  /// The place in the history behind it.
  public let token: HistoryToken
}

extension Store {
  /// Makes a copy of the last commit in a folder of its own, while readers and writers go on.
  ///
  /// The copy is made in the folder `PATH.partial` beside it, flushed, read back (pages and
  /// catalog) and only then moved to its path: what stands there is whole, whatever is killed and
  /// whenever. The next backup to the same path removes what a killed one has left. It is a store
  /// like any other, of mode 0600 in a folder of mode 0700, with the same id and history. Blocks
  /// the calling thread; must not be called within a write.
  ///
  /// - Parameter folder: It does not exist, or is empty. Parents that are missing are made.
  /// - Parameter compacting: Leaves free pages out: a smaller copy for more processor time.
  /// - Parameter progress: Is called on the calling thread, some ten times a second. What it throws
  ///   ends the backup, and no trace of it is left.
  /// - Throws: What `progress` throws; `occupied` if something is in the folder; `damaged` if the
  ///   store is; `storage` with `diskFull`, which is seen before anything is copied, with `busy` if
  ///   another backup to the same path runs, with `permission`, `inputOutput`; `closed`.
  /// - Complexity: O(size of the store).
  @discardableResult
  public func backUp(
    to folder: String, compacting: Bool = false,
    progress: (CopyProgress) throws -> Void = { _ in }
  ) throws -> BackupReport {
    try commits.lifetime.checkOpen()
    return try translatingStorageErrors {
      let target = URL(fileURLWithPath: folder).standardizedFileURL
      try Store.requireEmpty(target.path)
      try StagingFolder.makeFolders(above: target.path)
      let bytes = try bytesToCopy(compacting: compacting)
      try DataFile.requireRoom(for: bytes, in: target.deletingLastPathComponent().path)
      let staging = try StagingFolder.claim(target.path + ".partial")
      defer { staging.remove() }
      try environment.copy(toFolder: staging.store, compacting: compacting) {
        try progress(.copying(bytes: $0, of: bytes))
      }
      try progress(.checking(bytes: bytes))
      let copy = try CheckedCopy(
        folder: staging.store, named: self.folder, deeply: false, options: options)
      try progress(.checking(bytes: copy.bytes))
      try staging.moveStore(to: target.path)
      return BackupReport(
        path: target.path, bytes: copy.bytes, storeID: copy.storeID,
        transaction: copy.token.sequence, token: copy.token)
    }
  }

  private static func requireEmpty(_ path: String) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
    guard isFolder.boolValue, try FileManager.default.contentsOfDirectory(atPath: path).isEmpty
    else {
      throw StoreError(
        .occupied, "a backup needs a folder of its own, and there are files already",
        [("path", path)], advice: "name one that does not exist yet")
    }
  }

  /// How large the copy will be. Of a store that may be damaged only the meta page is looked at
  /// through the map. Compacting follows all pages through it, where damage would end the process:
  /// so they are checked first.
  private func bytesToCopy(compacting: Bool) throws -> Int {
    guard compacting else {
      let information = try environment.information()
      return information.pagesUsed * information.pageSize
    }
    let report = try PageFile.verify(folder: folder, snapshotOf: environment)
    if let first = report.problems.first {
      throw StoreError.damaged(folder, problems: report.problemsTotal, first: first.description)
    }
    return (report.pagesTotal - report.pagesFree) * report.pageSize
  }
}

/// How far the copy of a store is.
public enum CopyProgress: Hashable, Sendable {
  /// Of so many bytes, which may turn out to be fewer or more: others may write meanwhile.
  case copying(bytes: Int, of: Int)
  /// A copy of so many bytes is read back.
  case checking(bytes: Int)
}
