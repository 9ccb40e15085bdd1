import EntityModel
import EntityStore
import LMDB
import SystemSupport

/// Makes indexes anew whose keys come from another version of their collation: the data of Unicode
/// or of a locale has changed since, with the library that this program uses.
///
/// All of them go into one transaction, each into a tree beside its old one, which a reader of an
/// older snapshot may hold. What a program may not write it leaves as it is.
struct CollationRebuild {
  private let store: Store

  init(_ store: Store) { self.store = store }

  /// - Throws: `damaged`, `storage`; nothing is changed then.
  func run() throws {
    // Looked at again under the lock: a migration may have been begun and interrupted before.
    guard try isDue(), let lock = try takeLock(), try isDue() else { return }
    // At most one round for each index: those that are left grow in number.
    var left: Set<Int> = []
    while let index = try attempt(leaving: left) { left.insert(index) }
    try store.catalogs.refresh()
    withExtendedLifetime(lock) {}
  }

  private func isDue() throws -> Bool {
    let catalog = try store.catalog()
    // A step that has begun has written down the schema that it ends with: what is changed beside
    // it would be undone then.
    guard catalog.running?.buildChecksum == nil, catalog.readCompatibleFeatures == 0,
      try store.migrationState().unknown.isEmpty
    else { return false }
    return catalog.entities.values.contains { $0.indexes.contains { !$0.isUsable } }
  }

  /// - Returns: `nil` if a migration is under way: then the next one who opens the store does it.
  private func takeLock() throws -> MigrationLock? {
    do throws(StoreError) {
      return try MigrationLock(folder: store.folder, within: .zero)
    } catch {
      if error.underlying?.code == .busy { return nil }
      throw error
    }
  }

  /// - Returns: The id of an index that cannot be made anew, and then nothing was changed. It stays
  ///   as it is, so that the store can be opened and the index be dropped.
  private func attempt(leaving left: Set<Int>) throws -> Int? {
    do {
      try store.runAlone { writing, scratch in
        let transaction = try SchemaTransaction(writing, scratch, of: store)
        try rebuild(leaving: left, in: transaction)
        try transaction.finish()
      }
      return nil
    } catch let error as HasEqualTexts {
      return error.index
    }
  }

  /// Two texts that were different have become equal, under a unique index.
  private struct HasEqualTexts: Error {
    let index: Int
  }

  /// The schema is that of the transaction: another process may have been first.
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
    let work = StepWork(rebuilding: index, of: entity, in: schema)
    do {
      try ShortStep(work: work, author: "collation", codes: []).run(in: transaction)
    } catch let error as StoreError where error.code == .uniqueViolation {
      throw HasEqualTexts(index: index.id)
    }
  }

  /// - Returns: `nil` without a collation, and for one that this program does not have.
  private func currentVersion(of index: IndexDescription) -> String? {
    do {
      return try KeyCollation.version(of: index.keys)
    } catch {
      return nil
    }
  }
}
