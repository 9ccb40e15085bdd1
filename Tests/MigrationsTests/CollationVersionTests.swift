import EntityModel
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Indexes whose keys were written with another version of their collation.
@Suite struct CollationVersionTests {
  private static let byTitle = FetchRequest(
    entityName: "Sample", sortBy: [SortKey("title", collation: .localizedStandard)])

  /// Some records whose titles are not in the order of their bytes, nor of their numbers.
  private static func fill(_ store: Store) async throws {
    try await store.write { transaction in
      for (number, title) in ["b", "Ä", "a", "B"].enumerated() {
        try transaction.insert(
          "Sample",
          ["name": .string(title), "title": .string(title), "label": .string("\(number)")])
      }
    }
  }

  /// Changes the schema without notice, as another program would.
  private static func change(
    _ store: Store, _ change: (inout Schema, TreeWriter) throws -> Void
  ) throws {
    try store.runAlone { writing, scratch in
      let transaction = try SchemaTransaction(writing, scratch, of: store)
      var schema = transaction.schema
      try change(&schema, writing)
      transaction.set(schema)
      try transaction.finish()
    }
  }

  /// Sets another version for all indexes with a collation, and empties their trees: their entries
  /// must not be used.
  private static func makeForeign(_ store: Store) throws {
    try change(store) { schema, transaction in
      for entity in schema.entities.indices {
        for number in schema.entities[entity].indexes.indices
        where schema.entities[entity].indexes[number].collationVersion != nil {
          schema.entities[entity].indexes[number].collationVersion = "icu 1"
          let name = EntityLayout.treeName(of: schema.entities[entity].indexes[number])
          let tree = try #require(try store.environment.tree(named: name, in: transaction))
          try transaction.empty(tree)
        }
      }
    }
  }

  private static func collated(_ store: Store) throws -> [IndexDescription] {
    let entity = try #require(try store.schema.entity(named: "Sample"))
    return entity.indexes.filter { index in index.keys.contains { $0.collation != .binary } }
  }

  private static func names(_ store: Store, _ request: FetchRequest) throws -> String {
    try store.fetch(request).map { try $0["name"].text }.joined(separator: " ")
  }

  @Test func anIndexStoresTheVersionOfItsCollations() async throws {
    try await withTemporaryStore { temporary in
      for index in try Self.collated(temporary.store) {
        let version = try #require(index.collationVersion)
        #expect(version.hasPrefix("icu "))
        #expect(try KeyCollation.version(of: index.keys) == version)
      }
      let compound = try #require(
        try temporary.store.schema.entity(named: "Sample")?.index(named: "byRankAndText"))
      #expect(compound.collationVersion?.contains("; ") == true)
    }
  }

  @Test func aReaderIgnoresOutdatedIndexesAndAWriterIsRefused() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await Self.fill(store)
      try Self.makeForeign(store)
      #expect(try Self.names(store, Self.byTitle) == "a Ä b B")
      let plan = try store.read { try $0.explain(Self.byTitle) }
      #expect(plan.kinds.contains(.scan))
      let rejection = plan.rejected.first { $0.index == "byTitleLocalized" }
      #expect(rejection?.reason == "made with another version of the collation")
      var strict = Self.byTitle
      strict.requiresIndex = true
      #expect(code { try store.fetch(strict) } == .requiresIndex)
      #expect(
        code { try store.read { try $0.get("Sample", by: ["label": "1"]) } } == .schemaMismatch)
      #expect(
        await code { try await store.write { try $0.insert("Sample", ["name": "new"]) } }
          == .schemaMismatch)
      // Nothing but the version is wrong.
      #expect(try Store.check(at: store.folder).isClean)
    }
  }

  @Test func machinesThatShareAStoreRebuildTheIndexesOnlyWhenOneMigrates() async throws {
    try await withTemporaryFolder { folder in
      let log = MemoryCommitLog()
      func open(_ name: String, _ policy: Store.MigrationPolicy) throws -> Store {
        try openStore(at: folder.path(name), migrate: policy, log: log)
      }
      func isRefused(_ store: Store) async -> Bool {
        await code { try await store.write { try $0.insert("Sample", ["name": "new"]) } }
          == .schemaMismatch
      }
      let first = try open("first", .ifEmpty)
      try await Self.fill(first)
      try Self.makeForeign(first)
      let second = try open("second", .ifEmpty)
      #expect(try Self.collated(second).allSatisfy { $0.collationVersion == "icu 1" })
      #expect(try Self.names(second, Self.byTitle) == "a Ä b B")
      #expect(await isRefused(second))

      let migrating = try open("second", .create)
      for store in [first, second, migrating] {
        try store.catchUp()
        #expect(try Self.collated(store).allSatisfy { $0.collationVersion != "icu 1" })
        #expect(await !isRefused(store))
        #expect(try Store.check(at: store.folder).isClean)
      }
    }
  }

  @Test func openingForWritingRebuildsTheIndexes() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await Self.fill(store)
      let before = try Self.collated(store)
      try Self.makeForeign(store)
      let reader = try Self.openToRead(store)
      #expect(try Self.collated(reader).allSatisfy { $0.collationVersion == "icu 1" })

      let reopened = try openStore(at: store.folder)
      let after = try Self.collated(reopened)
      #expect(after.map(\.generation) == before.map { $0.generation + 1 })
      #expect(after.map(\.collationVersion) == before.map(\.collationVersion))
      var request = Self.byTitle
      request.requiresIndex = true
      for store in [reopened, store, reader] {
        #expect(try Self.names(store, request) == "a Ä b B")
      }
      try await store.write { transaction in
        #expect(try transaction.get("Sample", by: ["label": "1"])?["name"] == "Ä")
        try transaction.insert("Sample", ["name": "new"])
      }
      // It was done once.
      #expect(try Self.collated(openStore(at: store.folder)) == after)
    }
  }

  private static func openToRead(_ store: Store) throws -> Store {
    var options = Store.Options()
    options.isReadOnly = true
    options.mapSize = 1 << 30
    return try Store.open(at: store.folder, options: options)
  }

  @Test func aUniqueIndexWithTextsThatBecameEqualStaysUntilItIsDropped() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await Self.fill(store)
      // Under the collation of long ago, case was of account.
      var label = 0
      try Self.change(store) { schema, _ in
        let indexes = schema.model.indexes
        label = try #require(indexes.firstIndex { $0.name == "byLabel" })
        schema.model.indexes[label].keys[0].collation = .binary
        schema.model.indexes[label].collationVersion = nil
      }
      try await store.write { transaction in
        try transaction.insert("Sample", ["name": "x", "label": "x"])
        try transaction.insert("Sample", ["name": "X", "label": "X"])
      }
      try Self.change(store) { schema, _ in
        schema.model.indexes[label].keys[0].collation = .caseInsensitive
        schema.model.indexes[label].collationVersion = "icu 0"
      }
      try Self.makeForeign(store)

      let reopened = try openStore(at: store.folder)
      for index in try Self.collated(reopened) {
        #expect((index.collationVersion == "icu 1") == (index.name == "byLabel"))
      }
      #expect(await code { try await reopened.write { _ in } } == .schemaMismatch)
      let drop = """
        line: more
        summary: s
        steps:
          - dropIndex: { on: Sample, name: byLabel }
        """
      let migrating = try openStore(
        at: store.folder,
        migrations: [.model, MigrationSource(embedded: [("0001_drop", Array(drop.utf8))])])
      try migrating.migrate()
      try await migrating.write { try $0.insert("Sample", ["name": "new"]) }
    }
  }

  @Test func aLocaleThatThisProgramDoesNotHaveIsForReadingOnly() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await Self.fill(store)
      try Self.change(store) { schema, _ in
        let number = try #require(
          schema.model.indexes.firstIndex { $0.name == "byTitleLocalized" })
        schema.model.indexes[number].keys[0].collation = .localizedStandard("xx")
        schema.model.indexes[number].collationVersion = nil
      }
      let reopened = try openStore(at: store.folder)
      #expect(try Self.names(reopened, Self.byTitle) == "a Ä b B")
      #expect(try !Self.names(reopened, FetchRequest(entityName: "Sample")).isEmpty)
      #expect(await code { try await reopened.write { _ in } } == .schemaMismatch)
      #expect(try Store.check(at: store.folder).isClean)
    }
  }

  @Test func aStoreOfANewerProgramIsNotChanged() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("s")
      let grown = try openStore(at: path, migrations: [.grownModel])
      try Self.makeForeign(grown)
      let old = try openStore(at: path)
      #expect(try Self.collated(old).allSatisfy { $0.collationVersion == "icu 1" })
      #expect(await code { try await old.write { _ in } } == .newerSchema)
    }
  }
}
