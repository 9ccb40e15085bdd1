import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// Hostile requests: deep, long or misspelled ones, and fetches whose closures change the records.
@Suite struct HostileRequestTests {
  // MARK: Depth and length

  @Test func treesDeeperThanTheStackAreAnsweredOrRefused() async throws {
    try await withSamples { (store: Store) async throws in
      var conjunction = FetchPredicate.always(true)
      for _ in 0..<20_000 { conjunction = .and([conjunction, .isNotNull("name")]) }
      // Its plan would be kept at the second time.
      for _ in 0..<3 { #expect(try names(store, request(conjunction)).count == 20) }
      var negation = FetchPredicate.isNull("name")
      for _ in 0..<20_000 { negation = .not(negation) }
      #expect(code { try store.fetch(request(negation)) } == .invalidRequest)
      var grouped = FetchRequest(entityName: "Sample")
      grouped.propertiesToGroupBy = ["rank"]
      grouped.havingPredicate = negation
      #expect(code { try store.read { try $0.fetchRows(grouped) } } == .invalidRequest)
      var sum = FetchExpression.aggregate(.count, nil)
      for _ in 0..<2_000 { sum = .arithmetic(.add, sum, .value(1)) }
      grouped.havingPredicate = nil
      grouped.propertiesToFetch = [FetchProperty("sum", sum)]
      #expect(code { try store.read { try $0.fetchRows(grouped) } } == .invalidRequest)
    }
  }

  @Test func predicatesOfManyPartsArePlannedInTimeThatGrowsWithThem() async throws {
    let columns = ["rank", "name", "title", "score", "note"]
    let numbers = (0..<20_000).map { Value.int64(Int64($0)) }
    try await withSamples { (store: Store) async throws in
      #expect(try names(store, request(.isIn("rank", numbers + numbers))).count == 20)
      let one = FetchPredicate.or(numbers.map { .comparison("rank", .equal, $0) })
      #expect(try names(store, request(one)).count == 20)
      let none = FetchPredicate.and(numbers.map { .comparison("rank", .notEqual, $0) })
      #expect(try names(store, request(none)).isEmpty)
      let many = FetchPredicate.or(
        numbers.enumerated().map { place, number in
          let column = columns[place % columns.count]
          let isText = !["rank", "score"].contains(column)
          return .comparison(column, .equal, isText ? .string("q\(place)") : number)
        })
      #expect(try names(store, request(many)).count == 8)
    }
  }

  // MARK: What is compared

  @Test func aRangeBetweenAttributesIsOneWhateverTheOptions() async throws {
    try await withSamples { (store: Store) async throws in
      try await store.write { transaction in
        try transaction.insert("Sample", ["name": "between", "note": "B", "title": "c"])
      }
      for text in [#"note BETWEEN[c] {"a", title}"#, #"note BETWEEN {"A", title}"#] {
        let predicate = try FetchPredicate(format: text)
        #expect(try names(store, request(predicate)).contains("between"), "\(text)")
      }
      let outside = try FetchPredicate(format: "title BETWEEN[c] {name, note}")
      #expect(try names(store, request(outside)).isEmpty)
    }
  }

  @Test func inputKeywordsAreNoConstantsInPredicates() async throws {
    try await withSamples { (store: Store) async throws in
      for attribute in ["dueAt", "token", "price"] {
        for word in ["null", "now"] {
          for predicate in [
            FetchPredicate.comparison(attribute, .greater, .string(word)),
            .isIn(attribute, [.string(word)]),
          ] {
            #expect(code { try store.fetch(request(predicate)) } == .invalidRequest)
          }
        }
      }
    }
  }

  @Test func optionsForTextsAreRefusedInListsOfNumbers() async throws {
    try await withSamples { (store: Store) async throws in
      let predicate = try FetchPredicate(format: "rank IN[n] {1}")
      #expect(code { try store.fetch(request(predicate)) } == .invalidRequest)
    }
  }

  @Test func aCollationOfGroupsIsForTexts() async throws {
    try await withSamples { (store: Store) async throws in
      var grouped = FetchRequest(
        entityName: "Sample", sortBy: [SortKey("rank", collation: .caseInsensitive)])
      grouped.propertiesToGroupBy = ["rank"]
      #expect(code { try store.read { try $0.fetchRows(grouped) } } == .invalidRequest)
    }
  }

  // MARK: What the way to an answer must not show

  @Test func rowsHaveOneZero() async throws {
    try await withSamples { (store: Store) async throws in
      try await store.write { transaction in
        try transaction.insert("Sample", ["name": "zero", "score": -0.0])
      }
      for columns in [["score"], ["score", "name"]] {
        var rows = FetchRequest(
          entityName: "Sample", predicate: .comparison("score", .equal, 0),
          sortBy: [SortKey("score", descending: true)])
        rows.propertiesToFetch = columns.map(FetchProperty.path)
        for row in try store.read({ try $0.fetchRows(rows) }) {
          #expect(try row["score"].text == "0.0")
        }
      }
    }
  }

  @Test func aSumOfIntegersDependsOnNoOrder() async throws {
    try await withTemporaryStore { temporary in
      let numbers: [Int64] = [.max, .max, -1, .min, .min]
      try await temporary.store.write { transaction in
        for (place, number) in numbers.enumerated() {
          try transaction.insert("Sample", ["name": .string("n\(place)"), "rank": .int64(number)])
        }
      }
      var sum = FetchRequest(entityName: "Sample")
      sum.propertiesToFetch = [.sum("rank", as: "sum"), .average("rank", as: "average")]
      let row = try #require(try temporary.store.read { try $0.fetchRows(sum) }.first)
      #expect(row.values == [-3, -0.6])
      sum.predicate = .comparison("rank", .greater, 0)
      #expect(code { try temporary.store.read { try $0.fetchRows(sum) } } == .invalidRequest)
    }
  }

  @Test func anExtremeWithoutAnIndexIsSearchedAmongTheMatches() async throws {
    try await withSamples { (store: Store) async throws in
      var greatest = FetchRequest(
        entityName: "Sample", predicate: .comparison("name", .equal, "n03"), requiresIndex: true)
      greatest.propertiesToFetch = [.maximum("note", as: "note")]
      let rows = try store.read { try $0.fetchRows(greatest) }
      #expect(rows.map(\.values) == [["note"]])
    }
  }

  @Test func aPredicateThatIsAlwaysTrueIsOmitted() async throws {
    try await withSamples { (store: Store) async throws in
      var count = FetchRequest(
        entityName: "Sample", predicate: .and([.always(true)]), requiresIndex: true)
      count.resultType = .count
      let plan = try store.read { try $0.explain(count) }
      #expect(plan.kinds == [.countOnly])
      #expect(plan.statistics?.rowsReturned == 20)
    }
  }

  // MARK: What an explanation says

  @Test func distinctRowsAreCountedOnce() async throws {
    try await withSamples { (store: Store) async throws in
      var distinct = FetchRequest(entityName: "Sample", fetchOffset: 1)
      distinct.propertiesToFetch = ["note"]
      distinct.returnsDistinctResults = true
      for (type, column, count) in [
        (FetchRequest.ResultType.rows, "note", 0), (.count, "note", 0), (.rows, "rank", 19),
        (.count, "rank", 19),
      ] {
        distinct.resultType = type
        distinct.propertiesToFetch = [.path(column)]
        let plan = try store.read { try $0.explain(distinct) }
        #expect(plan.statistics?.rowsReturned == count)
        #expect(try store.read { try $0.count(distinct) } == count)
      }
    }
  }

  @Test func entriesAreNotCountedForAnAggregateThatNeedsTheRecords() async throws {
    try await withSamples { (store: Store) async throws in
      var aggregates = FetchRequest(
        entityName: "Sample", predicate: .comparison("rank", .less, 5))
      aggregates.propertiesToFetch = [.count(as: "count"), .sum("rank", as: "sum")]
      let plan = try store.read { try $0.explain(aggregates) }
      #expect(plan.statistics?.entriesRead == 5)
    }
  }

  // MARK: Writing meanwhile

  @Test func aFetchDoesNotVisitTheRecordsThatItsClosureInserts() async throws {
    try await withSamples { (store: Store) async throws in
      try await store.write { transaction in
        var met = 0
        try transaction.forEach(FetchRequest(entityName: "Sample")) { record in
          met += 1
          try transaction.insert("Sample", ["name": .string("copy \(met)")])
          return met < 100
        }
        #expect(met == 20)
      }
      try await store.write { transaction in
        var rows = FetchRequest(entityName: "Sample", predicate: .comparison("rank", .less, 20))
        rows.propertiesToFetch = ["name"]
        var met = 0
        try transaction.forEachRow(rows) { _ in
          met += 1
          try transaction.insert("Sample", ["name": .string("again \(met)")])
          return met < 1_000
        }
        #expect(met == 40)
      }
    }
  }

  @Test func aFetchDoesNotFollowARecordThatItsClosureMoves() async throws {
    try await withSamples { (store: Store) async throws in
      try await store.write { transaction in
        var met = 0
        let byRank = FetchRequest(entityName: "Sample", sortBy: [SortKey("rank")])
        try transaction.forEach(byRank) { record in
          met += 1
          try transaction.update(record.id) { try $0.set("rank", to: .int64(Int64(100 + met))) }
          _ = try transaction.count(request(.comparison("rank", .less, 7)))
          return met < 100
        }
        #expect(met == 20)
      }
    }
  }

  @Test func aFetchLeavesOutWhatItsClosureDeletes() async throws {
    let (early, late) = (String(repeating: "a", count: 600), String(repeating: "b", count: 600))
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for number in 0..<6 {
          try transaction.insert(
            "Sample",
            ["name": .string("n\(number)"), "title": .string((number < 3 ? early : late) + "x")])
        }
      }
      try await temporary.store.write { transaction in
        var met: [String] = []
        try transaction.forEach(FetchRequest(entityName: "Sample", sortBy: [SortKey("title")])) {
          met.append(try $0["name"].text)
          for number in 4...6 {
            try transaction.delete(ObjectID(entity: "Sample", number: Int64(number)))
          }
          return true
        }
        #expect(met == ["n0", "n1", "n2"])
      }
    }
  }

  // MARK: Parts

  /// Calls the closure with a store of twenty samples: ranks and scores from 0 on.
  private func withSamples(_ body: (Store) async throws -> Void) async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for number in 0..<20 {
          try transaction.insert(
            "Sample",
            [
              "name": .string(number < 10 ? "n0\(number)" : "n\(number)"),
              "rank": .int64(Int64(number)), "score": .double(Double(number)), "note": "note",
            ])
        }
      }
      try await body(temporary.store)
    }
  }

  private func request(_ predicate: FetchPredicate) -> FetchRequest {
    FetchRequest(entityName: "Sample", predicate: predicate)
  }

  private func names(_ store: Store, _ request: FetchRequest) throws -> [String] {
    try store.fetch(request).map { try $0["name"].text }
  }
}
