package import EntityModel
import Foundation
import LMDB

/// A write transaction that may change the schema, any number of times.
///
/// Between two changes, records are read and written through scopes of the schema at that point.
/// Changes without a scope between them are written together. Other readers see nothing before the
/// commit.
package final class SchemaTransaction {
  package let store: Store
  /// The schema after the changes so far.
  package private(set) var schema: Schema
  /// The build that is in progress after the changes so far.
  package private(set) var build: EntityBuild?
  /// The deferred indexes after the changes so far.
  package private(set) var deferred: DeferredIndexes

  private let writing: TreeWriter
  private let scratch: WriterScratch
  private let budget: CommitBudget
  /// The catalog as it is written.
  package private(set) var catalog: Catalog
  /// True if the written catalog has the current `schema` and `build`.
  private var isWritten = true
  /// True if the catalog was not changed since its revision was raised.
  private var isRevised = true
  /// True if the catalog has the seal that it had at the beginning.
  private var hasValidSeal = true

  /// Begins with the catalog that the writing transaction sees.
  ///
  /// - Throws: `newerFormat` if the store has features that this program could not maintain;
  ///   `damaged` if the catalog does not match its seal.
  init(_ writing: TreeWriter, _ scratch: WriterScratch, of store: Store) throws {
    self.writing = writing
    self.scratch = scratch
    self.store = store
    budget = store.writer.budget(sharedBy: 1)
    catalog =
      try store.catalogs.catalog(for: writing)
      ?? Catalog(store.catalogTree, in: writing, of: store.environment)
    schema = catalog.schema
    build = catalog.build
    deferred = catalog.deferred
    try catalog.checkWritable()
    _ = try CatalogSeal.check(store.catalogTree, in: writing)
  }

  /// Replaces the store's schema.
  ///
  /// - Parameter build: The build that is in progress from now on; `nil` for none.
  package func set(_ schema: Schema, build: EntityBuild? = nil) {
    if self.schema == schema, self.build == build { return }
    self.schema = schema
    self.build = build
    isWritten = false
  }

  /// Replaces the list of deferred indexes.
  package func set(_ deferred: DeferredIndexes) {
    if self.deferred == deferred { return }
    self.deferred = deferred
    isWritten = false
  }

  /// Runs a closure on records and indexes. Its changes are in the trees when this returns.
  package func scope<R>(author: String?, _ body: (WriteTransaction) throws -> R) throws -> R {
    try writeCatalog()
    let scope = WriteTransaction(
      writing, catalog: catalog, catalogTree: store.catalogTree, scratch: scratch, author: author,
      now: store.options.now(), budget: budget)
    let result = try body(scope)
    try scope.finish()
    return result
  }

  /// Ends the transaction: its changes of the catalog get a new revision and a new seal.
  func finish() throws {
    try writeCatalog()
    if !isRevised { try raiseRevision() }
    if !hasValidSeal, schema.isSealed { try CatalogSeal.write(store.catalogTree, in: writing) }
  }

  /// Returns the number of records of an entity and their bytes; zero for an entity that is new.
  package func size(ofEntity id: Int) throws -> EntitySize {
    guard let entity = catalog.entities.values.first(where: { $0.description.id == id }) else {
      return EntitySize()
    }
    return EntitySize(try writing.statistics(entity.tree))
  }

  // MARK: Entries of the catalog

  /// Reads a value of the catalog.
  ///
  /// - Returns: `nil` if there is no value for the key.
  package func value<T: Decodable>(_ type: T.Type, at key: [UInt8]) throws -> T? {
    try CatalogTree.read(type, at: key, store.catalogTree, in: writing)
  }

  /// Sets a value of the catalog.
  package func put(_ value: some Encodable, at key: [UInt8]) throws {
    try put(key, try CatalogTree.encode(value))
  }

  private func put(_ key: [UInt8], _ value: [UInt8]) throws {
    isRevised = false
    hasValidSeal = false
    try writing.put(store.catalogTree, key: key, value: value)
  }

  /// Removes a value of the catalog.
  package func delete(_ key: [UInt8]) throws {
    isRevised = false
    hasValidSeal = false
    try key.withUnsafeBytes { _ = try writing.delete(store.catalogTree, key: $0) }
  }

  /// Moves a value of the catalog, if there is one, to another key.
  func move(_ key: [UInt8], to other: [UInt8]) throws {
    guard let bytes = try writing.get(store.catalogTree, key).map(Array.init) else { return }
    try put(other, bytes)
    try delete(key)
  }

  /// Returns the applied migrations, by line, oldest first.
  package func appliedMigrations() throws -> [AppliedMigration] {
    try CatalogTree.readHistory(store.catalogTree, in: writing)
  }

  // MARK: Trees

  /// Drops the trees of indexes under construction, as far as they exist.
  package func dropTrees(of indexes: [IndexDescription]) throws {
    for index in indexes { try dropTree(named: EntityLayout.treeName(of: index)) }
  }

  /// Drops a tree, which the catalog must not name any more; does nothing if it is missing. Older
  /// snapshots still see it.
  package func dropTree(named name: String) throws {
    guard let tree = try store.environment.tree(named: name, in: writing) else { return }
    try writing.drop(tree)
  }

  // MARK: Writing the catalog

  private func writeCatalog() throws {
    if isWritten { return }
    let old = catalog
    try createTrees()
    try put(schema, at: CatalogTree.schemaKey)
    if let build {
      try put(build, at: CatalogTree.buildKey)
    } else {
      try delete(CatalogTree.buildKey)
    }
    if deferred.isEmpty {
      try delete(CatalogTree.deferredKey)
    } else {
      try put(deferred, at: CatalogTree.deferredKey)
    }
    try raiseRevision()
    try dropSideLogs(of: old.build)
    catalog = try Catalog(store.catalogTree, in: writing, of: store.environment)
    isWritten = true
  }

  /// Creates the trees of the schema. A tree with such a name that was not in the catalog before is
  /// left from an earlier attempt.
  private func createTrees() throws {
    let integerKeyed = Set(
      schema.entities.map(EntityLayout.treeName) + (build.map { [$0.recordSideLog] } ?? []))
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
    if schema.entity(named: HistoryTree.consumerEntity) != nil {
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
    if deferred.isEmpty {
      header.readCompatibleFeatures &= ~CatalogHeader.deferralFeature
    } else {
      header.readCompatibleFeatures |= CatalogHeader.deferralFeature
    }
    if schema.isSealed { header.readCompatibleFeatures |= CatalogHeader.sealFeature }
    try put(CatalogTree.headerKey, header.encoded())
    isRevised = true
  }

  /// Drops the side logs of everything that is no longer being built.
  private func dropSideLogs(of old: EntityBuild?) throws {
    guard let old else { return }
    var names = old.recordsChangedIDs ? [old.recordSideLog] : []
    names += old.indexes.map { EntityBuild.sideLog(of: $0) }
    for name in names where !(build?.treeNames.contains(name) ?? false) {
      try dropTree(named: name)
    }
  }
}
