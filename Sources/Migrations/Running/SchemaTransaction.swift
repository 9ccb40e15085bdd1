import EntityModel
import EntityStore
import Foundation
import LMDB

/// A write transaction that may change the schema, any number of times.
///
/// Between two changes records are read and written through scopes of the schema as it is then.
/// Changes that no scope lies between are written as one. Nothing is seen by anybody before the
/// commit, which `finish` must come before.
final class SchemaTransaction {
  let writing: TreeWriter
  let store: Store
  /// The schema as it is by now.
  private(set) var schema: Schema
  /// What is being built by now.
  private(set) var build: EntityBuild?

  private let scratch: WriterScratch
  /// The catalog as it is written.
  private(set) var catalog: Catalog
  /// Whether the catalog is written as `schema` and `build` have it.
  private var isWritten = true
  /// Whether all that has been changed of the catalog is of a revision that nobody has seen.
  private var isRevised = true

  /// - Throws: `newerFormat` if the store has features that this program would not keep up.
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

  /// Makes another schema the store's.
  ///
  /// - Parameter build: What is being built from now on; `nil` for nothing.
  func set(_ schema: Schema, build: EntityBuild? = nil) {
    if self.schema == schema, self.build == build { return }
    self.schema = schema
    self.build = build
    isWritten = false
  }

  /// Runs a closure on records and indexes. What it changes stands in the trees when this returns.
  func scope<R>(author: String?, _ body: (WriteTransaction) throws -> R) throws -> R {
    try writeCatalog()
    let scope = WriteTransaction(
      writing, catalog: catalog, catalogTree: store.catalogTree, scratch: scratch, author: author,
      now: store.options.now())
    let result = try body(scope)
    try scope.finish()
    return result
  }

  /// Ends the transaction: what it has changed of the catalog is of a revision of its own.
  func finish() throws {
    try writeCatalog()
    if !isRevised { try raiseRevision() }
  }

  /// The records of an entity and their bytes; none of one that is new.
  func size(ofEntity id: Int) throws -> EntitySize {
    guard let entity = catalog.entities.values.first(where: { $0.description.id == id }) else {
      return EntitySize()
    }
    let size = try writing.statistics(entity.tree)
    return EntitySize(records: size.entries, bytes: size.bytes)
  }

  // MARK: Entries of the catalog

  /// Notes a migration as applied.
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

  /// A tree of this name that nothing named before is what an earlier attempt has left.
  private func createTrees() throws {
    let integerKeyed = Set(
      schema.entities.map(EntityLayout.treeName) + (build.map { [$0.recordNotes] } ?? []))
    let known = Self.treeNames(of: catalog.schema, catalog.build)
    for name in Self.treeNames(of: schema, build).subtracting(known).sorted() {
      if let left = try store.environment.tree(named: name, in: writing) {
        try writing.empty(left)
      }
      // Also of one that is there: this transaction may have dropped it, and it is to stay now.
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

  /// Nobody notes anything any more for what is no longer being built.
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
