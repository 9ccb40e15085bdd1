import EntityModel
import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Batches are killed at random moments and run again: each record is updated, deleted or inserted
/// exactly once.
@Suite struct BatchCrashTests {
  private static let executable = childExecutable(named: "store-child")

  @Test(arguments: BatchPlan.allCases)
  func aKilledBatchResumesAndChangesEachRecordOnce(plan: BatchPlan) async throws {
    let kills = isThorough ? 2_000 : 60
    var random = SeededRandom(seed: testSeed(27))
    var killed = 0
    var resumed = 0
    while killed < kills {
      // A store of its own until the batch has come to its end, however many kills that takes.
      (killed, resumed) = try await Self.runToEnd(
        plan, kills: kills, killed: killed, resumed: resumed, &random)
    }
    print("\(plan): \(killed) kills, \(resumed) of them amid the batch")
    #expect(resumed > kills / 10)
  }

  private static func runToEnd(
    _ plan: BatchPlan, kills: Int, killed: Int, resumed: Int, _ random: inout SeededRandom
  ) async throws -> (killed: Int, resumed: Int) {
    var (after, killed, resumed) = (random, killed, resumed)
    try await withTemporaryStore(seed: random.seed) { temporary in
      let store = temporary.store
      try await plan.prepare(store)
      while killed < kills {
        let child = try ChildProcess(executable, ["store-batch", store.folder, plan.rawValue])
        kill(child, at: &after)
        killed += 1
        try await check(store, plan)
        // It may have ended without the time to say so; a run after that would begin anew.
        if try store.read({ try plan.isDone(in: $0) }) { break }
        if try store.chunkedWrites == 1 { resumed += 1 }
      }
      // What is left after the last kill goes through here.
      if try !store.read({ try plan.isDone(in: $0) }) {
        let result = try await plan.run(on: store)
        try #require(result.counts.changed == Int64(BatchPlan.rows), "seed \(after.seed)")
      }
      try #require(try store.read { try plan.isDone(in: $0) }, "seed \(after.seed)")
      try await check(store, plan)
    }
    random = after
    return (killed, resumed)
  }

  /// Waits for some commits, then spins a little, then kills.
  private static func kill(_ child: ChildProcess, at random: inout SeededRandom) {
    for _ in 0..<random.number(0...18) where child.readLine() == nil { break }
    var spins = random.number(0...30_000)
    while spins > 0 { spins -= 1 }
    child.kill()
  }

  private static func check(_ store: Store, _ plan: BatchPlan) async throws {
    try requireClean(store)
    let problems = try store.read { try plan.problems(in: $0) }
    try #require(problems.isEmpty, "\(problems)")
    // Writing goes on: no lock is left behind.
    try await store.write { _ in }
  }

  @Test func aSecondProcessIsRefusedWhileTheBatchRuns() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await BatchPlan.update.prepare(store)
      let child = try ChildProcess(
        Self.executable, ["store-batch", store.folder, BatchPlan.update.rawValue])
      #expect(child.readLine() == "done \(BatchPlan.rowsPerChunk)")
      // It stands still amid the batch.
      child.signal(SIGSTOP)
      do {
        try await BatchPlan.update.run(on: store)
        Issue.record("the batch runs twice at once")
      } catch let error as StoreError {
        #expect(error.code == .busy)
        #expect("\(error)".contains("batch.update:plan"), "\(error)")
      }
      child.signal(SIGCONT)
      var last: String?
      while let line = child.readLine() { last = line }
      #expect(last == "changed \(BatchPlan.rows)")
      #expect(child.waitForExit().status == 0)
      #expect(try store.read { try BatchPlan.update.problems(in: $0) } == [])
      #expect(try store.read { try BatchPlan.update.isDone(in: $0) })
    }
  }

  @Test func batchesOfTwoProcessesTakeTurns() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await BatchPlan.update.prepare(store)
      let child = try ChildProcess(
        Self.executable, ["store-batch", store.folder, BatchPlan.update.rawValue])
      #expect(child.readLine() == "done \(BatchPlan.rowsPerChunk)")
      let items = (0..<300).map { ["name": Value.string("other \($0)"), "rank": -1] }
      let other = try await store.execute(
        BatchInsertRequest("Sample", items, options: .chunks(of: 5)))
      #expect(other.outcome == .count(300))
      while child.readLine() != nil {}
      #expect(child.waitForExit().status == 0)
      #expect(try store.read { try BatchPlan.update.problems(in: $0) } == [])
      #expect(try store.read { try BatchPlan.update.isDone(in: $0) })
      #expect(try store.read { try $0.count(of: "Sample") } == BatchPlan.rows + 300)
    }
  }
}
