import Foundation
import TestSupport
import Testing

/// The output of `mooring fetch --explain` for each kind of plan.
@Suite struct FetchExplainTests {
  private struct Case: Sendable {
    let arguments: [String]
    let kinds: [String]
    /// The lines between the first and the last without those of rejected indexes.
    let lines: [String]
    let statistics: String
  }

  private static let cases = [
    Case(
      arguments: ["--where", "type == 3", "--sort", "updatedAt:desc", "--limit", "1"],
      kinds: ["indexRange"],
      lines: [
        "index byType (type, updatedAt desc)", "range type == 3",
        "sort updatedAt desc, by the access", "limit 1",
      ], statistics: "read 1 entry, 1 record; returned 1 row"),
    Case(
      arguments: ["--where", "type IN {1, 3}", "--sort", "type,updatedAt:desc", "--limit", "2"],
      kinds: ["severalRanges"],
      lines: [
        "index byType (type, updatedAt desc)", "range type IN {1, 3} (2 ranges)",
        "sort type, updatedAt desc, by the access", "limit 2",
      ], statistics: "read 2 entries, 2 records; returned 2 rows"),
    Case(
      arguments: ["--where", "type IN {1, 3}", "--sort", "updatedAt:desc", "--limit", "1"],
      kinds: ["mergedRanges"],
      lines: [
        "index byType (type, updatedAt desc)", "range type IN {1, 3} (2 ranges, merged)",
        "sort updatedAt desc, by the access", "limit 1",
      ], statistics: "read 3 entries, 1 record; returned 1 row"),
    Case(
      arguments: ["--where", "duration > 300", "--sort", "duration:desc"],
      kinds: ["filter", "scan", "sortInMemory"],
      lines: ["scan every record", "filter duration > 300", "sort duration desc, in memory"],
      statistics: "read 0 entries, 5 records; returned 2 rows"),
    Case(
      arguments: ["--count"], kinds: ["countOnly"], lines: ["the count of all records"],
      statistics: "read 0 entries, 0 records; returned 5 rows"),
    Case(
      arguments: ["--aggregate", "min:updatedAt,max:updatedAt"],
      kinds: ["endOfIndex", "groups", "indexRange"],
      lines: [
        "index byUpdate (updatedAt desc), backward", "range updatedAt != nil",
        "first and last entries only",
      ], statistics: "read 2 entries, 0 records; returned 1 row"),
    Case(
      arguments: ["--group-by", "duration", "--aggregate", "n=count:*"],
      kinds: ["groups", "scan"], lines: ["scan every record", "group by duration"],
      statistics: "read 0 entries, 5 records; returned 5 rows"),
    Case(
      arguments: ["--where", "FALSEPREDICATE", "--ids"], kinds: ["nothing"],
      lines: ["nothing: the predicate is never true"],
      statistics: "read 0 entries, 0 records; returned 0 rows"),
    Case(
      arguments: ["--where", "SELF IN {OBJECT \"Episode/2\"}", "--ids"], kinds: ["identifiers"],
      lines: ["records by identity"], statistics: "read 0 entries, 1 record; returned 1 row"),
    Case(
      arguments: ["--where", "type == 2", "--sort", "updatedAt:desc", "--limit", "1", "--ids"],
      kinds: ["indexOnly", "indexRange"],
      lines: [
        "index byType (type, updatedAt desc)", "range type == 2",
        "from the index alone", "sort updatedAt desc, by the access", "limit 1",
      ], statistics: "read 1 entry, 0 records; returned 1 row"),
  ]

  @Test(arguments: cases.indices)
  func eachKindOfPlanIsExplained(_ number: Int) throws {
    let known = Self.cases[number]
    try withSampleStore { store in
      let text = try run(
        "mooring", ["fetch", "Episode", "--explain"] + known.arguments, store: store)
      #expect(text.status == 0 && text.errors.isEmpty, "\(text.errors)")
      let lines = text.lines.filter { !$0.hasPrefix("  not ") }
      #expect(
        lines == ["fetch Episode"] + (known.lines + [known.statistics]).map { "  " + $0 })
      let json = try run(
        "mooring", ["fetch", "Episode", "--explain", "--format", "json"] + known.arguments,
        store: store)
      let plan = try #require(
        try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      #expect(
        plan.keys.sorted() == [
          "entity", "filter", "groupBy", "indexes", "kinds", "limit", "offset", "rejected",
          "sortBy", "statistics",
        ])
      #expect(plan["kinds"] as? [String] == known.kinds)
      let statistics = try #require(plan["statistics"] as? [String: Int])
      #expect(statistics.keys.sorted() == ["entriesRead", "recordsRead", "rowsReturned"])
      let indexes = try #require(plan["indexes"] as? [[String: Any]])
      #expect(indexes.count == known.lines.count { $0.hasPrefix("index ") })
      for index in indexes {
        #expect(index.keys.sorted() == ["isReversed", "keys", "name", "range", "rangeCount"])
      }
    }
  }

  @Test func aRequiredIndexIsUsedOrTheFetchFails() throws {
    try withSampleStore { store in
      let served = try mooring(
        "fetch", "Episode", "--sort", "updatedAt:desc", "--require-index", "--ids", store: store)
      #expect(served.status == 0 && served.lines.count == 5)
      expectFailure(
        try mooring("fetch", "Episode", "--sort", "duration", "--require-index", store: store), 64,
        "no index", "Episode")
    }
  }
}
