import EntityModel
import EntityStore
import Foundation
import LMDB

/// A write transaction that may change the schema, any number of times.
///
/// Between two changes, records are read and written through scopes of the schema at that point.
/// Changes without a scope between them are written together. Other readers see nothing before the
/// commit. `finish` must be called before the commit.
final class SchemaTransaction {
  let writing: TreeWriter
  let store: Store
  /// The schema after the changes so far.
  private(set) var schema: Schema
  /// The build that is in progress after the changes so far.
  private(set) var build: EntityBuild?

  private let scratch: WriterScratch
  /// The catalog as it is written.
  private(set) var catalog: Catalog
  /// True if the written catalog has the current `schema` and `build`.
  private var isWritten = true
  /// True if the catalog was not changed since its revision was raised.
  private var isRevised = true

  /// Begins with the catalog that the writing transaction sees.
  ///
  /// - Throws: `newerFormat` if the store has features that this program could not maintain.
  init(
    _ writing: TreeWriter, _ scratch: WriterScratch, of store: Store
  ) throws {
    self.writing = writing
    self.scratch = scratch
    self.store = store
    catalog =
      try store.catalogs.catalog(for: writing)
      ?? Catalog(store.catalogTree, in: writing, of: store.environment)
    schema = catalog.schema
    build = catalog.build
    try catalog.checkWritable()
  }

  /// Replaces the store's schema.
  ///
  /// - Parameter build: The build that is in progress from now on; `nil` for none.
  func set(_ schema: Schema, build: EntityBuild? = nil) {
    if self.schema == schema, self.build == build { return }
    self.schema = schema
    self.build = build
    isWritten = false
  }

  /// Runs a closure on records and indexes. Its changes are in the trees when this returns.
  func scope<R>(author: String?, _ body: (WriteTransaction) throws -> R) throws -> R {
    try writeCatalog()
    let scope = WriteTransaction(
      writing, catalog: catalog, catalogTree: store.catalogTree, scratch: scratch, author: author,
      now: store.options.now())
    let result = try body(scope)
    try scope.finish()
    return result
  }

  /// Ends the transaction: its changes of the catalog get a new revision.
  func finish() throws {
    try writeCatalog()
    if !isRevised { try raiseRevision() }
  }

  /// Returns the number of records of an entity and their bytes; zero for an entity that is new.
  func size(ofEntity id: Int) throws -> EntitySize {
    guard let entity = catalog.entities.values.first(where: { $0.description.id == id }) else {
      return EntitySize()
    }
    let size = try writing.statistics(entity.tree)
    return EntitySize(records: size.entries, bytes: size.bytes)
  }

  // MARK: Entries of the catalog

  /// Records a migration as applied.
  @discardableResult
  func note(_ migration: Migration, isBaseline: Bool = false) throws -> AppliedMigration {
    let history = try CatalogTree.readHistory(store.catalogTree, in: writing)
    let entry = AppliedMigration(
      line: migration.line, version: migration.version, name: migration.name,
      checksum: migration.checksum, appliedAt: store.options.now().timeIntervalSince1970,
      sequence: (history.map(\.sequence).max() ?? 0) + 1, older: migration.older,
      program: store.options.program, creates: migration.steps.flatMap(\.creates),
      isBaseline: isBaseline ? true : nil)
    try put(
      CatalogTree.historyKey(migration.line, migration.version), try CatalogTree.encode(entry))
    return entry
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    isRevised = false
    try writing.put(store.catalogTree, key: key, value: value)
  }

  func delete(_ key: [UInt8]) throws {
    isRevised = false
    try key.withUnsafeBytes { _ = try writing.delete(store.catalogTree, key: $0) }
  }

  // MARK: Writing the catalog

  private func writeCatalog() throws {
    if isWritten { return }
    let old = catalog
    try createTrees()
    try put(CatalogTree.schemaKey, try CatalogTree.encode(schema))
    if let build {
      try put(CatalogTree.buildKey, try CatalogTree.encode(build))
    } else {
      try delete(CatalogTree.buildKey)
    }
    try raiseRevision()
    try dropNotes(of: old.build)
    catalog = try Catalog(store.catalogTree, in: writing, of: store.environment)
    isWritten = true
  }

  /// Creates the trees of the schema. A tree with such a name that was not in the catalog before is
  /// left from an earlier attempt.
  private func createTrees() throws {
    let integerKeyed = Set(
      schema.entities.map(EntityLayout.treeName) + (build.map { [$0.recordNotes] } ?? []))
    let known = Self.treeNames(of: catalog.schema, catalog.build)
    for name in Self.treeNames(of: schema, build).subtracting(known).sorted() {
      if let left = try store.environment.tree(named: name, in: writing) {
        try writing.empty(left)
      }
      // This includes existing trees: this transaction may have dropped the tree, and it is to stay
      // now.
      _ = try store.environment.createTree(
        named: name, hasIntegerKeys: integerKeyed.contains(name), in: writing)
    }
  }

  private static func treeNames(of schema: Schema, _ build: EntityBuild?) -> Set<String> {
    var names = Set(build?.treeNames ?? [])
    for entity in schema.entities {
      names.insert(EntityLayout.treeName(of: entity))
      for index in entity.indexes { names.insert(EntityLayout.treeName(of: index)) }
    }
    if schema.entity(named: WriteTransaction.consumerEntity) != nil {
      names.insert(HistoryTree.name)
    }
    return names
  }

  private func raiseRevision() throws {
    var header = try StoredCatalog.readHeader(store.catalogTree, in: writing)
    header.revision &+= 1  // a damaged one may be the last there is
    if build != nil {
      header.readCompatibleFeatures |= CatalogHeader.buildFeature
    } else {
      header.readCompatibleFeatures &= ~CatalogHeader.buildFeature
    }
    try put(CatalogTree.headerKey, header.encoded())
    isRevised = true
  }

  /// Drops the side logs of everything that is no longer being built.
  private func dropNotes(of old: EntityBuild?) throws {
    guard let old else { return }
    var names = old.notesRecords ? [old.recordNotes] : []
    names += old.indexes.map { EntityBuild.notes(of: $0) }
    for name in names where !(build?.treeNames.contains(name) ?? false) {
      guard let tree = try store.environment.tree(named: name, in: writing) else { continue }
      try writing.drop(tree)
    }
  }
}
