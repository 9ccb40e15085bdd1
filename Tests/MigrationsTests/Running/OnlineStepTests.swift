import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Long steps with concurrent writes between their chunks, and interruptions: the result equals
/// that of the step in one transaction after all writes.
@Suite(.timeLimit(.minutes(10))) struct OnlineStepTests {
  static let items = """
    line: items
    summary: Items
    steps:
      - createEntity:
          name: Item
          attributes:
            - { name: code, type: string }
            - { name: size, type: int64 }
            - { name: group, type: string, optional: true }
            - { name: tags, type: strings, default: [] }
      - createIndex: { on: Item, name: bySize, keys: [size desc] }
      - createIndex: { on: Item, name: byGroup, keys: [group, size], sparse: true }
    """

  /// Steps, each on its own.
  static let steps: [String] = [
    "createIndex: { on: Item, name: new, keys: [group, code desc] }",
    "createIndex: { on: Item, name: new, keys: [tags, size], sparse: true }",
    "createIndex: { on: Item, name: new, keys: [code localized] }",
    "changeIndex: { on: Item, name: bySize, keys: [group, size desc] }",
    "retypeAttribute: { on: Item, name: size, type: string }",
    "retypeAttribute: { on: Item, name: size, type: double }",
    "derive: { on: Item, name: twice, type: int64, from: \"size * 2\" }",
    "changeAttribute: { on: Item, name: group, optional: false, backfill: none }",
    "changeAttribute: { on: Item, name: size, min: -1000 }",
    "runCode: { on: Item, name: reverse, revision: 1, changes: [code, size] }",
    "createIndex: { on: Item, name: new, keys: [group, size], unique: true, onViolation: quarantine }",
    "createIndex: { on: Item, name: new, keys: [size], unique: true, onViolation: keepNewest, destructive: true }",
    "createIndex: { on: Item, name: new, keys: [size], unique: true, onViolation: keepOldest, destructive: true }",
  ]

  static let codes = [
    MigrationCode("reverse", revision: 1) { record in
      if case .string(let code) = try record["code"] {
        try record.set("code", to: .string(String(code.reversed())))
      }
      if case .int64(let size) = try record["size"] { try record.set("size", to: .int64(-size)) }
    }
  ]

  @Test(arguments: steps, isThorough ? [1, 2, 3, 4, 5] : [1] as [UInt64])
  func aStepInChunksHasTheResultOfTheSameStepInOneTransaction(step: String, seed: UInt64) throws {
    let seed = testSeed(seed)
    var random = SeededRandom(seed: seed)
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      let other = try open(path, [Self.items])
      _ = try change(other, &random, inserts: 200, updates: 0, deletes: 0)
      let store = try open(path, [Self.items, Self.next(step)])
      var options = MigrationOptions()
      options.allowsDestructive = true
      options.backsUp = false
      options.recordsAtOnceMax = 0
      options.chunkDuration = .zero
      options.sortMemory = 4_096
      let writes = Locked(
        (random: SeededRandom(seed: seed + 1_000), left: 120, failure: Optional<String>.none))
      options.progress = { [self] _ in
        writes.withLock { state in
          guard state.left > 0, Int.random(in: 0..<2, using: &state.random) == 0 else { return }
          state.left -= 1
          do {
            _ = try change(other, &state.random, inserts: 2, updates: 4, deletes: 1)
          } catch {
            state.failure = "\(error)"
          }
        }
      }
      let interruptions = Locked((random: SeededRandom(seed: seed + 2_000), left: 10))
      options.isCancelled = {
        interruptions.withLock { state in
          guard state.left > 0, Int.random(in: 0..<20, using: &state.random) == 0 else {
            return false
          }
          state.left -= 1
          return true
        }
      }
      var migrated = false
      while !migrated {
        do {
          migrated = try store.migrate(options).migrations.count == 1
        } catch is CancellationError {
          continue
        }
      }
      #expect(writes.withLock { $0.failure } == nil)
      #expect(try store.catalog().build == nil && store.catalog().running == nil)
      try requireClean(store)
      try requireWholePages(store)
      #expect(try store.migrate(options).migrations.isEmpty)
      #expect(
        try store.catalog().schema.entity(named: "Item")?.attributes.allSatisfy { !$0.isHidden }
          ?? false)
      #expect(writes.withLock { $0.left } < 120)
    }
  }

  private static func next(_ step: String) -> String {
    "line: more\nsummary: s\nrequires: [items@1]\nsteps:\n  - \(step)\n"
  }

  private func open(_ path: String, _ files: [String]) throws -> Store {
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    return try Store.open(
      at: path,
      migrations: files.map { MigrationSource(embedded: [("0001_m", Array($0.utf8))]) }
        + [.code(Self.codes)],
      migrate: .ifEmpty, options: options)
  }

  private func change(
    _ store: Store, _ random: inout SeededRandom, inserts: Int, updates: Int, deletes: Int
  ) throws -> Int {
    var generator = random
    defer { random = generator }
    return try store.changeSchema { schemaTransaction in
      try schemaTransaction.scope(author: "other") { transaction in
        let names = Set(transaction.schema.entity(named: "Item")?.attributes.map(\.name) ?? [])
        func values() -> [String: Value] {
          let size = Int64.random(in: 0..<200, using: &generator)
          let all: [String: Value] = [
            "code": .string("c\(Int.random(in: 0..<1_000, using: &generator))"),
            "size": .int64(size),
            "group": Bool.random(using: &generator)
              ? .null : .string("g\(Int.random(in: 0..<5, using: &generator))"),
            "tags": .strings((0..<Int.random(in: 0..<3, using: &generator)).map { "t\($0)" }),
          ]
          return all.filter { names.contains($0.key) }
        }
        var changed = 0
        for _ in 0..<inserts {
          try transaction.insert("Item", values())
          changed += 1
        }
        var ids: [Int64] = []
        try transaction.eachRow(of: transaction.layout("Item")) {
          ids.append($0.id)
          return true
        }
        ids.shuffle(using: &generator)
        for id in ids.prefix(updates) {
          let values = values()
          try transaction.update(ObjectID(entity: "Item", number: id)) { record in
            for (name, value) in values { try record.set(name, to: value) }
          }
          changed += 1
        }
        for id in ids.dropFirst(updates).prefix(deletes) {
          try transaction.delete(ObjectID(entity: "Item", number: id))
        }
        return changed
      }
    }
  }
}
