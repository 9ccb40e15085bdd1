import EntityModel
import Maintenance
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Migrations of a store with indexes that were set aside and cannot be built.
@Suite(.timeLimit(.minutes(10))) struct LoadObstacleTests {
  @Test func aMigrationDropsAnIndexThatCannotBeBuilt() async throws {
    try await withObstacle { store in
      #expect(code { try store.buildDeferredIndexes() } == .invalidRequest)
      #expect(code { try store.migrate() } == .invalidRequest)
      // Opening leaves it as it is, and applies what another entity needs.
      let opened = try Self.open(
        store, ["createEntity: { name: Box, attributes: [{ name: size, type: int64 }] }"])
      #expect(try opened.schema.entity(named: "Box") != nil)
      #expect(try opened.deferredIndexes().map(\.index).sorted() == LoadPlan.deferredIndexes)
      try requireClean(opened)
      // After that index is dropped, the others are built, and the next step finds them.
      let dropped = try Self.open(
        store,
        ["createEntity: { name: Box, attributes: [{ name: size, type: int64 }] }"],
        [
          "dropIndex: { on: Item, name: byName }",
          "createIndex: { on: Item, name: bySizeUp, keys: [size] }",
        ])
      #expect(try dropped.deferredIndexes().isEmpty)
      let names = try #require(try dropped.schema.entity(named: "Item")).indexes.map(\.name)
      #expect(names.contains("bySize") && names.contains("bySizeUp"))
      #expect(!names.contains("byName"))
      #expect(try dropped.read { try LoadPlan.problems(in: $0) }.isEmpty)
      try requireClean(dropped)
      #expect(try dropped.catalog().build == nil && dropped.catalog().running == nil)
    }
  }

  @Test func aBaselineSeesIndexesThatAreSetAside() async throws {
    try await withObstacle { store in
      let file = """
        line: former
        summary: What the items had before
        requires: [goods@1]
        steps:
          - createIndex: { on: Item, name: bySize, keys: [size desc] }
        """
      let opened = try openStore(
        at: store.folder,
        migrations: [
          LoadPlan.source, MigrationSource(embedded: [("0001_former", Array(file.utf8))]),
        ], migrate: .never)
      #expect(try opened.deferredIndexes().count == LoadPlan.deferredIndexes.count)
      #expect(try opened.baseline("former", to: 1).map(\.line) == ["former"])
      try requireClean(opened)
    }
  }

  @Test func aStepOnAnEntityWithSuchIndexesIsRefused() async throws {
    try await withObstacle { store in
      let attribute = "addAttribute: { to: Item, name: note, type: string, optional: true }"
      #expect(code { try Self.open(store, [attribute]) } == .invalidRequest)
      let sameName = "createIndex: { on: Item, name: byName, keys: [size] }"
      #expect(code { try Self.open(store, [sameName]) } == .migration)
      let needed = "renameAttribute: { on: Item, name: group, to: kind }"
      #expect(code { try Self.open(store, [needed]) } == .invalidRequest)
      #expect(try store.deferredIndexes().map(\.index).sorted() == LoadPlan.deferredIndexes)
      try requireClean(store)
    }
  }

  /// Runs a closure with a store whose load was interrupted, and one of whose indexes has a
  /// collation that is not known.
  private func withObstacle(_ body: (Store) async throws -> Void) async throws {
    try await withGoods { store in
      try await interruptWhileInserting(store)
      try changeDeferredIndexes(of: store) { index in
        if index.name == "byName" { index.keys[0].collation = .localizedStandard("xx") }
      }
      try store.catalogs.refresh()
      try await body(store)
    }
  }

  /// Opens the store with migrations that have the given steps, and applies them.
  @discardableResult
  private static func open(_ store: Store, _ migrations: [String]...) throws -> Store {
    let files = migrations.enumerated().map { number, steps in
      let text = """
        line: more
        summary: More of the items
        requires: [goods@1]
        steps:

        """ + steps.map { "  - \($0)\n" }.joined()
      return ("000\(number + 1)_more", Array(text.utf8))
    }
    return try openStore(
      at: store.folder, migrations: [LoadPlan.source, MigrationSource(embedded: files)],
      migrate: .pending)
  }
}
