import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Partially applied migrations, and the requests that other programs send in between.
@Suite struct RunningMigrationTests {
  private static let items = """
    line: items
    summary: Items
    steps:
      - createEntity: { name: Item, attributes: [{ name: size, type: int64 }] }
      - createEntity: { name: Empty, attributes: [{ name: size, type: int64 }] }
      - createIndex: { on: Item, name: bySize, keys: [size] }
    """
  private static let byItemSize = "createIndex: { on: Item, name: again, keys: [size desc] }"
  private static let other = "createEntity: { name: Other, attributes: [{ name: a, type: int64 }] }"

  private static func file(_ line: String, requires: String = "items@1", _ rest: String) -> String {
    "line: \(line)\nsummary: s\nrequires: [\(requires)]\n\(rest)\n"
  }

  private func open(
    _ folder: String, _ items: [String], _ others: String...
  ) throws -> Store {
    func source(_ texts: [String]) -> MigrationSource {
      MigrationSource(
        embedded: texts.enumerated().map { ("000\($0 + 1)_m", Array($1.utf8)) })
    }
    return try openStore(
      at: folder, migrations: [source(items)] + others.map { source([$0]) }, migrate: .ifEmpty)
  }

  /// Options by which a step is long, and the run ends as soon as one has begun.
  private func interrupted() -> MigrationOptions {
    var options = MigrationScenario.options()
    options.backsUp = false
    let hasBegun = Locked(false)
    options.progress = { _ in hasBegun.withLock { $0 = true } }
    options.isCancelled = { hasBegun.withLock { $0 } }
    return options
  }

  private func fill(_ folder: String) async throws {
    try await open(folder, [Self.items]).write { transaction in
      for size in 0..<5 { try transaction.insert("Item", ["size": .int64(Int64(size))]) }
    }
  }

  @Test func nothingElseIsAppliedBeforeIt() async throws {
    try await withTemporaryFolder { temporary in
      let folder = temporary.path("s")
      try await fill(folder)
      let second = Self.file("items", "steps:\n  - \(Self.byItemSize)")
      let store = try open(
        folder, [Self.items, second], Self.file("other", "steps:\n  - \(Self.other)"))
      #expect(throws: CancellationError.self) { try store.migrate(interrupted()) }
      var options = MigrationOptions()
      options.targets = ["items": 1]
      #expect(code { try store.migrate(options) } == .migration)
      #expect(code { try store.baseline("items", to: 2) } == .migration)
      #expect(try store.migrationState().running?.version == 2)
      #expect(try store.migrate().migrations.count == 2)
      #expect(try store.migrationState().running == nil)
      try requireClean(store)
    }
  }

  @Test func nothingElseIsRolledBackBeforeIt() async throws {
    try await withTemporaryFolder { temporary in
      let folder = temporary.path("s")
      try await fill(folder)
      let second = Self.file(
        "items",
        "steps:\n  - dropIndex: { on: Item, name: bySize }\n"
          + "down:\n  - createIndex: { on: Item, name: bySize, keys: [size] }")
      let other = Self.file(
        "other",
        "steps:\n  - \(Self.other)\ndown:\n  - dropEntity: { name: Other, destructive: true }")
      let store = try open(folder, [Self.items, second], other)
      try store.migrate()
      #expect(throws: CancellationError.self) {
        try store.migrateDown("items", to: 1, interrupted())
      }
      var options = MigrationScenario.options()
      options.backsUp = false
      #expect(code { try store.migrateDown("other", to: 0, options) } == .migration)
      #expect(code { try store.migrateDown("items", to: 2, options) } == .migration)
      #expect(try store.migrationState().running?.isDown == true)
      #expect(try store.migrateDown("items", to: 1, options).migrations.count == 1)
      #expect(try store.migrateDown("other", to: 0, options).migrations.count == 1)
      try requireClean(store)
    }
  }

  @Test func aTargetLeavesOutWhatRequiresMore() async throws {
    try await withTemporaryFolder { temporary in
      let folder = temporary.path("s")
      try await fill(folder)
      let second = Self.file("items", "steps:\n  - \(Self.byItemSize)")
      let other = Self.file("other", requires: "items@2", "steps:\n  - \(Self.other)")
      let store = try open(folder, [Self.items, second], other)
      var options = MigrationOptions()
      options.targets = ["items": 1]
      #expect(try store.migrate(options).migrations.isEmpty)
      #expect(try store.migrate().migrations.map(\.line) == ["items", "other"])
      try requireClean(store)
    }
  }

  @Test func aCorrectedStepMayTakeTheIdOfWhatIsDiscarded() async throws {
    try await withTemporaryFolder { temporary in
      let folder = temporary.path("s")
      try await fill(folder)
      let second = Self.file("items", "steps:\n  - \(Self.byItemSize)")
      let store = try open(folder, [Self.items, second])
      #expect(throws: CancellationError.self) { try store.migrate(interrupted()) }
      let corrected = second.replacing("on: Item", with: "on: Empty")
      let again = try open(folder, [Self.items, corrected])
      #expect(try again.migrate().migrations.count == 1)
      try await again.write { try $0.insert("Empty", ["size": .int64(1)]) }
      try requireClean(again)
    }
  }

  @Test func onlyMigrationsWithAppliedRequirementsAreRecordedWithoutBeingRun() async throws {
    try await withTemporaryFolder { temporary in
      let folder = temporary.path("s")
      try await fill(folder)
      // As if the index came from a line that had another name.
      let made = Self.file(
        "made", "steps:\n  - createIndex: { on: Item, name: bySize, keys: [size] }")
      let standing = Self.file(
        "standing", requires: "made@1",
        "steps:\n  - dropIndex: "
          + "{ on: Item, name: bySize }")
      let lacking = Self.file("lacking", "steps:\n  - \(Self.other)")
      let store = try open(folder, [Self.items], made, standing, lacking)
      #expect(code { try store.baseline("standing", to: 1) } == .migration)
      #expect(code { try store.baseline("lacking", to: 1) } == .migration)
      #expect(code { try store.baseline("made", to: 2) } == .migration)
      #expect(try store.baseline("made", to: 1).map(\.isBaseline) == [true])
      #expect(try store.baseline("standing", to: 1).count == 1)
      #expect(try store.migrationState().pending.map(\.line) == ["lacking"])
      #expect(try store.schema.entity(named: "Item")?.index(named: "bySize") != nil)
      try requireClean(store)
    }
  }
}
