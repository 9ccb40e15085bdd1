package import EntityModel
import Foundation
package import LMDB
import SystemSupport

/// The catalog of one schema revision, which every transaction works with. Immutable.
package final class Catalog: Sendable {
  let uuid: UUID
  package let revision: UInt64
  package let readCompatibleFeatures: UInt32
  package let schema: Schema
  /// True if what is written has seals.
  let isSealed: Bool
  /// The applied migrations, by line, oldest first.
  package let history: [AppliedMigration]
  /// The migration of which some steps are completed and some are not.
  package let running: RunningMigration?
  /// The structures that a step of the running migration builds.
  package let build: EntityBuild?
  package let deferred: DeferredIndexes
  package let entities: [String: EntityLayout]
  /// The tree of the change history; `nil` in a store that no version with a change
  /// history has written to.
  let historyTree: Tree?
  let plans = PlanCache()
  /// Measures the fetches that use the catalog; `nil` for no measurement.
  let fetchObserver: FetchObserver?

  /// Reads the catalog that a transaction sees.
  ///
  /// - Throws: `damaged` if it contradicts itself, `notAStore`, `newerFormat`, a storage failure.
  package init(
    _ tree: Tree, in transaction: TreeTransaction, of environment: Environment,
    fetchObserver: FetchObserver? = nil
  ) throws {
    let stored = try StoredCatalog(tree, in: transaction)
    let names = Set(try environment.treeNames(in: transaction))
    let problems =
      CatalogCheck.problems(of: stored.history, schema: stored.schema)
      + CatalogCheck.problems(of: stored.schema, treeNames: names)
      + CatalogCheck.historyProblems(of: stored.schema, treeNames: names)
      + CatalogCheck.problems(of: stored.deferred, schema: stored.schema)
    if let problem = problems.first {
      throw StoreError(
        .damaged, "the catalog contradicts itself",
        [("entity", problem.entity), ("problem", problem.text)],
        advice: "run `mooring check`, then restore a backup")
    }
    var indexTrees: [Int: Tree] = [:]
    for index in stored.schema.entities.flatMap(\.indexes) {
      let name = EntityLayout.treeName(of: index)
      indexTrees[index.id] = try environment.tree(named: name, in: transaction)
    }
    var buildTrees: [String: Tree] = [:]
    for name in stored.build?.treeNames ?? [] {
      buildTrees[name] = try environment.tree(named: name, in: transaction)
    }
    var entities: [String: EntityLayout] = [:]
    for entity in stored.schema.entities {
      let name = EntityLayout.treeName(of: entity)
      guard let tree = try environment.tree(named: name, in: transaction) else {
        throw StoreError.damaged("an entity of the catalog has no tree", entity: entity.name)
      }
      let build = stored.build?.entityID == entity.id ? stored.build : nil
      entities[entity.name] = try EntityLayout(
        entity, in: stored.schema, tree: tree, indexTrees: indexTrees,
        build: try build.map { try BuildLayout($0, of: entity, trees: buildTrees) },
        deferredIndexes: stored.deferred[entity.id])
    }
    self.fetchObserver = fetchObserver
    uuid = stored.header.uuid
    readCompatibleFeatures = stored.header.readCompatibleFeatures
    revision = stored.header.revision
    schema = stored.schema
    isSealed = stored.schema.isSealed
    history = stored.history
    running = stored.running
    build = stored.build
    deferred = stored.deferred
    self.entities = entities
    historyTree = try environment.tree(named: HistoryTree.name, in: transaction)
  }

  /// Checks that this program maintains all features of the store.
  ///
  /// - Throws: `newerFormat` if the store has features that this program would not maintain.
  package func checkWritable() throws(StoreError) {
    let unknown = readCompatibleFeatures & ~CatalogHeader.knownReadCompatibleFeatures
    guard unknown != 0 else { return }
    throw StoreError(
      .newerFormat, "the store has features that this program cannot write",
      [("features", String(unknown, radix: 16))],
      advice: "install the newer version; reading still works")
  }

  /// Checks the versions of the collations of all indexes, also of those that are being built or
  /// are set aside.
  ///
  /// - Throws: `schemaMismatch` if an index was created with another version of a collation: other
  ///   programs would not find the entries that this program would write.
  package func checkCollations() throws(StoreError) {
    for name in entities.keys.sorted() {
      guard let entity = entities[name] else { continue }
      if let index = entity.indexes.first(where: { !$0.isUsable }) {
        throw .otherCollation(of: index.description, in: name)
      }
      let built = build?.entityID == entity.description.id ? build?.indexes ?? [] : []
      // The version of an index that is being built is that of the builder.
      let isBuilt = Set(built.map(\.id))
      let deferred = entity.deferredIndexes.filter { !isBuilt.contains($0.id) }
      for index in built + deferred where !index.hasThisCollation {
        throw .otherCollation(of: index, in: name)
      }
    }
  }

  package func entity(_ name: String) throws(StoreError) -> EntityLayout {
    guard let entity = entities[name] else { throw .unknownEntity(name, in: schema) }
    return entity
  }
}

/// Keys and contents of the tree `catalog`. Everything but the header is JSON with sorted keys.
package enum CatalogTree {
  package static let name = "catalog"
  package static let headerKey = Array("header".utf8)
  package static let schemaKey = Array("schema".utf8)
  static let historyPrefix = Array("applied:".utf8)

  package static let runningKey = Array("running".utf8)
  package static let buildKey = Array("build".utf8)
  static let deferredKey = Array("deferred".utf8)
  /// The key of the schema that the running step leads to.
  package static let targetKey = Array("target".utf8)

  /// Returns the key of the list of copies that migrations have made.
  ///
  /// A program of the version before adds an entry to `backups` before it notices that it must not
  /// write to a store with seals. So a store with seals has another key (see `CatalogSeal`).
  package static func backupsKey(isSealed: Bool) -> [UInt8] {
    Array((isSealed ? "copies" : "backups").utf8)
  }

  static func nextIDKey(entity: Int) -> [UInt8] { Array("next:\(entity)".utf8) }

  package static func historyKey(_ line: String, _ version: Int) -> [UInt8] {
    let digits = String(version)
    let padded = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    return historyPrefix + Array("\(line):\(padded)".utf8)
  }

  package static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  package static func readSchema(_ tree: Tree, in transaction: TreeTransaction) throws -> Schema {
    guard let bytes = try transaction.get(tree, schemaKey) else { return Schema() }
    return try decode(Schema.self, bytes)
  }

  package static func readHistory(_ tree: Tree, in transaction: TreeTransaction) throws
    -> [AppliedMigration]
  {
    var history: [AppliedMigration] = []
    var cursor = try transaction.cursor(tree)
    let range = KeyRange(prefix: historyPrefix)
    var entry = try historyPrefix.withUnsafeBytes { try cursor.seek(atLeast: $0) }
    while let found = entry, range.isBelowUpper(found.key) {
      history.append(try decode(AppliedMigration.self, found.value))
      entry = try cursor.next()
    }
    return history
  }

  /// Reads a value of the catalog.
  ///
  /// - Returns: `nil` if there is no value for the key.
  package static func read<T: Decodable>(
    _ type: T.Type, at key: [UInt8], _ tree: Tree, in transaction: TreeTransaction
  ) throws -> T? {
    guard let bytes = try transaction.get(tree, key) else { return nil }
    return try decode(type, bytes)
  }

  static func readDeferred(
    _ tree: Tree, in transaction: TreeTransaction
  ) throws -> DeferredIndexes {
    try read(DeferredIndexes.self, at: deferredKey, tree, in: transaction) ?? DeferredIndexes()
  }

  /// Returns the record id that the next record of an entity gets.
  package static func readNextID(
    of entity: EntityLayout, _ tree: Tree, in transaction: TreeTransaction
  ) throws -> Int64 {
    let key = nextIDKey(entity: entity.description.id)
    guard let bytes = try transaction.get(tree, key) else { return 1 }
    let next = bytes.count == 8 ? Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)) : 0
    guard (1..<Int64.max).contains(next) else {
      throw StoreError.damaged("the counter of object ids is unreadable", entity: entity.name)
    }
    return next
  }

  private static func decode<T: Decodable>(
    _ type: T.Type, _ bytes: UnsafeRawBufferPointer
  ) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw StoreError(
        .damaged, "the catalog cannot be read", [("what", "\(type)")],
        advice: "restore a backup; `mooring check` reports what else is damaged")
    }
  }
}

/// Finds the catalog that belongs to a transaction's snapshot, and caches it until it changes.
package final class CatalogCache: Sendable {
  private let environment: Environment
  private let tree: Tree
  private let fetchObserver: FetchObserver?
  private let cached = Locked(Cached())

  private struct Cached {
    var catalog: Catalog?
    /// The commit that was found to have this catalog: the next snapshot is often of the same one.
    var commit: Int?
  }

  init(environment: Environment, tree: Tree, fetchObserver: FetchObserver? = nil) {
    self.environment = environment
    self.tree = tree
    self.fetchObserver = fetchObserver
  }

  /// Returns the cached catalog if it belongs to a transaction's snapshot.
  ///
  /// - Returns: `nil` if the snapshot has another schema revision than the cache holds; then call
  ///   `refresh` outside of the transaction and begin again.
  package func catalog(for transaction: TreeTransaction) throws -> Catalog? {
    let commit = transaction is TreeReader ? transaction.id : nil
    if let commit, let known = cached.withLock({ $0.commit == commit ? $0.catalog : nil }) {
      return known
    }
    let revision = try revision(in: transaction)
    return cached.withLock { cached in
      guard let catalog = cached.catalog, catalog.revision == revision else { return nil }
      if let commit { cached.commit = commit }
      return catalog
    }
  }

  /// Reads the newest catalog.
  package func refresh() throws {
    let catalog = try translatingStorageErrors {
      try environment.read {
        try Catalog(tree, in: $0, of: environment, fetchObserver: fetchObserver)
      }
    }
    cached.withLock { $0 = Cached(catalog: catalog) }
  }

  private func revision(in transaction: TreeTransaction) throws -> UInt64? {
    guard let bytes = try transaction.get(tree, CatalogTree.headerKey) else { return nil }
    return CatalogHeader.revision(in: bytes)
  }
}

/// The catalog's contents as read in one transaction.
package struct StoredCatalog {
  let header: CatalogHeader
  let schema: Schema
  let history: [AppliedMigration]
  let running: RunningMigration?
  let build: EntityBuild?
  let deferred: DeferredIndexes

  init(_ tree: Tree, in transaction: TreeTransaction) throws {
    header = try StoredCatalog.readHeader(tree, in: transaction)
    schema = try CatalogTree.readSchema(tree, in: transaction)
    history = try CatalogTree.readHistory(tree, in: transaction)
    running = try CatalogTree.read(
      RunningMigration.self, at: CatalogTree.runningKey, tree, in: transaction)
    build = try CatalogTree.read(
      EntityBuild.self, at: CatalogTree.buildKey, tree, in: transaction)
    deferred = try CatalogTree.readDeferred(tree, in: transaction)
  }

  package static func readHeader(_ tree: Tree, in transaction: TreeTransaction) throws
    -> CatalogHeader
  {
    guard let bytes = try transaction.get(tree, CatalogTree.headerKey) else {
      throw StoreError(
        .notAStore, "the catalog has no header", advice: "this is not a Mooring store")
    }
    return try CatalogHeader(decoding: bytes)
  }
}
