import EntityModel
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// The plan cache: plans are cached with the catalog if they do not depend on the data and their
/// requests are repeated.
@Suite struct KeptPlanTests {
  private static let newest = FetchRequest(
    entityName: "Sample", predicate: .comparison("rank", .greater, .int64(2)),
    sortBy: [SortKey("rank", descending: true)], fetchLimit: 3)

  @Test func aCachedPlanReturnsCurrentRecords() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      var ranks: [Int64] = []
      for rank in [5, 1, 9, 3, 7, 2, 8] as [Int64] {
        try await store.write {
          _ = try $0.insert("Sample", ["name": .string("s\(rank)"), "rank": .int64(rank)])
        }
        ranks.append(rank)
        #expect(
          try Self.ranks(in: store) == Array(ranks.filter { $0 > 2 }.sorted(by: >).prefix(3)))
        let isCached = try store.read { try Self.isKept(Self.newest, in: $0) }
        #expect(isCached == (ranks.count > 1))
      }
      // Another window has the same plan.
      var all = Self.newest
      all.fetchLimit = nil
      #expect(try store.fetch(all).count == 5)
    }
  }

  @Test func aCachedPlanIsDroppedWithItsIndex() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await store.write {
        for rank in 0..<20 as Range<Int64> {
          _ = try $0.insert("Sample", ["name": .string("s\(rank)"), "rank": .int64(rank)])
        }
      }
      for _ in 0..<2 { #expect(try Self.ranks(in: store) == [19, 18, 17]) }
      #expect(try store.read { try Self.isKept(Self.newest, in: $0) })
      let dropping = MigrationSource(
        embedded: ModelSchema.files + [("0002_drop", Array(Self.drop.utf8))])
      try openStore(at: temporary.folder.path("store"), migrations: [dropping], migrate: .never)
        .migrate()
      #expect(try !store.read { try Self.isKept(Self.newest, in: $0) })
      #expect(try Self.ranks(in: store) == [19, 18, 17])
      #expect(
        try store.read { try $0.explain(Self.newest) }.indexes.allSatisfy { $0.name != "byRank" })
    }
  }

  private static let drop = """
    line: model
    summary: Without the index on ranks
    steps:
      - dropIndex: { on: Sample, name: byRank }
    """

  @Test(
    "Requests that depend on costs, on a sort or on long lists are planned again",
    arguments: [
      FetchRequest(entityName: "Sample"),
      FetchRequest(entityName: "Sample", predicate: .comparison("score", .greater, .double(1))),
      FetchRequest(
        entityName: "Sample",
        predicate: .comparison("rank", .equal, .int64(3))
          && .comparison("state", .equal, .string("fresh"))),
      FetchRequest(
        entityName: "Sample",
        predicate: .isIn("rank", (0..<100).map { .int64($0) }), sortBy: [SortKey("rank")]),
    ])
  func plannedAgain(request: FetchRequest) async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { _ = try $0.insert("Sample", ["name": "a"]) }
      for _ in 0..<2 { _ = try temporary.store.fetch(request) }
      #expect(try !temporary.store.read { try Self.isKept(request, in: $0) })
    }
  }

  private static func ranks(in store: Store) throws -> [Int64] {
    try store.fetch(newest).map { record in
      guard case .int64(let rank) = try record["rank"] else { return -1 }
      return rank
    }
  }

  private static func isKept(
    _ request: FetchRequest, in transaction: ReadTransaction
  ) throws -> Bool {
    let form = try #require(request.form)
    let plan = transaction.catalog.plans[form.hash] as? ReusablePlan
    return plan?.isPlan(for: request) == true
  }
}
