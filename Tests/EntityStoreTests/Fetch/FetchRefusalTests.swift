import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Invalid requests and edge cases.
@Suite struct FetchRefusalTests {
  @Test func aPredicateWithNotANumberIsRefused() async throws {
    let values: [(String, Value)] = [
      ("score", .double(.nan)), ("price", .decimal(.nan)),
      ("dueAt", .date(Date(timeIntervalSinceReferenceDate: .nan))),
    ]
    try await withTemporaryStore { temporary in
      for (attribute, value) in values {
        for comparison in [ComparisonOperator.equal, .less, .greaterOrEqual] {
          let request = FetchRequest(
            entityName: "Sample", predicate: .comparison(attribute, comparison, value))
          #expect(code { try temporary.store.fetch(request) } == .invalidRequest, "\(attribute)")
        }
      }
    }
  }

  @Test func aConstantIsReadInTheKindOfItsAttribute() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        _ = try transaction.insert(
          "Sample",
          [
            "name": "a", "score": 2.0, "price": .decimal(3), "kind": 2,
            "dueAt": .date(Date(timeIntervalSinceReferenceDate: 0)),
            "link": .url(URL(string: "https://a.example/")!),
          ])
      }
      let matching: [(String, Value)] = [
        ("score", 2), ("price", 3), ("price", "3.0"), ("kind", "large"), ("kind", 2),
        ("dueAt", "2001-01-01T00:00:00Z"), ("link", "https://a.example/"), ("state", "fresh"),
      ]
      for (name, value) in matching {
        let request = FetchRequest(
          entityName: "Sample", predicate: .comparison(name, .equal, value))
        #expect(try temporary.store.fetch(request).count == 1, "\(name) == \(value)")
      }
      let refused: [(String, Value)] = [
        ("score", "2"), ("name", 2), ("rank", "1"), ("dueAt", "yesterday"), ("kind", "huge"),
        ("isOpen", 2), ("tags", "a"),
      ]
      for (name, value) in refused {
        let request = FetchRequest(
          entityName: "Sample", predicate: .comparison(name, .equal, value))
        #expect(
          code { try temporary.store.fetch(request) } == .invalidRequest, "\(name) == \(value)")
      }
    }
  }

  @Test func namesThatTheSchemaLacksAreRefused() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      #expect(code { try store.fetch(FetchRequest(entityName: "None")) } == .unknownEntity)
      for request in [
        FetchRequest(entityName: "Sample", predicate: .isNull("none")),
        FetchRequest(entityName: "Sample", predicate: .or([.not(.isNull("none"))])),
        FetchRequest(entityName: "Sample", sortBy: [SortKey("none")]),
      ] {
        #expect(code { try store.fetch(request) } == .unknownAttribute)
      }
    }
  }

  @Test func windowsOfEverySizeAreAnswered() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for number in 0..<5 {
          try transaction.insert("Sample", ["name": .string("n\(number)"), "rank": 1])
        }
      }
      for sort in [[], [SortKey("rank")], [SortKey("note")]] {
        for predicate in [nil, FetchPredicate.comparison("rank", .notEqual, 7)] {
          for limit in [nil, 1, 4, 5, 6, Int.max - 1, Int.max] {
            for offset in [0, 1, 5, 6, Int.max] {
              let request = FetchRequest(
                entityName: "Sample", predicate: predicate, sortBy: sort, fetchLimit: limit,
                fetchOffset: offset)
              let expected = min(max(0, 5 - min(offset, 5)), limit ?? 5)
              #expect(try temporary.store.fetch(request).count == expected)
              #expect(try temporary.store.read { try $0.count(request) } == expected)
            }
          }
        }
      }
      for request in [
        FetchRequest(entityName: "Sample", fetchLimit: -1),
        FetchRequest(entityName: "Sample", fetchLimit: 0),
        FetchRequest(entityName: "Sample", fetchOffset: -1),
      ] {
        #expect(code { try temporary.store.fetch(request) } == .invalidRequest)
      }
    }
  }

  @Test func aFetchThatNoIndexServesIsRefusedWhereOneIsRequired() async throws {
    try await withTemporaryStore { temporary in
      for request in [
        FetchRequest(entityName: "Sample", requiresIndex: true),
        FetchRequest(entityName: "Sample", predicate: .isNull("note"), requiresIndex: true),
        FetchRequest(entityName: "Sample", sortBy: [SortKey("dueAt")], requiresIndex: true),
        FetchRequest(
          entityName: "Sample", sortBy: [SortKey("rank"), SortKey("name")], requiresIndex: true),
      ] {
        #expect(code { try temporary.store.fetch(request) } == .requiresIndex)
      }
      let served = FetchRequest(
        entityName: "Sample", sortBy: [SortKey("rank", descending: true)], requiresIndex: true)
      let found = try temporary.store.fetch(served)
      #expect(found.isEmpty)
    }
  }

  @Test func aListIsFoundByNoUniqueIndex() async throws {
    try await withTemporaryStore(migrations: [.model, Self.uniqueTags]) { temporary in
      #expect(
        code {
          try temporary.store.read { try $0.get("Sample", by: ["tags": .strings(["a"])]) }
        } == .invalidRequest)
    }
  }

  @Test func aUniqueLookupByNotANumberIsRefused() async throws {
    try await withTemporaryStore(migrations: [.model, Self.uniqueTags]) { temporary in
      #expect(
        code { try temporary.store.read { try $0.get("Sample", by: ["price": .decimal(.nan)]) } }
          == .validation)
    }
  }

  static let uniqueTags = MigrationSource(embedded: [
    (
      "0001_unique",
      Array(
        """
        line: more
        summary: Unique indexes on a list and a decimal
        requires: [model@1]
        steps:
          - createIndex: { on: Sample, name: oneTag, keys: [tags], unique: true }
          - createIndex: { on: Sample, name: onePrice, keys: [price], unique: true, sparse: true }
        """.utf8)
    )
  ])
}
