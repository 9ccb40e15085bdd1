import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

@Suite struct HistoryTests {
  private static let walks = MigrationSource(embedded: [
    (
      "0001_walks",
      Array(
        """
        line: walks
        summary: Dogs, their walks and their friends
        steps:
          - createEntity:
              name: Dog
              attributes:
                - { name: name, type: string, keepHistory: true }
                - { name: age, type: int64, default: 0 }
                - { name: notes, type: data, optional: true }
          - createEntity:
              name: Walk
              attributes: [ { name: place, type: string, optional: true } ]
          - createEntity:
              name: Silent
              history: false
              attributes: [ { name: word, type: string } ]
          - createRelationship: { on: Dog, name: friends, to: Dog, many: true, inverse: { name: friends } }
          - createRelationship: { on: Walk, name: dog, to: Dog, inverse: { name: walks, many: true, deleteRule: cascade } }
        """.utf8)
    )
  ])

  private static let retention = MigrationSource(embedded: [
    (
      "0001_bounds",
      Array(
        """
        line: bounds
        summary: A small history
        steps:
          - retainHistory: { days: 1, megabytes: 1, consumerDays: 2, consumerMegabytes: 2 }
        """.utf8)
    )
  ])

  @Test func eachWriteIsOneTransactionWithItsChangesAuthorAndTime() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let start = try store.historyToken()
      #expect(start.sequence == 0)
      let dog = try await store.write(author: "ui") { transaction in
        try transaction.insert("Dog", ["name": "Fido"])
      }
      temporary.clock.advance(by: 5)
      try await store.write { try $0.update(dog) { try $0.set("age", to: .int64(3)) } }
      try await store.write(author: "sync") { transaction in
        try transaction.update(dog) {
          try $0.set("name", to: "Rex")
          try $0.set("age", to: .int64(3))
        }
      }
      try await store.write(author: "ui") { try $0.delete(dog) }
      try await store.write { _ in }
      let history = try store.history(after: start)
      #expect(history.map(\.author) == ["ui", nil, "sync", "ui"])
      #expect(history.map { $0.token.sequence } == [1, 2, 3, 4])
      #expect(history[1].date.timeIntervalSince(history[0].date) == 5)
      #expect(history.flatMap(\.changes).map(\.objectID) == [dog, dog, dog, dog])
      #expect(history.flatMap(\.changes).map(\.kind) == [.insert, .update, .update, .delete])
      #expect(
        history.flatMap(\.changes).map(\.changedProperties) == [[], ["age"], ["name"], []])
      #expect(
        history.flatMap(\.changes).map(\.values) == [
          [:], [:], ["name": "Fido"], ["name": "Rex", "age": .int64(3)],
        ])
      #expect(try store.historyToken() == history[3].token)
      #expect(try store.history(after: history[3].token).isEmpty)
      #expect(try store.history(after: history[1].token).count == 2)
      #expect(try store.history(exceptBy: "ui").count == 2)
      #expect(try store.history(limit: 3).count == 3)
      #expect(try store.history(of: ["Walk"]).isEmpty)
    }
  }

  @Test func severalChangesOfARecordInOneWriteComeToOne() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let (old, other) = try await store.write { transaction in
        (
          try transaction.insert("Dog", ["name": "Old"]),
          try transaction.insert("Dog", ["name": "B"])
        )
      }
      let token = try store.historyToken()
      let made = try await store.write { transaction in
        let made = try transaction.insert("Dog", ["name": "New"])
        try transaction.update(made) { try $0.set("age", to: .int64(1)) }
        try transaction.delete(try transaction.insert("Dog", ["name": "Brief"]))
        try transaction.update(old) { try $0.set("name", to: "1") }
        try transaction.update(old) { try $0.set("age", to: .int64(9)) }
        try transaction.update(old) { try $0.set("name", to: "2") }
        try transaction.update(other) { try $0.set("age", to: .int64(4)) }
        try transaction.delete(other)
        return made
      }
      let changes = try #require(try store.history(after: token).first).changes
      #expect(changes.map(\.objectID) == [made, old, other])
      #expect(changes.map(\.kind) == [.insert, .update, .delete])
      #expect(changes[1].changedProperties == ["name", "age"])
      #expect(changes[1].values == ["name": "Old"])
      // The age was replaced without being kept, so that nothing tells what it was before.
      #expect(changes[2].values == ["name": "B"])
    }
  }

  @Test func aWriteThatFailsLeavesNoHistory() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let dog = try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let token = try store.historyToken()
      #expect(
        await code {
          try await store.write { transaction in
            try transaction.insert("Dog", ["name": "Gone"])
            throw StoreError.missing(dog)
          }
        } == .missingRecord)
      try await store.write { transaction in
        // The second friend does not exist, so that the first is taken back.
        let missing = ObjectID(entity: "Dog", number: 999)
        let friend = try transaction.insert("Dog", ["name": "Friend"])
        #expect(throws: StoreError.self) {
          try transaction.addRelated([friend, missing], to: dog, "friends")
        }
      }
      let changes = try store.history(after: token).flatMap(\.changes)
      #expect(changes.map(\.kind) == [.insert])
    }
  }

  @Test func aCallThatIsRefusedAmidItsChangesLeavesNoHistory() async throws {
    let unique = MigrationSource(embedded: [
      (
        "0001_unique",
        Array(
          """
          line: unique
          summary: A dog has one walk
          requires: [walks@1]
          steps: [ { createIndex: { on: Walk, name: byDog, keys: [dog], unique: true, sparse: true } } ]
          """.utf8)
      )
    ])
    try await withTemporaryStore(migrations: [Self.walks, unique]) { temporary in
      let store = temporary.store
      let (dog, walks) = try await store.write { transaction in
        (
          try transaction.insert("Dog", ["name": "Fido"]),
          try (0..<2).map { _ in try transaction.insert("Walk", [:]) }
        )
      }
      let token = try store.historyToken()
      try await store.write { transaction in
        #expect(code { try transaction.addRelated(walks, to: dog, "walks") } == .uniqueViolation)
        try transaction.insert("Dog", ["name": "Other"])
      }
      #expect(try store.history(after: token).flatMap(\.changes).map(\.kind) == [.insert])
    }
  }

  @Test func aLinkIsAChangeOfTheRecordsAtItsEnds() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let (a, b, walk) = try await store.write { transaction in
        let a = try transaction.insert("Dog", ["name": "A"])
        return (
          a, try transaction.insert("Dog", ["name": "B"]),
          try transaction.insert("Walk", ["dog": .int64(a.number)])
        )
      }
      let token = try store.historyToken()
      try await store.write { try $0.addRelated([b], to: a, "friends") }
      try await store.write { try $0.delete(a) }
      let history = try store.history(after: token)
      #expect(Set(history[0].changes.map(\.objectID)) == [a, b])
      #expect(history[0].changes.allSatisfy { $0.changedProperties == ["friends"] })
      let kinds = Dictionary(
        uniqueKeysWithValues: history[1].changes.map { ($0.objectID, $0.kind) })
      #expect(kinds == [a: .delete, b: .update, walk: .delete])
    }
  }

  @Test func anEntityWithoutHistoryAndTheStoresOwnWriteNone() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Silent", ["word": "x"]) }
      try await store.advance(consumer: "c", to: try store.historyToken())
      #expect(try store.historyToken().sequence == 0)
      try await store.write { transaction in
        transaction.recordsHistory = false
        try transaction.insert("Dog", ["name": "Unseen"])
        try transaction.insert("Dog", ["name": "Unseen, too"])
        try transaction.insert("Silent", ["word": "y"])
      }
      let history = try store.history()
      #expect(history.map(\.unrecordedEntities) == [["Dog"]])
      #expect(history[0].changes.isEmpty)
    }
  }

  @Test func aLargeValueIsKeptOnlyWhereItIsMarked() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let name = String(repeating: "n", count: 100_000)
      let dog = try await store.write { transaction in
        try transaction.insert(
          "Dog", ["name": .string(name), "notes": .data(Data(repeating: 7, count: 1_025))])
      }
      let token = try store.historyToken()
      try await store.write { try $0.delete(dog) }
      let change = try #require(try store.history(after: token).first?.changes.first)
      #expect(change.values == ["name": .string(name), "age": .int64(0)])
    }
  }

  @Test func aTransactionOfManyPartsComesBackWhole() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let ids = try await store.write { transaction in
        try (0..<5_000).map { try transaction.insert("Dog", ["name": .string("\($0)")]) }
      }
      let token = try store.historyToken()
      try await store.write { transaction in for id in ids { try transaction.delete(id) } }
      let history = try store.history(after: token)
      #expect(history.count == 1 && history[0].changes.map(\.objectID) == ids)
      #expect(history[0].changes[4_321].values["name"] == "4321")
      let tree = try #require(try store.statistics().trees.first { $0.content == .history })
      #expect(tree.entries > 20)
    }
  }

  @Test func whatWasTakenBackDoesNotHideALaterChangeWithoutHistory() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let dog = try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let walk = try await store.write { try $0.insert("Walk", [:]) }
      let token = try store.historyToken()
      try await store.write { transaction in
        transaction.recordsHistory = false
        let walks = try transaction.catalog.entity("Walk")
        #expect(throws: StoreError.self) {
          try transaction.together { changes in
            try changes.assign([(0, "park")], to: walk.number, in: walks)
            throw StoreError.missing(dog)
          }
        }
        try transaction.update(walk) { try $0.set("place", to: "lake") }
      }
      #expect(try store.history(after: token).map(\.unrecordedEntities) == [["Walk"]])
    }
  }

  @Test func aLinkWithoutHistoryIsAnUnrecordedChangeOfItsEnds() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let (a, b) = try await store.write { transaction in
        (
          try transaction.insert("Dog", ["name": "A"]), try transaction.insert("Dog", ["name": "B"])
        )
      }
      let token = try store.historyToken()
      try await store.write { transaction in
        transaction.recordsHistory = false
        try transaction.addRelated([b], to: a, "friends")
      }
      #expect(try store.history(after: token).map(\.unrecordedEntities) == [["Dog"]])
    }
  }

  @Test func aValueThatCannotBeReadIsLeftOutAndFoundByTheCheck() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [Self.walks])
      let dog = try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let token = try store.historyToken()
      try await store.write { try $0.update(dog) { try $0.set("name", to: "Rex") } }
      let tree = try #require(try store.catalog().historyTree)
      try store.runAlone { transaction in
        try HistoryKey(sequence: 2, part: 0).withBytes { key in
          var bytes = Array(try #require(try transaction.get(tree, key)))
          // The last of "Fido", which no text ends in.
          bytes[bytes.count - 1] = 0xFF
          try bytes.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
        }
      }
      let change = try #require(try store.history(after: token).first?.changes.first)
      #expect(change.changedProperties == ["name"] && change.values.isEmpty)
      #expect(try store.checkIntegrity().problems.map(\.text) == ["it says what cannot be"])
    }
  }

  @Test func aRecordThatIsMadeAgainUnderItsNumberIsOneChange() throws {
    var collection = HistoryCollection(
      header: HistoryTree.Header(sequence: 1, time: 0, author: nil), wanted: nil)
    for kind in [HistoryKind.insert, .delete, .insert, .update] {
      collection.add(HistoryTree.Change(kind: kind, entityID: 1, id: 1))
    }
    collection.add(HistoryTree.Change(kind: .update, entityID: 1, id: 2))
    #expect(collection.objects.map(\.object.id) == [1, 2])
    #expect(collection.objects.map(\.net.kind) == [.insert, .update])
  }

  @Test func aLongAuthorIsStillTheSame() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      // The bound falls into a character.
      let author = "x" + String(repeating: "é", count: 150)
      try await store.write(author: author) { try $0.insert("Dog", ["name": "Fido"]) }
      #expect(try store.history(exceptBy: author).isEmpty)
      let kept = try #require(try store.history().first?.author)
      #expect(author.hasPrefix(kept) && kept.utf8.count == 199)
    }
  }

  @Test func aDamagedRecordThatCannotBeDeletedLeavesTheHistoryReadable() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [Self.walks])
      let dog = try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let tree = try store.catalog().entity("Dog").tree
      let whole = try store.environment.read { transaction in
        try RecordKey.with(dog.number) { Array(try #require(try transaction.get(tree, $0))) }
      }
      for place in whole.indices {
        for bit in [UInt8(1), 4, 128] {
          var bytes = whole
          bytes[place] ^= bit
          let damaged = bytes
          try store.runAlone { transaction in
            try RecordKey.with(dog.number) { key in
              try damaged.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
            }
          }
          try await store.write { transaction in
            let puppy = try transaction.insert("Dog", ["name": "Puppy"])
            do { try transaction.delete(dog) } catch let error as StoreError {
              #expect(error.code == .damaged)
            }
            try transaction.delete(puppy)
            try transaction.insert("Walk", [:])
          }
          let changes = try #require(try store.history().last).changes
          #expect(changes.contains { $0.objectID.entity == "Walk" })
          #expect(changes.allSatisfy { $0.objectID.entity == "Walk" || $0.objectID == dog })
        }
      }
    }
  }

  @Test func theLastNumberThereIsIsNoPlace() throws {
    #expect(HistoryKey(sequence: .max, part: 0).withBytes { HistoryKey($0) } == nil)
    let token = HistoryToken(storeID: UUID(), sequence: .max, mark: 0)
    #expect(code { _ = try HistoryToken(token.description) } == .invalidToken)
  }

  // MARK: Tokens

  @Test func aTokenIsCodableAndBoundToItsStore() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let token = try store.historyToken()
      let data = try JSONEncoder().encode([token])
      #expect(try JSONDecoder().decode([HistoryToken].self, from: data) == [token])
      #expect(try HistoryToken(token.description) == token)
      let other = try openStore(at: temporary.folder.path("other"), migrations: [Self.walks])
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

  @Test func theTokenOfAWriteIsOfThePlaceBeforeIt() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
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
    try await withTemporaryStore(migrations: [Self.walks, Self.retention]) { temporary in
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

  @Test func aMillionChangesWithASlowConsumerStayWithinTheBound() async throws {
    try await withTemporaryStore(migrations: [Self.walks, Self.retention]) { temporary in
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
    try await withTemporaryStore(migrations: [Self.walks, Self.retention]) { temporary in
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
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      let store = temporary.store
      let token = try store.historyToken()
      for number in 0..<Limits.historyConsumersMax {
        try await store.advance(consumer: "c\(number)", to: token)
      }
      #expect(
        await code { try await store.advance(consumer: "more", to: token) } == .invalidRequest)
      try await store.advance(consumer: "c1", to: token)
    }
  }

  // MARK: Settings and damage

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
    try await withTemporaryStore(migrations: [Self.walks, change]) { temporary in
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
      let store = try openStore(at: folder.path("store"), migrations: [Self.walks])
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

  @Test func aDamagedHistoryKeepsNobodyFromWriting() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
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
    }
  }

  @Test func aPlaceBeforeWhatWasLostIsNotReadOnFrom() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [Self.walks])
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

  @Test func aNegativeLimitIsRefused() async throws {
    try await withTemporaryStore(migrations: [Self.walks]) { temporary in
      #expect(code { _ = try temporary.store.history(limit: -1) } == .invalidRequest)
    }
  }
}
