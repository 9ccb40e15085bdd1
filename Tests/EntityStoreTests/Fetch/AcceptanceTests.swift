import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Well-known examples of Core Data fetches, with their expected results.
@Suite struct AcceptanceTests {
  // MARK: Bubble tea venues

  @Test func venuesAreCountedByThePriceCategoryOfARelatedRecord() async throws {
    try await withVenues { store in
      for (category, expected) in [("$", 27), ("$$", 2), ("$$$", 1), ("$$$$", 0)] {
        var request = FetchRequest(
          entityName: "Venue",
          predicate: .comparison("priceInfo.priceCategory", .equal, .string(category)))
        request.resultType = .count
        let counted = try store.read { try $0.count(request) }
        #expect(counted == expected, "\(category)")
        #expect(try store.fetch(request).count == expected, "\(category)")
      }
    }
  }

  @Test func dealsAreAddedUpByTheStore() async throws {
    try await withVenues { store in
      var request = FetchRequest(entityName: "Venue")
      request.resultType = .rows
      request.propertiesToFetch = [.sum("specialCount", as: "sumDeals")]
      let rows = try store.read { try $0.fetchRows(request) }
      #expect(rows.count == 1)
      let sum = try rows.first?["sumDeals"]
      #expect(sum == 465)
    }
  }

  @Test func severalAggregatesComeInOneRow() async throws {
    try await withVenues { store in
      var request = FetchRequest(entityName: "Venue")
      request.resultType = .rows
      request.propertiesToFetch = [
        .minimum("specialCount", as: "least"), .maximum("specialCount", as: "greatest"),
        .average("specialCount", as: "mean"), .count(as: "venues"),
        .countDistinct("priceInfo.priceCategory", as: "categories"),
      ]
      let row = try #require(try store.read { try $0.fetchRows(request) }.first)
      #expect(row.names == ["least", "greatest", "mean", "venues", "categories"])
      #expect(row.values == [1, 30, 15.5, 30, 3])
    }
  }

  @Test func venuesAreSortedThroughRelationships() async throws {
    try await withVenues { store in
      let request = FetchRequest(
        entityName: "Venue",
        sortBy: [
          SortKey("priceInfo.priceCategory", descending: true), SortKey("location.distance"),
          SortKey("name"),
        ], fetchLimit: 4)
      let names = try store.fetch(request).map { try $0["name"].text }
      #expect(names == ["venue 30", "venue 28", "venue 29", "venue 1"])
    }
  }

  @Test func aRequestWithoutMoreThanTheEntityReturnsAll() async throws {
    try await withVenues { store in
      let entity = try #require(try store.schema.entity(named: "Venue"))
      #expect(try store.fetch(FetchRequest(entity: entity)).count == 30)
      #expect(try store.fetch(FetchRequest(entityName: "Venue")).map(\.id.number).count == 30)
    }
  }

  @Test func anEmptyListMatchesNothingAndAnOffsetBeyondTheEndReturnsNothing() async throws {
    try await withVenues { store in
      let none = FetchPredicate.isIn("name", [])
      #expect(try store.fetch(FetchRequest(entityName: "Venue", predicate: none)).isEmpty)
      // False, not unknown: the contrary is true, also of a record without a value.
      #expect(try store.fetch(FetchRequest(entityName: "Venue", predicate: !none)).count == 30)
      let noted = FetchPredicate.not(.isIn("note", []))
      #expect(try store.fetch(FetchRequest(entityName: "Venue", predicate: noted)).count == 30)
      for offset in [30, 31, 10_000] {
        let request = FetchRequest(entityName: "Venue", fetchLimit: 5, fetchOffset: offset)
        let found = try store.fetch(request)
        #expect(found.isEmpty)
        let counted = try store.read { try $0.count(request) }
        #expect(counted == 0)
      }
    }
  }

  // MARK: World cup

  @Test func teamsAreSortedByZoneWinsAndName() async throws {
    try await withTemporaryStore(migrations: [Self.schema]) { temporary in
      let teams = [
        ("Ghana", "Africa", 0), ("Algeria", "Africa", 1), ("Nigeria", "Africa", 1),
        ("Japan", "Asia", 0), ("Iran", "Asia", 0), ("Germany", "Europe", 3), ("Spain", "Europe", 1),
      ]
      try await temporary.store.write { transaction in
        for (name, zone, wins) in teams.reversed() {
          try transaction.insert(
            "Team",
            [
              "teamName": .string(name), "qualifyingZone": .string(zone),
              "wins": .int64(Int64(wins)),
            ])
        }
      }
      var request = FetchRequest(
        entityName: "Team",
        sortBy: [
          SortKey("qualifyingZone"), SortKey("wins", descending: true), SortKey("teamName"),
        ])
      let names = try temporary.store.fetch(request).map { try $0["teamName"].text }
      #expect(names == ["Algeria", "Nigeria", "Ghana", "Iran", "Japan", "Germany", "Spain"])

      // The sections, with the number of their teams.
      request.sortBy = []
      request.resultType = .rows
      request.propertiesToGroupBy = ["qualifyingZone"]
      request.propertiesToFetch = ["qualifyingZone", .count(as: "teams")]
      let sections = try temporary.store.read { try $0.fetchRows(request) }.map(\.values)
      #expect(sections == [["Africa", 3], ["Asia", 2], ["Europe", 2]])
    }
  }

  // MARK: Aggregates

  @Test func anAggregateWithoutGroupsGivesExactlyOneRow() async throws {
    try await withTemporaryStore(migrations: [Self.schema]) { temporary in
      var request = FetchRequest(entityName: "Employee")
      request.resultType = .rows
      request.propertiesToFetch = [
        .sum("salary", as: "total"), .count(as: "people"), .average("salary", as: "mean"),
      ]
      let empty = try temporary.store.read { try $0.fetchRows(request) }.map(\.values)
      #expect(empty == [[.null, 0, .null]])
      try await temporary.store.write { transaction in
        for (name, salary) in [("alpha", 22), ("bravo", 25), ("charlie", 10)] {
          try transaction.insert(
            "Employee", ["name": .string(name), "salary": .int64(Int64(salary))])
        }
      }
      let rows = try temporary.store.read { try $0.fetchRows(request) }.map(\.values)
      #expect(rows == [[57, 3, 19.0]])
    }
  }

  @Test func havingTakesTheNameOfAColumnAndAnAggregate() async throws {
    try await withVenues { store in
      var request = FetchRequest(entityName: "Venue")
      request.resultType = .rows
      request.propertiesToGroupBy = ["priceInfo.priceCategory"]
      request.propertiesToFetch = [
        "priceInfo.priceCategory", .count(as: "headcount"),
      ]
      request.sortBy = [SortKey("headcount", descending: true)]
      let having: [FetchPredicate] = [
        .comparison("headcount", .greater, 1),
        .comparison(.init(.aggregate(.count, .path("name")), .greater, .value(1))),
      ]
      for predicate in having {
        request.havingPredicate = predicate
        let rows = try store.read { try $0.fetchRows(request) }.map(\.values)
        #expect(rows == [["$", 27], ["$$", 2]])
      }
    }
  }

  // MARK: Broken stores

  @Test func aDamagedRecordIsAnErrorAndNotAShorterResult() async throws {
    try await withBrokenVenues { store in
      let layout = try store.catalog().entity("Venue")
      try store.runAlone { transaction in
        try RecordKey.with(7) { key in
          try [UInt8]([255, 255, 255]).withUnsafeBytes {
            try transaction.put(layout.tree, key: key, value: $0)
          }
        }
      }
    }
  }

  @Test func aRecordThatAnIndexLeadsToAndIsNotThereIsAnError() async throws {
    try await withBrokenVenues { store in
      let layout = try store.catalog().entity("Venue")
      try store.runAlone { transaction in
        try RecordKey.with(7) { key in
          _ = try transaction.delete(layout.tree, key: key)
        }
      }
    } requests: {
      [FetchRequest(entityName: "Venue", sortBy: [SortKey("name")], requiresIndex: true)]
    }
  }

  /// Every kind of fetch of a store that was broken throws `damaged`.
  private func withBrokenVenues(
    _ damage: (Store) throws -> Void,
    requests: () -> [FetchRequest] = {
      [
        FetchRequest(entityName: "Venue"),
        FetchRequest(entityName: "Venue", predicate: .comparison("specialCount", .greater, 0)),
        FetchRequest(entityName: "Venue", sortBy: [SortKey("specialCount")]),
        FetchRequest(
          entityName: "Venue", predicate: .comparison("priceInfo.priceCategory", .equal, "$")),
      ]
    }
  ) async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [Self.schema])
      try await Self.fill(store)
      try damage(store)
      for request in requests() {
        #expect(code { try store.fetch(request) } == .damaged, "\(request)")
      }
      var aggregates = FetchRequest(entityName: "Venue")
      aggregates.resultType = .rows
      aggregates.propertiesToFetch = [.sum("specialCount", as: "sumDeals")]
      guard requests().count > 1 else { return }
      #expect(code { try store.read { try $0.fetchRows(aggregates) } } == .damaged)
    }
  }

  // MARK: The schema and its data

  private func withVenues(_ body: (Store) throws -> Void) async throws {
    try await withTemporaryStore(migrations: [Self.schema]) { temporary in
      try await Self.fill(temporary.store)
      try body(temporary.store)
    }
  }

  /// 27 cheap venues, two of the middle, and one that is dear.
  private static func fill(_ store: Store) async throws {
    try await store.write { transaction in
      for number in 1...30 as ClosedRange<Int64> {
        let category = number == 30 ? "$$$" : number >= 28 ? "$$" : "$"
        let price = try transaction.insert("PriceInfo", ["priceCategory": .string(category)])
        let location = try transaction.insert("Location", ["distance": .double(Double(number))])
        try transaction.insert(
          "Venue",
          [
            "name": .string("venue \(number)"), "specialCount": .int64(number),
            "priceInfo": .int64(price.number), "location": .int64(location.number),
          ])
      }
    }
  }

  private static let schema = MigrationSource(embedded: [
    (
      "0001_examples",
      Array(
        """
        line: examples
        summary: Venues, teams and employees
        steps:
          - createEntity:
              name: PriceInfo
              attributes: [{ name: priceCategory, type: string, optional: true }]
          - createEntity:
              name: Location
              attributes: [{ name: distance, type: double, optional: true }]
          - createEntity:
              name: Venue
              attributes:
                - { name: name, type: string }
                - { name: specialCount, type: int64, default: 0 }
                - { name: note, type: string, optional: true }
          - createRelationship: { on: Venue, name: priceInfo, to: PriceInfo, inverse: { name: venues, many: true } }
          - createRelationship: { on: Venue, name: location, to: Location, inverse: { name: venues, many: true } }
          - createIndex: { on: Venue, name: byName, keys: [name] }
          - createEntity:
              name: Team
              attributes:
                - { name: teamName, type: string }
                - { name: qualifyingZone, type: string }
                - { name: wins, type: int64 }
          - createIndex: { on: Team, name: byZone, keys: [qualifyingZone, wins desc, teamName] }
          - createEntity:
              name: Employee
              attributes:
                - { name: name, type: string }
                - { name: salary, type: int64 }
        """.utf8)
    )
  ])
}
