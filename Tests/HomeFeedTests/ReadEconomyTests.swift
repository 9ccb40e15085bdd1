import EntityModel
import EntityStore
import Foundation
import HomeFeed
import TestSupport
import Testing

/// The amount that each answer reads according to `explain`, compared with the necessary amount.
@Suite struct ReadEconomyTests {
  private static let episodeCount = 3_000
  /// The number of entries that a count visits before it uses the counts of their pages.
  private static let entriesStepped = 64

  @Test func eachLoadReadsItsRowsAndNothingElse() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      try await Self.fill(temporary.store)
      let loads: [(predicate: FetchPredicate?, entity: String, sort: String, passedOver: Int)] = [
        (nil, "Episode", "updatedAt", 0),
        (.isNotNull("favoriteAt"), "Episode", "favoriteAt", 0),
        (.isNotNull("watchLaterAt"), "Episode", "watchLaterAt", 0),
        (.comparison("type", .equal, 1), "Episode", "updatedAt", 0),
        // Whether something was watched to any part stands in the record: every other one is 0.
        (
          try FetchPredicate(format: "%K != nil && progress != 0", "watchedAt"), "Episode",
          "watchedAt", 20
        ),
        (nil, "LearningPath", "updatedAt", 0),
      ]
      for load in loads {
        let plan = try temporary.store.explain(
          FetchRequest(
            entityName: load.entity, predicate: load.predicate,
            sortBy: [SortKey(load.sort, descending: true)], fetchLimit: 20))
        let statistics = try #require(plan.statistics)
        #expect(statistics.rowsReturned == 20, "\(plan)")
        #expect(statistics.recordsRead <= 20 + load.passedOver, "\(plan)")
        // Backward and at equal keys one entry more is looked at.
        #expect(statistics.entriesRead <= 21 + load.passedOver, "\(plan)")
        #expect(!plan.sortsInMemory, "\(plan)")
      }
    }
  }

  @Test func aCountReadsEntriesAndNoRecord() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      try await Self.fill(temporary.store)
      var request = FetchRequest(
        entityName: "Episode", predicate: .comparison("type", .equal, 2))
      request.resultType = .count
      let plan = try temporary.store.explain(request)
      #expect(plan.kinds == [.indexRange, .indexOnly, .countOnly], "\(plan)")
      #expect(plan.statistics?.recordsRead == 0)
      #expect(plan.statistics?.entriesRead == Self.entriesStepped, "the others by their pages")
      #expect(plan.statistics?.rowsReturned == Self.episodeCount / 3)

      request.predicate = nil
      let all = try temporary.store.explain(request)
      #expect(all.kinds == [.countOnly], "\(all)")
      #expect(all.statistics?.entriesRead == 0)
    }
  }

  @Test func minimumAndMaximumReadTheEndsOfAnIndex() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      try await Self.fill(temporary.store)
      var request = FetchRequest(entityName: "Episode")
      request.resultType = .rows
      request.propertiesToFetch = [
        .minimum("updatedAt", as: "first"), .maximum("updatedAt", as: "last"), .count(as: "n"),
      ]
      for type in [nil, 1, 3] as [Int64?] {
        request.predicate = type.map { .comparison("type", .equal, .int64($0)) }
        let plan = try temporary.store.explain(request)
        #expect(plan.kinds.contains(.endOfIndex), "\(plan)")
        #expect(plan.statistics?.recordsRead == 0, "\(plan)")
        let counted = type == nil ? 0 : Self.entriesStepped
        #expect(plan.statistics?.entriesRead == 2 + counted, "\(plan)")
        let row = try #require(try temporary.store.read { try $0.fetchRows(request) }.first)
        let numbers = (0..<Self.episodeCount).filter { type == nil || $0 % 3 + 1 == type! }
        #expect(try row["first"] == .date(Self.updated(numbers[0])))
        #expect(try row["last"] == .date(Self.updated(numbers[numbers.count - 1])))
        #expect(try row["n"] == .int64(Int64(numbers.count)))
      }
    }
  }

  @Test func fiftyValuesAreFiftyRanges() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      try await Self.fill(temporary.store)
      let ids = (0..<50).map { Value.string("e\($0 * 7)") }
      let plan = try temporary.store.explain(
        FetchRequest(entityName: "Episode", predicate: .isIn("id", ids)))
      #expect(plan.indexes.map(\.rangeCount) == [50], "\(plan)")
      #expect(plan.statistics?.entriesRead == 50, "\(plan)")
      #expect(plan.statistics?.recordsRead == 50, "\(plan)")
    }
  }

  @Test func aWindowOverSeveralValuesMergesTheirRanges() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      try await Self.fill(temporary.store)
      let request = FetchRequest(
        entityName: "Episode", predicate: .isIn("type", [1, 2]),
        sortBy: [SortKey("updatedAt", descending: true)], fetchLimit: 20)
      let plan = try temporary.store.explain(request)
      #expect(plan.kinds == [.mergedRanges], "\(plan)")
      #expect(try #require(plan.statistics).entriesRead <= 22, "\(plan)")
      #expect(plan.statistics?.recordsRead == 20, "\(plan)")
    }
  }

  // MARK: A feed of a fixed shape

  private static func updated(_ number: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(number))
  }

  private static func fill(_ store: Store) async throws {
    try await store.write { transaction in
      for number in 0..<episodeCount {
        var episode = Episode(id: "e\(number)")
        episode.type = EpisodeType(rawValue: Int64(number % 3 + 1))
        episode.updatedAt = updated(number)
        episode.favoriteAt = number % 5 == 0 ? updated(number) : nil
        episode.watchLaterAt = number % 7 == 0 ? updated(number) : nil
        episode.watchedAt = number % 2 == 0 ? updated(number) : nil
        episode.progress = number % 4 == 0 ? 0.5 : 0
        try transaction.insert(episode)
      }
      for number in 0..<40 {
        var path = LearningPath(id: "p\(number)")
        path.updatedAt = updated(number)
        try transaction.insert(path)
      }
    }
  }
}
