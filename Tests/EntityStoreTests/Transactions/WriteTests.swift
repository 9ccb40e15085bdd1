import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore

@Suite struct WriteTests {
  struct Refused: Error {}

  @Test func newRecordsFillTheirPages() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      for _ in 0..<3 {
        try await store.write { transaction in
          for _ in 0..<1_000 { try transaction.insert("Wide", [:]) }
        }
      }
      try store.read { transaction in
        let tree = try transaction.layout("Wide").tree
        let first = try #require(
          try RecordKey.with(1) { try transaction.transaction.get(tree, $0) })
        // Of a page of 4,096 bytes the header takes 16, and each node has 8, its key and a place of
        // 2.
        let node = (8 + 8 + first.count + 1) / 2 * 2 + 2
        let perPage = (4_096 - 16) / node
        let pages = try transaction.transaction.statistics(tree).leafPages
        #expect(pages == (3_000 + perPage - 1) / perPage)
      }
    }
  }

  /// Holds the writer queue until several writes wait, so that they share a commit.
  @Test func anErrorInOneOfSeveralGroupedWritesHarmsNoOther() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let before = try store.environment.information().lastTransactionID
      let gate = DispatchSemaphore(value: 0)
      let results = await withTaskGroup(of: (Int, Bool).self) { group in
        group.addTask {
          await (-1, Self.succeeds { try await store.write { _ in gate.wait() } })
        }
        for number in 0..<20 {
          group.addTask {
            let succeeded = await Self.succeeds {
              try await store.write { transaction in
                try transaction.insert("Sample", ["name": .string("n\(number)"), "rank": 5])
                if number % 3 == 0 { throw Refused() }
                if number % 3 == 1 {
                  try transaction.insert("Sample", ["name": .string("n\(number)")])
                }
              }
            }
            return (number, succeeded)
          }
        }
        // All of them have been handed over once nothing else is left to run.
        for _ in 0..<200 { await Task.yield() }
        gate.signal()
        var results: [Int: Bool] = [:]
        for await (number, succeeded) in group { results[number] = succeeded }
        return results
      }
      for number in 0..<20 { #expect(results[number] == (number % 3 == 2)) }
      let names = try store.fetch(
        FetchRequest(entityName: "Sample", predicate: .comparison("rank", .equal, 5)))
      #expect(
        Set(names.map { $0.values[0].text })
          == Set((0..<20).filter { $0 % 3 == 2 }.map { "n\($0)" }))
      #expect(
        try store.environment.information().lastTransactionID - before < 21,
        "no writes shared a commit")
    }
  }

  private static func succeeds(_ body: () async throws -> Void) async -> Bool {
    do {
      try await body()
      return true
    } catch {
      return false
    }
  }

  /// The buffers of a transaction are used again by the next one.
  @Test func nothingOfATransactionIsInTheNextOne() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      for number in 0..<40 {
        try? await store.write { transaction in
          for copy in 0..<(number % 7 == 3 ? 900 : 3) {
            try transaction.insert(
              "Sample", ["name": .string("n\(number).\(copy)"), "rank": .int64(Int64(number))])
          }
          if number % 3 == 1 { throw Refused() }
        }
        let stored = (0...number).filter { $0 % 3 != 1 }.reduce(0) { $0 + ($1 % 7 == 3 ? 900 : 3) }
        #expect(try store.read { try $0.count(of: "Sample") } == stored)
        let ranked = try store.fetch(
          FetchRequest(
            entityName: "Sample", predicate: .comparison("rank", .equal, .int64(Int64(number)))))
        #expect(ranked.count == (number % 3 == 1 ? 0 : number % 7 == 3 ? 900 : 3))
      }
    }
  }

  @Test func anIdentityIsNeverUsedAgain() async throws {
    try await withTemporaryFolder { folder in
      var seen: Set<Int64> = []
      for _ in 0..<4 {
        let store = try openStore(at: folder.path("store"))
        for _ in 0..<3 {
          let id = try await store.write { try $0.insert("Sample", ["name": "only"]) }
          #expect(seen.insert(id.number).inserted, "\(id.number) was used again")
          try await store.write { _ = try $0.delete(id) }
        }
        _ = await code { try await store.write { _ = try $0.insert("Sample", [:]) } }
        try requireClean(store)
      }
    }
  }

  @Test func aTransactionContinuesAfterEveryKindOfRefusal() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        let a = try transaction.insert("Sample", ["name": "a", "code": 1, "isOpen": true])
        let b = try transaction.insert("Sample", ["name": "b", "code": 1, "isOpen": false])
        #expect(code { try transaction.insert("Sample", ["name": "a"]) } == .uniqueViolation)
        #expect(
          code { try transaction.update(b) { try $0.set("isOpen", to: true) } } == .uniqueViolation)
        // Both at once: neither index may keep anything of it.
        #expect(
          code {
            try transaction.update(b) {
              try $0.set("rank", to: 9)
              try $0.set("name", to: "c")
              try $0.set("isOpen", to: true)
            }
          } == .uniqueViolation)
        #expect(try transaction.get("Sample", by: ["name": "c"]) == nil)
        #expect(try transaction.get("Sample", by: ["name": "b"])?.id == b)
        let missing = ObjectID(entity: "Sample", number: 999)
        #expect(code { try transaction.update(missing) { _ in } } == .missingRecord)
        #expect(try transaction.delete(missing) == false)
        #expect(code { try transaction.insert("None", [:]) } == .unknownEntity)
        #expect(
          code { try transaction.update(a) { try $0.set("none", to: 1) } } == .unknownAttribute)
        // The values change places only by way of a third.
        try transaction.update(a) { try $0.set("name", to: "c") }
        try transaction.update(b) { try $0.set("name", to: "a") }
        try transaction.update(a) { try $0.set("name", to: "b") }
      }
      let names = try temporary.store.fetch(
        FetchRequest(entityName: "Sample", sortBy: [SortKey("name")]))
      #expect(names.map(\.id.number) == [2, 1])
    }
  }

  @Test func aValueThatBreaksARuleIsRefused() async throws {
    // Not as arguments of the test: Foundation traps when it prints a date that is no number.
    let refused: [(String, Value)] = [
      ("name", .null), ("name", 1), ("rank", .null), ("rank", 1.0), ("score", .double(.nan)),
      ("price", .decimal(.nan)), ("dueAt", .date(Date(timeIntervalSinceReferenceDate: .nan))),
      ("state", .null), ("state", 1), ("kind", "small"), ("tags", "a"), ("link", "https://a"),
    ]
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        let id = try transaction.insert("Sample", ["name": "b"])
        for (attribute, value) in refused {
          let values = ["name": "a"].merging([attribute: value]) { _, new in new }
          #expect(code { try transaction.insert("Sample", values) } == .validation, "\(attribute)")
          #expect(
            code { try transaction.update(id) { try $0.set(attribute, to: value) } } == .validation,
            "\(attribute)")
        }
      }
    }
  }

  @Test func unknownRawValuesOfEnumerationsAreKept() async throws {
    try await withTemporaryStore { temporary in
      let id = try await temporary.store.write {
        try $0.insert("Sample", ["name": "a", "kind": 77, "state": "paused"])
      }
      let record = try #require(try temporary.store.read { try $0.get(id) })
      #expect(try record["kind"] == 77)
      #expect(try record["state"] == "paused")
    }
  }

  @Test func aChangeOfNormalizationIsAChange() async throws {
    try await withTemporaryStore { temporary in
      let id = try await temporary.store.write {
        try $0.insert("Sample", ["name": "a", "title": "caf\u{e9}"])
      }
      try await temporary.store.write {
        try $0.update(id) { try $0.set("title", to: "cafe\u{301}") }
      }
      let record = try #require(try temporary.store.read { try $0.get(id) })
      #expect(Array(try record["title"].text.utf8) == Array("cafe\u{301}".utf8))
    }
  }

  @Test func anUpsertFindsByEveryAttributeOfTheIndexOrInserts() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        let a = try transaction.upsert("Sample", ["name": "a", "rank": 1], by: ["name"])
        #expect(try transaction.upsert("Sample", ["name": "a", "rank": 2], by: ["name"]) == a)
        #expect(try transaction.get(a)?.values[1] == 2)
        let pair: [String: Value] = ["name": "b", "code": 7, "isOpen": true]
        let b = try transaction.upsert("Sample", pair, by: ["isOpen", "code"])
        #expect(b != a)
        let renamed = pair.merging(["name": "c"]) { _, new in new }
        #expect(try transaction.upsert("Sample", renamed, by: ["code", "isOpen"]) == b)
        #expect(try transaction.get(b)?.values[0] == "c")
        // A sparse unique index has no record with null: that is an insert.
        let c = try transaction.upsert(
          "Sample", ["name": "d", "code": 7], by: ["code", "isOpen"])
        #expect(![a, b].contains(c))
        #expect(
          code { try transaction.upsert("Sample", ["rank": 1], by: ["rank"]) } == .invalidRequest)
        #expect(
          code { try transaction.upsert("Sample", ["code": 1], by: ["code"]) } == .invalidRequest)
        #expect(try transaction.upsert("Sample", ["name": "a"], by: ["name", "name"]) == a)
      }
    }
  }

  @Test func theRecordOfAnotherIdentityIsNotWrittenInItsPlace() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let a = try await store.write { try $0.insert("Sample", ["name": "a"]) }
      let wide = try await store.write { try $0.insert("Wide", ["a": "w"]) }
      #expect(
        await code {
          try await store.write { transaction in
            let other = try #require(try transaction.get(wide))
            try transaction.update(a) { $0 = other }
          }
        } == .invalidRequest)
      let record = try #require(try store.read { try $0.get(a) })
      #expect(try record["name"] == "a")
    }
  }
}
