public import EntityStore
public import Foundation
import SystemSupport

/// The result of a backup.
public struct BackupReport: Codable, Hashable, Sendable {
  /// The path of the backup's folder.
  public let path: String
  public let bytes: Int
  public let storeID: UUID
  /// The number of the last transaction that is in the backup.
  public let transaction: Int64
  /// The position in the change history after that transaction.
  public let token: HistoryToken
}

extension Store {
  /// Copies the last commit into a folder of its own, while readers and writers continue.
  ///
  /// The copy is written to the folder `PATH.partial` beside it, flushed, read back (pages and
  /// catalog) and only then moved to its path. The path therefore never holds an incomplete backup,
  /// even if the process is killed. The next backup to the same path removes the files of a killed
  /// one. A backup is a store like any other, of mode 0600 in a folder of mode 0700, with the same
  /// id and history. Blocks the calling thread; must not be called within a write.
  ///
  /// - Parameter folder: A path that does not exist, or an empty folder. Missing parents are
  ///   created.
  /// - Parameter compacting: True to leave out free pages: a smaller copy for more processor time.
  /// - Parameter progress: Called on the calling thread, about ten times a second. Its error ends
  ///   the backup, whose files are then removed.
  /// - Throws: The errors of `progress`; `occupied` if the folder is not empty; `damaged` if the
  ///   store is; `diskFull`, which is checked before anything is copied; `busy` if another backup
  ///   to the same path runs, or if another process writes for longer than `Options.writerDeadline`
  ///   (a compacting copy does not wait for it); `notPermitted`, `readOnly`, `notAFolder`,
  ///   `inputOutput` or another storage failure; `closed`.
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
      try StagingFolder.makeFolders(target.deletingLastPathComponent().path)
      let bytes = try bytesToCopy(compacting: compacting)
      try StoreFile.requireRoom(for: bytes, in: target.deletingLastPathComponent().path)
      let staging = try StagingFolder.claim(target.path + ".partial", ownedBy: .user)
      defer { staging.remove() }
      try copyData(to: staging.store, compacting: compacting) {
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

  /// Returns the expected size of the copy. Without compacting only the meta page is read through
  /// the map, because the store may be damaged. Compacting reads all pages through the map, where
  /// damage would end the process, so all pages are checked first.
  private func bytesToCopy(compacting: Bool) throws -> Int {
    guard compacting else { return try usedBytes }
    let report = try checkPages()
    if let first = report.problems.first {
      throw StoreError.damaged(folder, problems: report.problemCount, first: first)
    }
    return report.bytesUsed
  }
}

/// The progress of the copy of a store.
public enum CopyProgress: Hashable, Sendable {
  /// Copying. The total is an estimate, because other programs may write to the store.
  case copying(bytes: Int, of: Int)
  /// Reading back a copy of the given size.
  case checking(bytes: Int)
}
