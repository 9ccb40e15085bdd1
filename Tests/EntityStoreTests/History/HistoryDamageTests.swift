import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Changed settings and damage of the history.
@Suite struct HistoryDamageTests {
  @Test func aMigrationSwitchesTheHistory() async throws {
    let change = MigrationSource(embedded: [
      (
        "0001_change",
        Array(
          """
          line: change
          summary: Silence
          requires: [walks@1]
          steps:
            - setHistory: { on: Dog, values: [age] }
            - setHistory: { on: Walk, keep: false }
          """.utf8)
      )
    ])
    try await withTemporaryStore(migrations: [HistoryMigrations.walks, change]) { temporary in
      let store = temporary.store
      let dog = try await store.write { transaction in
        try transaction.insert("Walk", [:])
        return try transaction.insert("Dog", ["name": "Fido"])
      }
      try await store.write { transaction in
        try transaction.update(dog) {
          try $0.set("name", to: "Rex")
          try $0.set("age", to: .int64(7))
        }
      }
      let changes = try store.history().flatMap(\.changes)
      #expect(changes.map(\.objectID) == [dog, dog])
      #expect(changes[1].changedProperties == ["name", "age"])
      #expect(changes[1].values == ["age": .int64(0)])
    }
  }

  @Test func damagedHistoryIsAnErrorAndFoundByTheCheck() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [HistoryMigrations.walks])
      for number in 0..<3 {
        try await store.write { try $0.insert("Dog", ["name": .string("\(number)")]) }
      }
      let tree = try #require(try store.catalog().historyTree)
      let whole = try store.environment.read { transaction in
        try HistoryKey(sequence: 2, part: 0).withBytes {
          Array(try #require(try transaction.get(tree, $0)))
        }
      }
      var random = SeededRandom(seed: testSeed(4))
      for round in 0..<200 {
        var bytes = whole
        if round % 2 == 0 {
          bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        } else {
          let place = Int.random(in: bytes.indices, using: &random)
          bytes[place] ^= UInt8.random(in: 1...255, using: &random)
        }
        let damaged = bytes
        try store.runAlone { transaction in
          try HistoryKey(sequence: 2, part: 0).withBytes { key in
            try damaged.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
          }
        }
        // No damage ends the process; what can be read may say something else.
        do { _ = try store.history() } catch let error as StoreError {
          #expect(error.code == .damaged)
        }
        _ = try store.checkIntegrity()
      }
      try store.runAlone { transaction in
        try HistoryKey(sequence: 2, part: 0).withBytes {
          try transaction.put(tree, key: $0, value: UnsafeRawBufferPointer(start: nil, count: 0))
        }
      }
      #expect(code { _ = try store.history() } == .damaged)
      #expect(try store.checkIntegrity().problems.map(\.text) == ["it is unreadable"])
      try store.runAlone { transaction in
        _ = try HistoryKey(sequence: 2, part: 0).withBytes { try transaction.delete(tree, key: $0) }
      }
      #expect(
        try store.checkIntegrity().problems.map(\.text) == ["what comes before it is missing"])
    }
  }

  /// Puts something else in the place of a part, or nothing.
  private static func replacePart(
    _ sequence: Int64, _ part: UInt32 = 0, of store: Store, with bytes: [UInt8]?
  ) throws {
    let tree = try #require(try store.catalog().historyTree)
    try store.runAlone { transaction in
      try HistoryKey(sequence: sequence, part: part).withBytes { key in
        guard let bytes else { return _ = try transaction.delete(tree, key: key) }
        try bytes.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
      }
    }
  }

  @Test func aDamagedHistoryDoesNotPreventWrites() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "First"]) }
      let token = try store.historyToken()
      try await store.advance(consumer: "slow", to: token)
      try await store.write { try $0.insert("Dog", ["name": "Second"]) }
      try Self.replacePart(1, of: store, with: [9, 9, 9])
      try await store.write { try $0.insert("Dog", ["name": "Third"]) }
      // What was unreadable has gone, and what the consumer needs has not.
      #expect(try store.history().map { $0.token.sequence } == [2, 3])
      #expect(try store.history(after: token).count == 2)
      #expect(try store.checkIntegrity().historyTransactions == 2)
    }
  }

  @Test func aTokenBeforeALossIsRefused() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [HistoryMigrations.walks])
      try await store.write { try $0.insert("Dog", ["name": "First"]) }
      let token = try store.historyToken()
      try await store.write { transaction in
        for number in 0..<2_000 { try transaction.insert("Dog", ["name": .string("\(number)")]) }
      }
      try await store.write { try $0.insert("Dog", ["name": "Last"]) }
      let tree = try #require(try store.catalog().historyTree)
      #expect(try store.read { try $0.transaction.count(tree) } > 4)
      try Self.replacePart(2, 0, of: store, with: nil)
      #expect(code { _ = try store.history(after: token) } == .damaged)
      try Self.replacePart(2, 1, of: store, with: nil)
      #expect(code { _ = try store.history(after: token) } == .damaged)
      #expect(code { _ = try store.history() } == .damaged)
    }
  }

  @Test func aLimitBelowOneIsRefused() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
      for limit in [-1, 0] {
        #expect(code { _ = try temporary.store.history(limit: limit) } == .invalidRequest)
      }
    }
  }
}
