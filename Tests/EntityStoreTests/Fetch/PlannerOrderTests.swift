import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

/// Orders that result from merging several ranges.
@Suite struct PlannerOrderTests {
  @Test func recordsThatAgreeInTheSortKeyComeByIdentityWhateverTheirRange() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for number in 0..<12 {
          try transaction.insert(
            "Sample",
            [
              "name": .string("n\(number)"), "kind": .int64(Int64(number % 2) + 1),
              "score": .double(Double(number % 3)),
            ])
        }
      }
      // The index byKind (kind, score desc) has a range for each pair of values.
      let request = FetchRequest(
        entityName: "Sample",
        predicate: .isIn("kind", [1, 2]) && .isIn("score", [0.0, 1.0, 2.0]),
        sortBy: [SortKey("kind")])
      let found = try temporary.store.read { try $0.fetchIdentifiers(request).map(\.number) }
      #expect(found == [1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12])
    }
  }

  @Test func mergedRangesOfCutTextsComeInTheOrderOfTheTexts() async throws {
    try await withTemporaryStore { temporary in
      let long = String(repeating: "x", count: 600)
      try await temporary.store.write { transaction in
        // What stands before the title is of other lengths, so that the keys are cut elsewhere.
        for (number, text) in [long + "b", long + "a", long + "d", long + "c"].enumerated() {
          try transaction.insert(
            "Sample",
            [
              "name": .string("n\(number)"), "price": .decimal(number % 2 == 0 ? 1 : 1.23456789),
              "title": .string(text), "state": "fresh",
            ])
        }
      }
      let prices: [Value] = [.decimal(1), .decimal(1.23456789)]
      for isDescending in [false, true] {
        let request = FetchRequest(
          entityName: "Sample", predicate: .isIn("price", prices),
          sortBy: [
            SortKey("title", descending: isDescending), SortKey("state", descending: isDescending),
          ], requiresIndex: true)
        let plan = try temporary.store.read { try $0.explain(request) }
        #expect(plan.kinds.contains(.mergedRanges), "\(plan)")
        let found = try temporary.store.read { try $0.fetchIdentifiers(request).map(\.number) }
        #expect(found == (isDescending ? [3, 4, 1, 2] : [2, 1, 4, 3]))
      }
    }
  }

  @Test func aSparseIndexIsNotSkippedThroughForRecordsItDoesNotHave() async throws {
    let sparse = MigrationSource(embedded: [
      (
        "0001_sparse",
        Array(
          """
          line: sparse
          summary: A sparse index whose first part may be null
          requires: [model@1]
          steps:
            - createIndex: { on: Sample, name: byKindAndNote, keys: [kind, note], sparse: true }
          """.utf8)
      )
    ])
    try await withTemporaryStore(migrations: [.model, sparse]) { temporary in
      try await temporary.store.write { transaction in
        for number in 0..<400 {
          try transaction.insert(
            "Sample",
            [
              "name": .string("n\(number)"), "kind": number % 4 == 0 ? .null : 1,
              "note": number % 40 == 0 ? "wanted" : "other",
            ])
        }
      }
      let request = FetchRequest(
        entityName: "Sample", predicate: .comparison("note", .equal, "wanted"))
      #expect(try temporary.store.fetch(request).count == 10)
    }
  }

  @Test func aPredicateIsMatchedWithinTheTimeThatItHas() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        try transaction.insert("Sample", ["name": .string(String(repeating: "a", count: 60) + "!")])
      }
      let request = FetchRequest(
        entityName: "Sample", predicate: .comparison("name", .matches, "(a|aa)+$"))
      #expect(throws: StoreError.self) { try temporary.store.fetch(request) }
    }
  }
}
