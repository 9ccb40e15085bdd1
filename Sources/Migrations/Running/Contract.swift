import EntityModel
public import EntityStore
import Foundation
import SystemSupport

/// The remains of migrations that `contract` frees.
public struct ContractReport: Codable, Hashable, Sendable {
  /// Trees that the catalog no longer names: those of dropped entities, dropped indexes and rebuilt
  /// indexes.
  public var trees: [String] = []
  /// The bytes of their pages, which later writes reuse. The file itself does not shrink; `compact`
  /// shrinks it.
  public var bytes = 0
  /// The folders of copies that were made before destructive steps and still exist.
  public var backups: [String] = []
  /// The bytes of these copies.
  public var backupBytes = 0

  public var isEmpty: Bool { trees.isEmpty && backups.isEmpty }
}

extension Store {
  /// Returns what `contract()` would free now. Changes nothing.
  public func contractable() throws -> ContractReport {
    let statistics = try statistics()
    let orphans = statistics.trees.filter {
      $0.content == .orphan && EntityLayout.isTreeName($0.name)
    }
    let backups = try read { try MigrationBackup.all(of: self, in: $0) }
      .filter { FileManager.default.fileExists(atPath: $0.dataFile) }
    return ContractReport(
      trees: orphans.map(\.name), bytes: orphans.reduce(0) { $0 + $1.bytes },
      backups: backups.map(\.path), backupBytes: backups.reduce(0) { $0 + $1.bytes })
  }

  /// Frees the remains of migrations: trees that the catalog no longer names, and the copies of the
  /// store. Blocks the calling thread.
  ///
  /// A snapshot that is older than the migration stays valid; LMDB reuses the pages after the last
  /// such reader has ended. Each tree is dropped in its own transaction, so that other writers can
  /// write in between. After a kill, the next call frees the rest.
  ///
  /// - Returns: What was freed.
  /// - Throws: `migration` while a migration is in progress, because its copy may be needed;
  ///   `busy` if another run holds the lock.
  @discardableResult
  public func contract(_ options: MigrationOptions = MigrationOptions()) throws -> ContractReport {
    let lock = try MigrationLock(
      of: self, within: options.wait, isCancelled: options.isCancelled)
    defer { withExtendedLifetime(lock) {} }
    let catalog = try catalog()
    try catalog.checkWritable()
    if let running = catalog.running { throw StoreError.isUnderWay(running) }
    let report = try contractable()
    try KeyRunFolder(ofStore: folder).removeLeftovers()
    for name in report.trees {
      if options.isCancelled() { throw CancellationError() }
      try changeSchema { try $0.dropTree(named: name) }
    }
    for path in report.backups { try MigrationBackup.remove(path) }
    if try !read({ try MigrationBackup.all(of: self, in: $0) }).isEmpty {
      try changeSchema { transaction in
        try transaction.delete(CatalogTree.backupsKey(isSealed: transaction.schema.isSealed))
      }
    }
    return report
  }

  /// Abandons the migration in progress and drops what its current step has built. Completed steps
  /// stay done, and so do the records that the step has already updated or deleted. The next
  /// `migrate` continues there, with steps that may have been corrected.
  ///
  /// - Returns: The migration that was in progress; `nil` if there was none.
  /// - Throws: `busy` if another run holds the lock.
  @discardableResult
  public func abandonMigration(
    _ options: MigrationOptions = MigrationOptions()
  ) throws -> RunningMigration? {
    let lock = try MigrationLock(
      of: self, within: options.wait, isCancelled: options.isCancelled)
    defer { withExtendedLifetime(lock) {} }
    guard let running = try catalog().running else { return nil }
    try Migrator(self, options).commit { transaction in
      try StepDiscard.drop(in: transaction)
      var left = running
      left.buildChecksum = nil
      if left.doneChecksums.isEmpty {
        try transaction.delete(CatalogTree.runningKey)
      } else {
        try transaction.put(left, at: CatalogTree.runningKey)
      }
    }
    try KeyRunFolder(ofStore: folder).removeLeftovers()
    return running
  }
}

extension StoreError {
  fileprivate static func isUnderWay(_ running: RunningMigration) -> StoreError {
    StoreError(
      .migration, "a migration is in progress",
      [("migration", "\(running.line) \(running.name)")],
      advice: "finish it first; until then the copy of the store may be needed")
  }
}

extension EntityLayout {
  /// Returns true for the names of trees of records, indexes and side logs. Other trees in the file
  /// do not belong to Mooring.
  fileprivate static func isTreeName(_ name: String) -> Bool {
    name.wholeMatch(of: /r\.\d+|i\.\d+\.\d+|n\.\d+|n\.i\.\d+\.\d+/) != nil
  }
}

extension MigrationBackup {
  fileprivate var dataFile: String { path + "/data.mdb" }

  fileprivate var bytes: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: dataFile)
    return (attributes?[.size] as? Int) ?? 0  // only a number in a report
  }

  /// Removes the files of a store, and the folder if nothing else is in it.
  fileprivate static func remove(_ path: String) throws {
    for name in ["data.mdb", "lock.mdb", "writer.turn", "writer.lock", "migrate.lock"] {
      let file = path + "/" + name
      guard unlink(file) == 0 || errno == ENOENT else {
        throw StoreError.cannotRemove(file, SystemError())
      }
    }
    _ = rmdir(path)
  }
}

extension StoreError {
  fileprivate static func cannotRemove(_ path: String, _ cause: SystemError) -> StoreError {
    StoreError(
      .refusal(cause), "the copy of the store cannot be removed",
      [("path", path), ("reason", cause.text)], advice: "remove it by hand")
  }
}
