import EntityModel
import EntityStore
import Foundation
import Maintenance
import SystemSupport
import TextFormats

/// A copy of the store that was made before steps that lose data. It is kept until `contract`.
public struct MigrationBackup: Codable, Hashable, Sendable {
  public var path: String
  /// The migration before which it was made: line and name.
  public var before: String
  /// The time of the copy, in seconds since 1970.
  public var madeAt: Double
}

extension MigrationBackup {
  /// Copies the store to a folder next to it and records the copy in the catalog.
  ///
  /// - Returns: The folder of the copy.
  static func make(
    of store: Store, before position: MigrationPosition, isCancelled: () -> Bool
  ) throws -> String {
    let migration = position.migration
    let now = store.options.now()
    // A run that is started twice within a second makes two copies.
    let path = unusedPath(
      "\(store.folder).before-\(migration.line)-\(stamp(migration.version, now))")
    let unfinished = "\(store.folder).before.new"
    // The rest of a run that was interrupted.
    try removeUnfinished(unfinished)
    try store.backUp(to: unfinished) { _ in if isCancelled() { throw CancellationError() } }
    // The copy is recorded before it gets its name, so that no copy exists that is not recorded.
    let backup = MigrationBackup(
      path: path, before: "\(migration.line) \(migration.name)",
      madeAt: now.timeIntervalSince1970)
    try store.changeSchema { transaction in
      let key = CatalogTree.backupsKey(isSealed: transaction.schema.isSealed)
      let others = try transaction.value([MigrationBackup].self, at: key) ?? []
      try transaction.put(others + [backup], at: key)
    }
    guard rename(unfinished, path) == 0 else {
      throw StoreError.scratch(
        SystemError(), "the copy before a migration cannot be put in its place", path: path)
    }
    // Before the steps that lose data: after a loss of power the copy has the recorded name.
    do {
      try FolderFile.flushFolder(path + "/..")
    } catch {
      throw StoreError.scratch(
        error, "the folder of the copy before a migration cannot be flushed", path: path)
    }
    return path
  }

  private static func removeUnfinished(_ folder: String) throws {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch CocoaError.fileNoSuchFile {
      return
    } catch {
      throw StoreError(
        .storage, "what an interrupted copy has left cannot be removed",
        [("path", folder), ("cause", "\(error)")], advice: "remove that folder")
    }
  }

  /// Returns the copies that are recorded in the catalog.
  static func all(of store: Store, in transaction: ReadTransaction) throws -> [MigrationBackup] {
    try store.catalogValue(
      [MigrationBackup].self,
      at: CatalogTree.backupsKey(isSealed: transaction.catalog.schema.isSealed), in: transaction)
      ?? []
  }

  /// Returns a stamp such as `0003-20261121T110500Z`.
  private static func stamp(_ version: Int, _ now: Date) -> String {
    let time = now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    return "\(version.padded(to: 4))-\(time)"
  }
}
