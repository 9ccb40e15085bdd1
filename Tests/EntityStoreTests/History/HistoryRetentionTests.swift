import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Tokens, and the bounds that remove old transactions.
@Suite struct HistoryRetentionTests {
  // MARK: Tokens

  @Test func aTokenIsCodableAndBoundToItsStore() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let token = try store.historyToken()
      let data = try JSONEncoder().encode([token])
      #expect(try JSONDecoder().decode([HistoryToken].self, from: data) == [token])
      #expect(try HistoryToken(token.description) == token)
      let other = try openStore(
        at: temporary.folder.path("other"), migrations: [HistoryMigrations.walks])
      #expect(code { _ = try other.history(after: token) } == .invalidToken)
      let ahead = HistoryToken(storeID: token.storeID, sequence: 2, mark: 0)
      #expect(code { _ = try store.history(after: ahead) } == .invalidToken)
      let replaced = HistoryToken(storeID: token.storeID, sequence: 1, mark: token.mark &+ 1)
      #expect(code { _ = try store.history(after: replaced) } == .invalidToken)
      #expect(
        await code { try await store.advance(consumer: "x", to: replaced) } == .invalidToken)
    }
  }

  @Test func aCorruptTokenIsRefusedWhereverItIsCorrupt() throws {
    let text = HistoryToken(storeID: UUID(), sequence: 77, mark: -5).description
    #expect(text.count == 56)
    for position in text.indices {
      for wrong in ["A", "z", "-", "=", "é"] where text[position...].first != wrong.first {
        let damaged = text[..<position] + wrong + text[text.index(after: position)...]
        #expect(code { _ = try HistoryToken(String(damaged)) } == .invalidToken, "\(damaged)")
      }
    }
    for wrong in ["", "x", String(text.dropLast()), text + "A", String(text.reversed())] {
      #expect(code { _ = try HistoryToken(wrong) } == .invalidToken)
    }
    #expect(throws: StoreError.self) {
      try JSONDecoder().decode([HistoryToken].self, from: Data("[\"abc\"]".utf8))
    }
  }

  @Test func theTokenOfAWriteIsThePositionBeforeIt() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
      let store = temporary.store
      // So long that the history is written before the transaction ends.
      let name = String(repeating: "n", count: 5 << 20)
      let dog = try await store.write { try $0.insert("Dog", ["name": .string(name)]) }
      let before = try store.historyToken()
      let token = try await store.write { transaction in
        try transaction.update(dog) { try $0.set("name", to: "Fido") }
        #expect(transaction.scratch.history.partsWritten > 0)
        #expect(try transaction.history(after: before).isEmpty)
        return try transaction.historyToken()
      }
      #expect(token == before)
      #expect(try store.history(after: token).count == 1)
    }
  }

  // MARK: Retention

  /// Writes transactions of many changes each.
  private static func fill(_ store: Store, transactions: Int, changes: Int) async throws {
    for number in 0..<transactions {
      try await store.write { transaction in
        let dog = try transaction.catalog.entity("Dog")
        for change in 0..<changes {
          let id = Int64(number * changes + change) * 1_000
          try transaction.scratch.history.add(old: nil, new: nil, id: id, in: dog)
        }
      }
    }
  }

  private static func historyBytes(_ store: Store) throws -> Int {
    try #require(try store.statistics().trees.first { $0.content == .history }).bytes
  }

  @Test func ageAndSizeBoundTheHistory() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks, HistoryMigrations.retention])
    { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "First"]) }
      let first = try store.historyToken()
      temporary.clock.advance(by: 20 * 3_600)
      try await store.write { try $0.insert("Dog", ["name": "Second"]) }
      #expect(try store.history(after: first).count == 1)
      temporary.clock.advance(by: 10 * 3_600)
      try await store.write { try $0.insert("Dog", ["name": "Third"]) }
      #expect(try store.history().count == 2)
      temporary.clock.advance(by: 365 * 86_400)
      // The newest stays, however old.
      #expect(try store.history().count == 2)
      try await store.write { try $0.insert("Dog", ["name": "Fourth"]) }
      #expect(try store.history().count == 1)
      let error = #expect(throws: StoreError.self) { _ = try store.history(after: first) }
      #expect(error?.code == .expiredToken)
      #expect(error?.description.contains("fetch everything") == true)

      try await Self.fill(store, transactions: 300, changes: 2_000)
      let bytes = try Self.historyBytes(store)
      #expect(bytes > 900_000 && bytes < (1 << 20) + 20_000, "\(bytes)")
    }
  }

  @Test func aConsumerThatHasReadWhatWasDroppedHasNotExpired() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks, HistoryMigrations.retention])
    { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "First"]) }
      let first = try store.historyToken()
      try await store.write { try $0.insert("Dog", ["name": "Second"]) }
      try await store.advance(consumer: "current", to: store.historyToken())
      try await store.advance(consumer: "late", to: first)
      temporary.clock.advance(by: 365 * 86_400)
      try await store.write { try $0.insert("Dog", ["name": "Third"]) }
      try #require(try store.history().count == 1)
      let consumers = try store.read { try $0.historyConsumers() }
      #expect(consumers.map(\.name) == ["current", "late"])
      #expect(consumers.map(\.isExpired) == [false, true])
      #expect(consumers.map(\.unread) == [1, 2])
    }
  }

  @Test func aMillionChangesWithASlowConsumerStayWithinTheBound() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks, HistoryMigrations.retention])
    { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "First"]) }
      let start = try store.historyToken()
      try await store.advance(consumer: "slow", to: start)
      try await Self.fill(store, transactions: 100, changes: 4_000)
      // More than others would be left.
      #expect(try Self.historyBytes(store) > 1 << 20)
      #expect(try store.history(after: start).count == 100)
      var largest = 0
      for _ in 0..<6 {
        try await Self.fill(store, transactions: 25, changes: 4_000)
        largest = max(largest, try Self.historyBytes(store))
      }
      #expect(largest < (2 << 20) + 40_000, "\(largest)")
      let consumer = try #require(try store.read { try $0.historyConsumers() }.first)
      #expect(consumer.isExpired && consumer.token == start && consumer.unread == 250)
      #expect(code { _ = try store.history(after: start) } == .expiredToken)
      // One that has expired holds nothing back any more.
      try await Self.fill(store, transactions: 200, changes: 100)
      #expect(try Self.historyBytes(store) < (1 << 20) + 40_000)
      try await store.advance(consumer: "slow", to: try store.historyToken())
      #expect(try store.read { try $0.historyConsumers() }.first?.isExpired == false)
    }
  }

  @Test func theSlowestConsumerDecidesUntilItIsRemoved() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks, HistoryMigrations.retention])
    { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "First"]) }
      let start = try store.historyToken()
      try await store.advance(consumer: "slow", to: start)
      temporary.clock.advance(by: 30 * 3_600)
      try await store.write { try $0.insert("Dog", ["name": "Second"]) }
      try await store.advance(consumer: "fast", to: try store.historyToken())
      temporary.clock.advance(by: 15 * 3_600)
      try await store.write { try $0.insert("Dog", ["name": "Third"]) }
      #expect(try store.history(after: start).count == 2)
      #expect(try await store.write { try $0.removeConsumer("slow") })
      #expect(!(try await store.write { try $0.removeConsumer("slow") }))
      temporary.clock.advance(by: 15 * 3_600)
      try await store.write { try $0.insert("Dog", ["name": "Fourth"]) }
      #expect(code { _ = try store.history(after: start) } == .expiredToken)
      #expect(try store.read { try $0.historyToken(of: "fast")?.sequence } == 2)
      #expect(try store.read { try $0.historyToken(of: "slow") } == nil)
    }
  }

  @Test func consumersAreBounded() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
      let store = temporary.store
      let token = try store.historyToken()
      for number in 0..<StoreLimits.historyConsumersMax {
        try await store.advance(consumer: "c\(number)", to: token)
      }
      #expect(
        await code { try await store.advance(consumer: "more", to: token) } == .invalidRequest)
      try await store.advance(consumer: "c1", to: token)
    }
  }
}
