import EntityModel
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// A load is killed at random moments and run again: each item is inserted once, and in the end all
/// indexes are back.
@Suite(.timeLimit(.minutes(10))) struct LoadCrashTests {
  private static let executable = childExecutable(named: "store-child")

  /// The state that a kill has left.
  private enum Phase: CaseIterable { case inserting, building, built }

  @Test func aKilledLoadContinues() async throws {
    let kills = isThorough ? 1_000 : 40
    var random = SeededRandom(seed: testSeed(53))
    var phases: [Phase: Int] = [:]
    var killed = 0
    while killed < kills {
      var after = random
      try await withTemporaryStore(seed: random.seed, migrations: [LoadPlan.source]) { temporary in
        let store = temporary.store
        while killed < kills {
          let child = try ChildProcess(Self.executable, ["store-load", store.folder])
          Self.kill(child, at: &after)
          killed += 1
          let phase = try Self.phase(of: store)
          phases[phase, default: 0] += 1
          try Self.check(store)
          if phase == .built { break }
        }
        // It may have ended without the time to say so; a run after that would begin with the
        // first item.
        if try store.read({ try $0.count(of: "_ChunkedWrite") }) > 0 {
          let child = try ChildProcess(Self.executable, ["store-load", store.folder])
          var last: String?
          while let line = child.readLine() { last = line }
          try #require(child.waitForExit().status == 0, "\(last ?? "")")
          #expect(last == "loaded \(LoadPlan.rows)")
        }
        try Self.checkEnd(store)
      }
      random = after
    }
    print("loads: \(phases), seed \(random.seed)")
    #expect(phases[.inserting, default: 0] > 0 && phases[.building, default: 0] > 0)
  }

  /// Waits for some commits, then spins a little, then kills.
  private static func kill(_ child: ChildProcess, at random: inout SeededRandom) {
    for _ in 0..<random.number(0...60) where child.readLine() == nil { break }
    var spins = random.number(0...30_000)
    while spins > 0 { spins -= 1 }
    child.kill()
  }

  private static func phase(of store: Store) throws -> Phase {
    let catalog = try store.catalog()
    if catalog.build != nil { return .building }
    if !catalog.deferred.isEmpty { return .inserting }
    return try store.read { try $0.count(of: "Item") } == LoadPlan.rows ? .built : .inserting
  }

  private static func check(_ store: Store) throws {
    try requireClean(store)
    try store.read { transaction in
      let codes = try transaction.fetch(FetchRequest(entityName: "Item")).map { try $0["code"] }
      try #require(codes == codes.indices.map { .string("c\($0)") })
      let problems = try LoadPlan.problems(in: transaction)
      try #require(problems.isEmpty, "\(problems)")
    }
  }

  private static func checkEnd(_ store: Store) throws {
    try check(store)
    try #require(try store.deferredIndexes().isEmpty)
    try MigrationBench.requireNoLeftovers(store)
    #expect(try store.read { try $0.count(of: "Item") } == LoadPlan.rows)
  }
}
