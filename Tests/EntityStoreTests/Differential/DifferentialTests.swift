import EntityStore
import TestSupport
import Testing

/// Every construct of the fetch language over random schemas: the store's result equals that of a
/// naive evaluation and, for requests with an SQL form, that of SQLite.
@Suite struct DifferentialTests {
  @Test func theStoreAgreesWithANaiveEvaluationAndSQLite() async throws {
    let seeds = Set((1...(isThorough ? 40 : 6) as ClosedRange<UInt64>).map(testSeed))
    let tally = try await withThrowingTaskGroup(of: Tally.self) { group in
      for seed in seeds { group.addTask { try await Self.run(seed: seed) } }
      return try await group.reduce(into: Tally()) { $0.add($1) }
    }
    for disagreement in tally.disagreements { Issue.record(disagreement) }
    // A single seed, to repeat a failure, cannot meet everything.
    guard seeds.count > 1, tally.disagreements.isEmpty else { return }
    #expect(tally.requests >= (isThorough ? 200_000 : 5_000))
    #expect(tally.undefined * 50 < tally.requests)
    #expect(tally.rare(below: 10).isEmpty)
    #expect(tally.rareInSQL(below: 10).isEmpty)
    #expect(tally.rarePlans(below: 3).isEmpty)
  }

  private static func run(seed: UInt64) async throws -> Tally {
    var run = DifferentialRun(seed: seed)
    return try await withTemporaryStore(seed: seed, migrations: run.migrations) { temporary in
      try await run.run(on: temporary.store, rounds: isThorough ? 50 : 10, requests: 100)
      return run.tally
    }
  }
}
