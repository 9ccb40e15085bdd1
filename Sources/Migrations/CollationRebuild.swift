import EntityModel
import EntityStore

/// Rebuilds the indexes whose keys come from another version of their collation. The version
/// changes when the library that this program uses has other data for Unicode or for a locale.
///
/// All indexes are rebuilt in one transaction. Each goes into a new tree next to its old one,
/// because a reader of an older snapshot may still use the old tree. An index that the program may
/// not write is left as it is.
struct CollationRebuild {
  let store: Store

  /// Rebuilds the indexes that are due. Does nothing while a migration is in progress.
  ///
  /// - Throws: `damaged`, a storage failure; nothing is changed then.
  func run() throws {
    // Checked again under the lock: a migration may have begun and been interrupted before.
    guard try isDue(), let lock = try takeLock(), try isDue() else { return }
    // There is at most one round for each index: each failed round adds one index to those left
    // out.
    var left: Set<Int> = []
    while let index = try attempt(leaving: left) { left.insert(index) }
    try store.catalogs.refresh()
    withExtendedLifetime(lock) {}
  }

  private func isDue() throws -> Bool {
    let catalog = try store.catalog()
    // A step that has begun has stored the schema that it ends with. A change made next to it would
    // be undone, and there is one build at a time.
    let known = CatalogHeader.sealFeature | CatalogHeader.deferralFeature
    guard catalog.running?.buildChecksum == nil, catalog.build == nil,
      catalog.readCompatibleFeatures & ~known == 0,
      try store.migrationState().unknown.isEmpty
    else { return false }
    return catalog.entities.values.contains { $0.indexes.contains { !$0.isUsable } }
  }

  /// Takes the migration lock without waiting.
  ///
  /// - Returns: `nil` if a migration is in progress. The next program that opens the store rebuilds
  ///   the indexes then.
  private func takeLock() throws -> MigrationLock? {
    do throws(StoreError) {
      return try MigrationLock(of: store, within: .zero)
    } catch {
      if error.code == .busy { return nil }
      throw error
    }
  }

  /// Rebuilds all indexes but the given ones, in one transaction.
  ///
  /// - Returns: The id of an index that cannot be rebuilt; nothing has been changed then. The index
  ///   stays as it is, so that the store can be opened and the index dropped.
  private func attempt(leaving left: Set<Int>) throws -> Int? {
    do {
      try store.changeSchema { try rebuild(leaving: left, in: $0) }
      return nil
    } catch let error as HasEqualTexts {
      return error.index
    }
  }

  /// Two texts that were different have become equal, in a unique index.
  private struct HasEqualTexts: Error {
    let index: Int
  }

  /// Rebuilds the indexes in the schema of the transaction, because another process may have
  /// rebuilt some of them before.
  private func rebuild(leaving left: Set<Int>, in transaction: SchemaTransaction) throws {
    for entity in transaction.schema.entities {
      for old in entity.indexes where !left.contains(old.id) {
        guard let version = currentVersion(of: old), version != old.collationVersion else {
          continue
        }
        var index = old
        index.generation += 1
        index.collationVersion = version
        try rebuild(index, ofEntity: entity.id, in: transaction)
      }
    }
  }

  private func rebuild(
    _ index: IndexDescription, ofEntity id: Int, in transaction: SchemaTransaction
  ) throws {
    let schema = transaction.schema
    guard let entity = schema.entities.first(where: { $0.id == id }) else { return }
    let work = StepWork(building: [index], of: entity, in: schema)
    do {
      try ShortStep(work: work, author: "collation", codes: []).run(in: transaction)
    } catch let error as StoreError where error.code == .uniqueViolation {
      throw HasEqualTexts(index: index.id)
    }
  }

  /// Returns the version of the index's collation that this program has.
  ///
  /// - Returns: `nil` for an index without a collation, and for a collation that this program does
  ///   not have.
  private func currentVersion(of index: IndexDescription) -> String? {
    try? KeyCollation.version(of: index.keys)
  }
}
