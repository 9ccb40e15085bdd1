import EntityModel
import TestSupport
import Testing

@testable import EntityStore

/// Fetches and unique values by indexes on texts with a collation.
@Suite struct CollatedIndexTests {
  private static let titles = ["Zoo", "Episode 10", "episode 2", "Äpfel", "Episode 2"]

  /// Each title in a record of that name.
  private static func insert(_ titles: [String], into store: Store) async throws {
    try await store.write { transaction in
      for title in titles {
        try transaction.insert("Sample", ["name": .string(title), "title": .string(title)])
      }
    }
  }

  private static func names(_ store: Store, _ request: FetchRequest) throws -> [String] {
    try store.fetch(request).map { try $0["name"].text }
  }

  @Test(
    arguments: [
      (Collation.localizedStandard, false, "byTitleLocalized"),
      (.localizedStandard, true, "byTitleLocalized"),
      (.localizedStandard("zh"), true, "byTitleInChinese"),
      (.caseInsensitive, false, "byTitleFolded"),
    ])
  func anIndexGivesTheOrderOfItsCollation(
    collation: Collation, isDescending: Bool, index: String
  ) async throws {
    try await withTemporaryStore { temporary in
      try await Self.insert(Self.titles, into: temporary.store)
      let request = FetchRequest(
        entityName: "Sample",
        sortBy: [SortKey("title", descending: isDescending, collation: collation)],
        requiresIndex: true)
      var expected = ["Äpfel", "episode 2", "Episode 2", "Episode 10", "Zoo"]
      if collation == .caseInsensitive {
        expected = ["Episode 10", "episode 2", "Episode 2", "Zoo", "Äpfel"]
      }
      #expect(
        try Self.names(temporary.store, request) == (isDescending ? expected.reversed() : expected))
      let plan = try temporary.store.read { try $0.explain(request) }
      #expect(plan.indexes.map(\.name) == [index])
    }
  }

  @Test func comparisonsWithoutCaseAreServedByTheFoldedKeys() async throws {
    try await withTemporaryStore { temporary in
      try await Self.insert(Self.titles, into: temporary.store)
      for (comparison, options, text, index, expected) in [
        (
          ComparisonOperator.equal, ComparisonOptions.caseInsensitive, "EPISODE 2", "byTitleFolded",
          ["episode 2", "Episode 2"]
        ),
        (.beginsWith, .caseInsensitive, "äP", "byTitleFolded", ["Äpfel"]),
        (.less, .localized, "Episode 2", "byTitleLocalized", ["episode 2", "Äpfel"]),
        (.equal, .localized, "A\u{308}pfel", "byTitleLocalized", ["Äpfel"]),
      ] {
        let request = FetchRequest(
          entityName: "Sample",
          predicate: .comparison("title", comparison, .string(text), options: options),
          requiresIndex: true)
        #expect(try Self.names(temporary.store, request) == expected, "\(text)")
        let plan = try temporary.store.read { try $0.explain(request) }
        #expect(plan.indexes.map(\.name) == [index] && plan.filter == nil, "\(plan)")
      }
    }
  }

  @Test func rowsHoldTheTextsAndNotWhatTheySortBy() async throws {
    try await withTemporaryStore { temporary in
      try await Self.insert(Self.titles, into: temporary.store)
      var request = FetchRequest(
        entityName: "Sample",
        predicate: .comparison("title", .lessOrEqual, "Episode 2", options: .localized),
        sortBy: [SortKey("title", collation: .localizedStandard)], requiresIndex: true)
      request.resultType = .rows
      request.propertiesToFetch = ["title"]
      let rows = try temporary.store.read { try $0.fetchRows(request) }
      #expect(rows.map(\.values) == [["Äpfel"], ["episode 2"], ["Episode 2"]])
    }
  }

  @Test func textsThatAreCutComeInTheOrderOfTheirCollation() async throws {
    try await withTemporaryStore { temporary in
      let long = String(repeating: "x", count: 700)
      try await temporary.store.write { transaction in
        for end in ["b", "Ä", "a", "c 10", "A", "c 9"] {
          try transaction.insert("Sample", ["name": .string(end), "title": .string(long + end)])
        }
      }
      let expected = ["a", "A", "Ä", "b", "c 9", "c 10"]
      for (locale, isDescending) in [("", false), ("", true), ("zh", false), ("zh", true)] {
        let collation = Collation.localizedStandard(locale)
        let sort = SortKey("title", descending: isDescending, collation: collation)
        let request = FetchRequest(entityName: "Sample", sortBy: [sort], requiresIndex: true)
        #expect(
          try Self.names(temporary.store, request)
            == (isDescending ? expected.reversed() : expected))
      }
      let equal = FetchRequest(
        entityName: "Sample",
        predicate: .comparison(
          "title", .equal, .string(long.uppercased() + "A"), options: .caseInsensitive),
        requiresIndex: true)
      #expect(try Self.names(temporary.store, equal) == ["a", "A"])
    }
  }

  @Test(arguments: ["", String(repeating: "y", count: 700)])
  func aUniqueIndexTakesEqualTextsForTheSame(prefix: String) async throws {
    try await withTemporaryStore { temporary in
      func label(_ text: String) -> Value { .string(prefix + text) }
      let (street, other) = ("Straße", "STRASSE")
      try await temporary.store.write { transaction in
        let id = try transaction.insert("Sample", ["name": "a", "label": .string(prefix + street)])
        #expect(
          code {
            try transaction.insert("Sample", ["name": "b", "label": .string(prefix + other)])
          } == .uniqueViolation)
        #expect(try transaction.objectID("Sample", by: ["label": .string(prefix + other)]) == id)
        #expect(
          try transaction.objectID("Sample", by: ["label": .string(prefix + "Strasze")]) == nil)
        // The record itself may change its spelling.
        let same = try transaction.upsert(
          "Sample", ["name": "a", "label": .string(prefix + other)], by: ["label"])
        #expect(same == id)
        #expect(try transaction.get(id)?["label"] == .string(prefix + other))
      }
    }
  }
}
