import EntityModel
import Foundation
import LMDB

/// Applies pending migrations.
///
/// All of them go into one transaction together with their history, so a kill leaves either the
/// old schema or the new one. The history is read again after the writer lock is taken: of two
/// runners the second finds nothing to do.
struct Migrator {
  private let store: Store

  init(_ store: Store) { self.store = store }

  /// - Returns: What was applied, in order; empty if nothing was pending.
  @discardableResult
  func apply() throws -> [Migration] {
    let applied: [Migration] = try store.runAlone { transaction in
      let history = try CatalogTree.readHistory(store.catalogTree, in: transaction)
      let state = MigrationState(lines: store.lines, history: history)
      if state.unknown.isEmpty { try state.checkApplicable() } else { try state.checkWritable() }
      if state.pending.isEmpty { return [] }
      var schema = SchemaChange(
        schema: try CatalogTree.readSchema(store.catalogTree, in: transaction))
      for migration in state.pending {
        for step in migration.steps {
          let before = schema.schema
          try SchemaChange.naming(migration) { () throws(StoreError) in try schema.apply(step) }
          try carryOut(SchemaDifference(from: before, to: schema.schema), in: transaction)
        }
      }
      if schema.schema.entity(named: WriteTransaction.consumerEntity) != nil,
        try store.environment.tree(named: HistoryTree.name, in: transaction) == nil
      {
        _ = try store.environment.createTree(named: HistoryTree.name, in: transaction)
      }
      try save(schema.schema, applied: state.pending, after: history.count, in: transaction)
      return state.pending
    }
    try store.catalogs.refresh()
    return applied
  }

  /// Makes the trees that a step needs and fills new indexes. A dropped index's tree is left: a
  /// reader of an older snapshot may hold it.
  private func carryOut(
    _ difference: SchemaDifference, in transaction: LMDB.WriteTransaction
  ) throws {
    for (entity, attribute) in difference.required {
      let records = try transaction.count(try tree(of: entity, in: transaction))
      guard records == 0 else {
        throw StoreError(
          .migration, "a required relationship can only be made while there are no records",
          [
            ("entity", entity.name), ("relationship", attribute.name),
            ("records", String(records)),
          ], advice: "make it optional")
      }
    }
    for entity in difference.entities {
      _ = try store.environment.createTree(
        named: EntityLayout.treeName(of: entity), hasIntegerKeys: true, in: transaction)
    }
    for index in difference.indexes {
      if index.isEmpty {
        _ = try store.environment.createTree(
          named: EntityLayout.treeName(of: index.description), in: transaction)
      } else {
        try build(index.description, of: index.entity, in: transaction)
      }
    }
  }

  private func tree(
    of entity: EntityDescription, in transaction: LMDB.WriteTransaction
  ) throws -> Tree {
    let name = EntityLayout.treeName(of: entity)
    guard let tree = try store.environment.tree(named: name, in: transaction) else {
      throw StoreError.damaged("an entity of the catalog has no tree", entity: entity.name)
    }
    return tree
  }

  /// Fills a new index, in the tree of its generation.
  ///
  /// - Throws: `uniqueViolation`, `damaged`, `storage`; the transaction must then be aborted.
  func build(
    _ index: IndexDescription, of entity: EntityDescription, in transaction: LMDB.WriteTransaction
  ) throws {
    let tree = try store.environment.createTree(
      named: EntityLayout.treeName(of: index), in: transaction)
    let records = try self.tree(of: entity, in: transaction)
    let layout = try IndexLayout(index, of: entity, tree: tree, number: 0)
    let record = RecordLayout(entity)
    var writer = KeyWriter()
    var buffer = IndexBuffer()
    var expected = 0
    var cursor = try transaction.cursor(records)
    var entry = try cursor.first()
    while let found = entry {
      guard let id = RecordKey.objectID(found.key), let view = record.view(of: found.value) else {
        throw StoreError.damaged("a record is unreadable", entity: entity.name)
      }
      do {
        try layout.eachKey(of: view, id: id, writer: &writer) { key in
          buffer.put(key, objectID: id)
          expected += 1
        }
      } catch is RecordDamage {
        throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
      }
      entry = try cursor.next()
    }
    try buffer.apply(to: layout, in: transaction)
    guard try transaction.count(tree) == expected else {
      throw StoreError(
        .uniqueViolation, "a unique index cannot be made: records have equal values",
        [
          ("entity", entity.name), ("index", index.name),
          ("records too many", String(expected - (try transaction.count(tree)))),
        ], advice: "remove the duplicates first")
    }
  }

  /// Makes the schema the store's, with a new revision.
  ///
  /// - Parameter earlier: How many migrations the store had before these.
  func save(
    _ schema: Schema, applied: [Migration] = [], after earlier: Int = 0,
    in transaction: LMDB.WriteTransaction
  ) throws {
    let tree = store.catalogTree
    func put(_ key: [UInt8], _ value: [UInt8]) throws {
      try transaction.put(tree, key: key, value: value)
    }
    try put(CatalogTree.schemaKey, try CatalogTree.encode(schema))
    for (index, migration) in applied.enumerated() {
      let entry = AppliedMigration(
        line: migration.line, version: migration.version, name: migration.name,
        checksum: migration.checksum, appliedAt: store.options.now().timeIntervalSince1970,
        sequence: earlier + index + 1)
      try put(
        CatalogTree.historyKey(migration.line, migration.version), try CatalogTree.encode(entry))
    }
    guard let bytes = try transaction.get(store.catalogTree, CatalogTree.headerKey) else {
      throw StoreError(.notAStore, "the catalog has no header")
    }
    var header = try CatalogHeader(decoding: bytes)
    header.revision &+= 1  // a damaged one may be the last there is
    try put(CatalogTree.headerKey, header.encoded())
  }
}

extension Store {
  /// Applies what is pending.
  ///
  /// Blocks the calling thread until the commit.
  ///
  /// - Returns: What was applied, in order.
  /// - Throws: `migration`, `newerSchema`, `uniqueViolation`, `storage`; nothing is applied then.
  @discardableResult
  public func migrate() throws -> [Migration] { try Migrator(self).apply() }
}
