import EntityModel
import Foundation
import Migrations
import TestSupport
import Testing

@testable import EntityStore

/// Fetches by texts that are longer than a key: the record has the last word.
@Suite struct CutTextTests {
  private static let long = String(repeating: "x", count: 600)

  private func names(_ records: [Record]) throws -> [String] {
    try records.map { try $0["name"].text.replacing(Self.long, with: "…") }
  }

  @Test func aUniqueIndexGivesCutTextsInTheirOrder() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for end in ["c", "a", "d", "b", ""] {
          try transaction.insert("Sample", ["name": .string(Self.long + end)])
        }
      }
      for descending in [false, true] {
        let request = FetchRequest(
          entityName: "Sample", sortBy: [SortKey("name", descending: descending)],
          requiresIndex: true)
        let expected = ["…", "…a", "…b", "…c", "…d"]
        #expect(
          try names(temporary.store.fetch(request)) == (descending ? expected.reversed() : expected)
        )
      }
    }
  }

  @Test func whatFollowsACutTextDoesNotDisturbItsOrder() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        // The ranks are against the order of the titles, and the bytes hold only the ranks.
        for (rank, end) in ["c", "b", "a", "b"].enumerated() {
          try transaction.insert(
            "Sample",
            [
              "name": .string("\(end)\(rank)"), "rank": .int64(Int64(-rank)),
              "title": .string(Self.long + end),
            ])
        }
      }
      let up = [SortKey("title"), SortKey("rank", descending: true)]
      let down = [SortKey("title", descending: true), SortKey("rank")]
      for (sort, expected) in [(up, ["a2", "b1", "b3", "c0"]), (down, ["c0", "b3", "b1", "a2"])] {
        let request = FetchRequest(entityName: "Sample", sortBy: sort, requiresIndex: true)
        #expect(try names(temporary.store.fetch(request)) == expected)
      }
    }
  }

  @Test("A range of a unique index finds texts around the cut", arguments: 478...506)
  func rangeAroundTheCut(length: Int) async throws {
    try await withTemporaryStore { temporary in
      let texts = [-1, 0, 1].map { String(repeating: "y", count: length + $0) }
      try await temporary.store.write { transaction in
        for text in texts { try transaction.insert("Sample", ["name": .string(text)]) }
      }
      for (comparison, expected) in [
        (ComparisonOperator.greaterOrEqual, [length, length + 1]), (.greater, [length + 1]),
        (.lessOrEqual, [length - 1, length]), (.less, [length - 1]), (.equal, [length]),
      ] {
        let request = FetchRequest(
          entityName: "Sample", predicate: .comparison("name", comparison, .string(texts[1])),
          sortBy: [SortKey("name")], requiresIndex: true)
        let found = try temporary.store.fetch(request).map { try $0["name"].text.count }
        #expect(found == expected, "\(comparison.rawValue)")
        #expect(try temporary.store.read { try $0.count(request) } == expected.count)
      }
    }
  }

  @Test func aCutUniqueValueIsFoundAndKeptUnique() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        let a = try transaction.insert("Sample", ["name": .string(Self.long + "a")])
        let b = try transaction.insert("Sample", ["name": .string(Self.long + "b")])
        #expect(try transaction.get("Sample", by: ["name": .string(Self.long + "a")])?.id == a)
        #expect(try transaction.get("Sample", by: ["name": .string(Self.long + "b")])?.id == b)
        #expect(try transaction.get("Sample", by: ["name": .string(Self.long + "c")]) == nil)
        #expect(throws: StoreError.self) {
          try transaction.insert("Sample", ["name": .string(Self.long + "a")])
        }
      }
    }
  }

  @Test func theRestOfAListDoesNotOrderCutTexts() async throws {
    let schema = """
      line: cut
      summary: Texts after an element of a list
      steps:
        - createEntity:
            name: Note
            attributes: [{ name: tags, type: strings }, { name: title, type: string }]
        - createIndex: { on: Note, name: byTag, keys: [tags, title] }
      """
    let source = MigrationSource(embedded: [("0001_cut", Array(schema.utf8))])
    try await withTemporaryStore(migrations: [source]) { temporary in
      try await temporary.store.write { transaction in
        // The order of the lists is against that of the titles.
        for (tags, end) in [(["a"], "c"), (["a", "b"], "b"), (["a", "c"], "a")] {
          try transaction.insert(
            "Note", ["tags": .strings(tags), "title": .string(Self.long + end)])
        }
      }
      let request = FetchRequest(
        entityName: "Note", predicate: .comparison("tags", .contains, "a"),
        sortBy: [SortKey("title")], requiresIndex: true)
      let titles = try temporary.store.fetch(request).map { try $0["title"].text.suffix(1) }
      #expect(titles == ["a", "b", "c"])
    }
  }
}
