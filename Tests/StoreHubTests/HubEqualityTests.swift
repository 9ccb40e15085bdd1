import EntityModel
import EntityObjects
import EntityStore
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// A machine that follows the log and one that joins by a snapshot answer alike.
@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubEqualityTests {
  @Test func randomRequestsHaveEqualAnswersOnAllMachines() async throws {
    let seed = testSeed(81)
    let (requests, phases) = isThorough ? (20_000, 8) : (400, 2)
    try await withHub { hub in
      try await hub.create()
      let first = try hub.open("first")
      let follower = try hub.join("follower")
      let changes = RandomChanges(seed: seed)
      var (random, asked, writes, answers) = (SeededRandom(seed: seed), 0, 0, 0)
      for phase in 0..<phases {
        var session = try hub.session()
        _ = try session.trim(first, of: hub.identity())
        let joined = try hub.join("joined-\(phase)")
        let stores = [first, follower, joined]
        while asked < requests * (phase + 1) / phases {
          for _ in 0..<random.number(1...4) {
            try await changes.make(writes, in: random.pick(stores))
            writes += 1
          }
          try follower.catchUp()
          try joined.catchUp()
          let entity = try #require(try joined.schema.entity(named: "Sample"))
          let records = try records(of: joined)
          for _ in 0..<20 {
            let request = random.request(entity, records: records)
            let answer = try answer(request, from: joined)
            #expect(
              try answer == self.answer(request, from: follower), "seed \(seed): \(request)")
            answers += answer.count
            asked += 1
          }
        }
        try requireSame(stores)
      }
      #expect(answers > asked)
      print("\(asked) requests, \(writes) writes, \(phases) joins, seed \(seed)")
    }
  }

  private func records(of store: Store) throws -> [Int64: [Value]] {
    let found = try store.fetch(FetchRequest(entityName: "Sample", fetchLimit: 200))
    return Dictionary(uniqueKeysWithValues: found.map { ($0.id.number, $0.values) })
  }

  private struct Row: Equatable {
    let id: ObjectID
    let values: [Value]
  }

  private func answer(_ request: FetchRequest, from store: Store) throws -> [Row] {
    try store.read { try $0.fetch(request).map { Row(id: $0.id, values: $0.values) } }
  }
}

/// Writes of which each is determined by its number and the store.
private struct RandomChanges: Sendable {
  let seed: UInt64

  func make(_ number: Int, in store: Store) async throws {
    var random = SeededRandom(seed: seed &+ UInt64(number) &* 7_919)
    if number % 9 == 8 { return try await changeMany(number, in: store, &random) }
    let steps = random.number(1...12)
    do {
      try await store.write { [random] transaction in
        var random = random
        for _ in 0..<steps { try step(in: transaction, &random) }
        if random.oneIn(8) { throw Abandoned() }
      }
    } catch is Abandoned {
    }
  }

  private struct Abandoned: Error {}

  /// A write of many records, in several commits.
  private func changeMany(
    _ number: Int, in store: Store, _ random: inout SeededRandom
  ) async throws {
    var options = BatchRequestOptions(name: "many \(number)")
    options.chunkRows = 7
    let predicate = FetchPredicate.comparison(
      "rank", random.oneIn(2) ? .less : .greater, .int64(Int64(random.number(-3...3))))
    if number % 2 == 0 {
      let request = BatchUpdateRequest(
        "Sample", where: predicate, set: ["score": try .format("3"), "dueAt": .now],
        options: options)
      _ = try await store.execute(request)
    } else if number % 27 == 26 {
      _ = try await store.execute(
        BatchDeleteRequest("Sample", where: predicate, options: options))
    }
  }

  private func step(in transaction: WriteTransaction, _ random: inout SeededRandom) throws {
    let entity = try transaction.description(of: "Sample")
    var row = random.row(of: entity.attributes)
    row[0] = .string(random.oneIn(2) ? "n\(random.number(0...60))" : random.text())
    let values = Dictionary(uniqueKeysWithValues: zip(entity.attributes, row).map { ($0.name, $1) })
    do {
      switch random.number(0...9) {
      case 0...3: try transaction.insert("Sample", values)
      case 4, 5: try transaction.upsert("Sample", values, by: ["name"])
      default:
        let ids = try transaction.fetchIdentifiers(
          FetchRequest(entityName: "Sample", fetchLimit: 40))
        guard !ids.isEmpty else { return }
        let id = random.pick(ids)
        if ids.count == 40, random.oneIn(3) {
          try transaction.delete(id)
        } else {
          let names = values.keys.sorted().filter { _ in random.oneIn(4) }
          try transaction.update(id) { record in
            for name in names { try record.set(name, to: values[name] ?? .null) }
          }
        }
      }
    } catch let error as StoreError
      where error.code == .uniqueViolation || error.code == .validation
    {
      // Refused, and the transaction goes on.
    }
  }
}
