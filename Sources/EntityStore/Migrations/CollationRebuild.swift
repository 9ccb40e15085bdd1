import EntityModel
import LMDB

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
    let catalog = try store.catalog()
    let isStale = catalog.entities.values.contains { $0.indexes.contains { !$0.isUsable } }
    let isNewer = try !store.migrationState().unknown.isEmpty
    guard isStale, !isNewer, catalog.readCompatibleFeatures == 0 else { return }
    // At most one round for each index: those that are left grow in number.
    var left: Set<Int> = []
    while let index = try attempt(leaving: left) { left.insert(index) }
    try store.catalogs.refresh()
  }

  /// - Returns: The id of an index that cannot be made anew, and then nothing was changed. It stays
  ///   as it is, so that the store can be opened and the index be dropped.
  private func attempt(leaving left: Set<Int>) throws -> Int? {
    do {
      try store.runAlone { try rebuild(leaving: left, in: $0) }
      return nil
    } catch let error as HasEqualTexts {
      return error.index
    }
  }

  /// Two texts that were different have become equal, under a unique index.
  private struct HasEqualTexts: Error {
    let index: Int
  }

  /// Reads the schema again: another process may have been first.
  private func rebuild(
    leaving left: Set<Int>, in transaction: LMDB.WriteTransaction
  ) throws {
    var schema = try CatalogTree.readSchema(store.catalogTree, in: transaction)
    let old = schema
    for (entityNumber, entity) in old.entities.enumerated() {
      for (number, old) in entity.indexes.enumerated() where !left.contains(old.id) {
        guard let version = currentVersion(of: old), version != old.collationVersion else {
          continue
        }
        var index = old
        index.generation += 1
        index.collationVersion = version
        do {
          try Migrator(store).build(index, of: entity, in: transaction)
        } catch let error as StoreError where error.code == .uniqueViolation {
          throw HasEqualTexts(index: old.id)
        }
        schema.entities[entityNumber].indexes[number] = index
      }
    }
    if schema != old { try Migrator(store).save(schema, in: transaction) }
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
