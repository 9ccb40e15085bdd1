import EntityModel
import EntityStore
import Migrations
import TestSupport

/// One schema from a seed, its data, and requests that all judges answer.
struct DifferentialRun: Sendable {
  private struct Abandoned: Error {
    var tally: Tally
  }

  let seed: UInt64
  let schema: RandomSchema
  private var changes: RandomChanges
  private(set) var tally = Tally()

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededRandom(seed: seed)
    schema = RandomSchema(random: &random)
    changes = RandomChanges(data: ModelData(entities: schema.entities), random: random)
  }

  var migrations: [MigrationSource] {
    [MigrationSource(embedded: [("0001_random", Array(schema.yaml.utf8))])]
  }

  /// Each round changes the data, now and then in vain, and asks within the transaction and after.
  ///
  mutating func run(on store: Store, rounds: Int, requests: Int) async throws {
    changes = try await store.write { [changes] transaction in
      var changes = changes
      try changes.fill(in: transaction)
      return changes
    }
    for round in 0..<rounds where tally.disagreements.count < Tally.disagreementsMax {
      try await change(store, round: round, requests: requests / 5)
      var random = SeededRandom(seed: changes.random.next())
      tally.add(
        try store.read { [changes] transaction in
          try ask(
            requests - requests / 5, &random, Self.connected(changes.data), transaction, round)
        })
    }
  }

  private mutating func change(_ store: Store, round: Int, requests: Int) async throws {
    var random = SeededRandom(seed: changes.random.next())
    let isAbandoned = random.oneIn(5)
    do {
      let run = self
      let (changes, tally) = try await store.write { [random] transaction in
        var changes = run.changes
        var random = random
        try changes.change(in: transaction)
        let tally = try run.ask(
          requests, &random, Self.connected(changes.data), transaction, round)
        if isAbandoned { throw Abandoned(tally: tally) }
        return (changes, tally)
      }
      self.changes = changes
      self.tally.add(tally)
    } catch let abandoned as Abandoned {
      tally.add(abandoned.tally)
    }
  }

  private static func connected(_ data: ModelData) -> ModelData {
    var data = data
    data.connect()
    return data
  }

  private func ask(
    _ count: Int, _ random: inout SeededRandom, _ data: ModelData, _ transaction: ReadTransaction,
    _ round: Int
  ) throws -> Tally {
    let judges = Judges(
      data: data, sql: try SQLFetch(data), transaction: transaction, seed: seed, round: round,
      schema: schema)
    var tally = Tally()
    let seed = random.next()
    var generator = RandomRequests(data, random: SeededRandom(seed: seed))
    var constants = RandomRequests(data, random: SeededRandom(seed: ~seed))
    for _ in 0..<count where tally.disagreements.count < Tally.disagreementsMax {
      let request = generator.next()
      try judges.compare(request, &tally)
      // The plan of the first ones serves the others if it depends on no constant.
      for _ in 0..<(constants.random.oneIn(4) ? 4 : 0) {
        try judges.compare(constants.withOtherConstants(request), &tally)
      }
    }
    return tally
  }
}
