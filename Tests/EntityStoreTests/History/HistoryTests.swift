import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

@Suite struct HistoryTests {
  @Test func eachWriteIsOneTransactionWithItsChangesAuthorAndTime() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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

  @Test func theLastChangesOfARecordAreSearchedUpToTheBounds() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
      let store = temporary.store
      let dog = try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      try await store.write(author: "ui") { transaction in
        try transaction.update(dog) { try $0.set("age", to: .int64(3)) }
      }
      for _ in 0..<3 {
        try await store.write { transaction in
          for name in ["A", "B"] { _ = try transaction.insert("Dog", ["name": .string(name)]) }
        }
      }
      try store.read { transaction in
        func search(_ transactions: Int, _ changes: Int) throws -> RecordHistory {
          try transaction.lastChanges(
            of: dog, transactionsMax: transactions, changesMax: changes)
        }
        let all = try search(100, 100)
        #expect(all.transactions == 5)
        #expect(all.changes.map(\.change.kind) == [.update, .insert])
        #expect(all.changes.map(\.author) == ["ui", nil])
        #expect(all.changes.first?.change.changedProperties == ["age"])
        #expect(try search(4, 100).changes.map(\.change.kind) == [.update])
        #expect(try search(3, 100).changes.isEmpty)
        // Five changes are reached within the third transaction from the end.
        let few = try search(100, 5)
        #expect(few.transactions == 3 && few.changes.isEmpty)
      }
    }
  }

  @Test func severalChangesOfARecordInOneWriteBecomeOne() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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

  @Test func aCallThatFailsHalfwayLeavesNoHistory() async throws {
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks, unique]) { temporary in
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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

  @Test func aTransactionOfManyPartsIsReadBackComplete() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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

  @Test func aRevertedChangeDoesNotHideALaterChangeWithoutHistory() async throws {
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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
      let store = try openStore(at: folder.path("store"), migrations: [HistoryMigrations.walks])
      let dog = try await store.write { try $0.insert("Dog", ["name": "Fido"]) }
      let token = try store.historyToken()
      try await store.write { try $0.update(dog) { try $0.set("name", to: "Rex") } }
      let tree = try #require(try store.catalog().historyTree)
      try store.runAlone { transaction in
        try HistoryKey(sequence: 2, part: 0).withBytes { key in
          var bytes = Array(try #require(try transaction.get(tree, key)))
          // The last of "Fido", which no text ends in.
          bytes[bytes.count - 1 - HistorySeal.byteCount] = 0xFF
          try bytes.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
        }
      }
      let change = try #require(try store.history(after: token).first?.changes.first)
      #expect(change.changedProperties == ["name"] && change.values.isEmpty)
      #expect(try store.checkIntegrity().problems.map(\.text) == ["it says what cannot be"])
    }
  }

  @Test func aRecordThatIsInsertedAgainUnderItsIdIsOneChange() throws {
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
    try await withTemporaryStore(migrations: [HistoryMigrations.walks]) { temporary in
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
      let store = try openStore(at: folder.path("store"), migrations: [HistoryMigrations.walks])
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

  @Test func theLargestSequenceNumberIsNoPosition() throws {
    #expect(HistoryKey(sequence: .max, part: 0).withBytes { HistoryKey($0) } == nil)
    let token = HistoryToken(storeID: UUID(), sequence: .max, mark: 0)
    #expect(code { _ = try HistoryToken(token.description) } == .invalidToken)
  }
}
