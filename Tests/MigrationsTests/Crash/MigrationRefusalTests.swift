import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Migrations that fail because of a record, and migrations whose file is corrected after they have
/// begun; and the writes that are possible in between.
@Suite(.timeLimit(.minutes(10))) struct MigrationRefusalTests {
  /// Steps that one record of the store refuses.
  static let refused: [String] = [
    "retypeAttribute: { on: Item, name: code, type: int64 }",
    "changeAttribute: { on: Item, name: size, max: 9000 }",
    "createIndex: { on: Item, name: new, keys: [code], unique: true }",
    "derive: { on: Item, name: half, type: int64, from: \"size / 2\", max: 4000 }",
    "assert: { on: Item, where: \"size > 9000\", count: 0 }",
  ]

  @Test(arguments: refused)
  func aRefusedStepLeavesTheStoreUnchanged(step: String) async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      let other = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
      try await other.write { transaction in
        for number in 0..<60 {
          let code = number == 40 ? "x" : "\(number)"
          try transaction.insert(
            "Item", ["code": .string(code), "size": number == 40 ? 9_999 : .int64(Int64(number))])
        }
        try transaction.insert("Item", ["code": "x1", "size": 3])
        try transaction.update(ObjectID(entity: "Item", number: 61)) { record in
          try record.set("code", to: step.contains("unique") ? "x" : "61")
        }
      }
      let before = try other.read { try StoreDigest.lines(in: $0) }
      let store = try MigrationBench.open(path, [.items, Self.more(step)])
      for _ in 0..<2 {
        let error = code { try store.migrate(MigrationScenario.options()) }
        #expect(error == (step.contains("unique") ? .uniqueViolation : .validation))
        #expect(try store.read { try StoreDigest.lines(in: $0) } == before)
        try MigrationBench.requireNoLeftovers(store)
      }
      try await other.write { transaction in
        try transaction.update(ObjectID(entity: "Item", number: 41)) { record in
          try record.set("code", to: "40")
          try record.set("size", to: 40)
        }
      }
      #expect(try store.migrate(MigrationScenario.options()).migrations.count == 1)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  /// The records that it has updated are committed and must not be updated again.
  @Test func aRefusedUpdateResumesWithTheRecordThatCausedIt() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      let other = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
      let store = try MigrationBench.open(
        path,
        [
          .items,
          Self.more(
            "changeAttribute: { on: Item, name: size, max: 1500 }",
            "updateRows: { on: Item, set: { size: { expression: \"size + 1000\" } } }"),
        ])
      try await other.write { transaction in
        for number in 0..<50 {
          let size: Int64 = number == 30 ? 900 : Int64(number)
          try transaction.insert("Item", ["code": .string("\(number)"), "size": .int64(size)])
        }
      }
      #expect(code { try store.migrate(MigrationScenario.options()) } == .validation)
      #expect(try store.migrationState().running?.lastError != nil)
      try store.changeSchema { schemaTransaction in
        try schemaTransaction.scope(author: nil) { transaction in
          try transaction.update(ObjectID(entity: "Item", number: 31)) {
            try $0.set("size", to: 30)
          }
        }
      }
      #expect(try store.migrate(MigrationScenario.options()).migrations.count == 1)
      let sizes = try store.read { transaction in
        try transaction.fetch(FetchRequest(entityName: "Item")).map { try $0["size"] }
      }
      #expect(sizes == (0..<50).map { .int64(Int64(1_000 + $0)) })
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func aStepThatIsCorrectedAfterAnInterruptionStartsAgain() async throws {
    try await withTemporaryFolder { folder in
      func more(_ factor: Int) -> MigrationSource {
        Self.more("derive: { on: Item, name: twice, type: int64, from: \"size * \(factor)\" }")
      }
      for stop in [1, 30, ItemChanges.items - 1] {
        let path = folder.path("store \(stop)")
        let other = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
        try await ItemChanges(seed: 5).prepare(other)
        let wrong = try MigrationBench.open(path, [.items, more(3)])
        try Self.interrupt(wrong, after: stop)
        let right = try MigrationBench.open(path, [.items, more(2)])
        #expect(try right.migrate(MigrationScenario.options()).migrations.count == 1)
        try MigrationBench.requireNoLeftovers(right)
        try right.read { transaction in
          for record in try transaction.fetch(FetchRequest(entityName: "Item")) {
            guard case .int64(let size) = try record["size"] else { continue }
            #expect(try record["twice"] == .int64(size * 2))
          }
        }
      }
    }
  }

  /// The unfinished index must be removed, although the corrected step builds none.
  @Test(arguments: [
    ["addAttribute: { to: Item, name: twice, type: int64, default: 2 }"], [],
    ["createIndex: { on: Item, name: newest, keys: [size, code] }"],
  ])
  func aStepThatIsReplacedAfterAnInterruptionLeavesNoTrace(instead: [String]) async throws {
    try await withTemporaryFolder { folder in
      let first = "renameAttribute: { on: Item, name: group, to: kind }"
      for stop in [1, 30, ItemChanges.items - 1] {
        let path = folder.path("store \(stop)")
        let other = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
        try await ItemChanges(seed: 7).prepare(other)
        let wrong = try MigrationBench.open(
          path,
          [
            .items,
            Self.more(
              first, "derive: { on: Item, name: twice, type: int64, from: \"size * 3\" }"),
          ])
        try Self.interrupt(wrong, after: stop)
        let right = try MigrationBench.open(
          path, [.items, MigrationSource(embedded: [("0001_more", Self.text([first] + instead))])])
        #expect(try right.migrate(MigrationScenario.options()).migrations.count == 1)
        try MigrationBench.requireNoLeftovers(right)
      }
    }
  }

  @Test func openingMayApplyWhatIsPending() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      _ = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
      let sources = [MigrationSource.items, Self.more("dropIndex: { on: Item, name: bySize }")]
      let pending = try MigrationBench.open(path, sources, migrate: .ifEmpty)
      #expect(try pending.migrationState().pending.count == 1)
      let store = try MigrationBench.open(path, sources, migrate: .pending)
      #expect(try store.migrationState().pending.isEmpty)
    }
  }

  @Test func programsWithoutTheMigrationWriteWhileItRuns() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      let other = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
      try await ItemChanges(seed: 6).prepare(other)
      let first = Self.more("createIndex: { on: Item, name: new, keys: [code] }")
      let older = try MigrationBench.open(path, [.items, first])
      try older.migrate()
      let newer = try MigrationBench.open(
        path,
        [
          .items,
          MigrationSource(embedded: [
            ("0001_more", Self.text("createIndex: { on: Item, name: new, keys: [code] }")),
            (
              "0002_more",
              Self.text(
                "derive: { on: Item, name: twice, type: int64, from: \"size * 2\" }",
                "createIndex: { on: Item, name: newest, keys: [size, code] }")
            ),
          ]),
        ])
      try Self.interrupt(newer, after: 30)
      // Of another line, and of the same one before this migration: nothing of it is done yet.
      for store in [other, older] {
        try await store.write { try $0.insert("Item", ["code": "late", "size": 7]) }
      }
      #expect(await code { try await newer.write { _ in } } == .needsMigration)
      // The first step is done then.
      try Self.interrupt(newer, after: 60)
      #expect(try newer.migrationState().running?.doneChecksums.count == 1)
      try await other.write {
        try $0.insert("Item", ["code": "later", "size": 7, "twice": 14])
      }
      #expect(await code { try await older.write { _ in } } == .newerSchema)
      #expect(try newer.migrate(MigrationScenario.options()).migrations.count == 1)
      try MigrationBench.requireNoLeftovers(newer)
      try newer.read { transaction in
        let late = FetchRequest(
          entityName: "Item", predicate: .comparison("size", .equal, 7),
          sortBy: [SortKey("code", descending: true)], fetchLimit: 3, requiresIndex: false)
        let values = try transaction.fetch(late).map { try $0["twice"] }
        #expect(values == [14, 14, 14])
      }
    }
  }

  /// The catalog of another store, or process, must not go on with what it knew.
  @Test func aMigrationThatOnlyAssertsIsSeenByOthersAsApplied() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      let sources = [MigrationSource.items, Self.more("assert: { on: Item, atMost: 100 }")]
      _ = try MigrationBench.open(path, [.items], migrate: .ifEmpty)
      let one = try MigrationBench.open(path, sources)
      let another = try MigrationBench.open(path, sources)
      #expect(await code { try await another.write { _ in } } == .needsMigration)
      #expect(try one.migrate().migrations.count == 1)
      #expect(try another.migrationState().pending.isEmpty)
      try await another.write { try $0.insert("Item", ["code": "a", "size": 1]) }
    }
  }

  // MARK: Parts

  private static func text(_ steps: String...) -> [UInt8] { text(steps) }

  private static func text(_ steps: [String]) -> [UInt8] {
    let lines = ["line: more", "summary: s", "requires: [items@1]", "steps:"]
    return Array(((lines + steps.map { "  - \($0)" }).joined(separator: "\n") + "\n").utf8)
  }

  private static func more(_ steps: String...) -> MigrationSource {
    MigrationSource(embedded: [("0001_more", text(steps))])
  }

  /// Runs a migration for a number of commits.
  private static func interrupt(_ store: Store, after commits: Int) throws {
    let count = Locked(0)
    var options = MigrationScenario.options()
    options.progress = { _ in count.withLock { $0 += 1 } }
    options.isCancelled = { count.withLock { $0 >= commits } }
    #expect(throws: CancellationError.self) { try store.migrate(options) }
  }
}
