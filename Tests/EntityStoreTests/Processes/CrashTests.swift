import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// A long write is killed at random moments and resumed: the store is undamaged after each kill
/// and, at the end, equals that of an uninterrupted write.
@Suite struct CrashTests {
  private static let executable = childExecutable(named: "store-child")

  @Test func aKilledChunkedWriteLosesAtMostTheCurrentChunk() async throws {
    let kills = isThorough ? 10_000 : 200
    let uninterrupted = try await withTemporaryStore { temporary in
      try await CrashPlan.prepare(temporary.store)
      try await CrashPlan.write(to: temporary.store)
      return try dump(temporary.store)
    }
    var random = SeededRandom(seed: testSeed(61))
    var killed = 0
    var completed = 0
    while killed < kills {
      // A store of its own until the write has come to its end, however many kills that takes.
      killed += try await Self.runToEnd(uninterrupted, kills: kills - killed, random: &random)
      completed += 1
    }
    print("\(killed) kills, \(completed) writes to the end")
    #expect(completed >= 1)
  }

  /// - Returns: How often it was killed.
  private static func runToEnd(
    _ uninterrupted: [String], kills: Int, random: inout SeededRandom
  ) async throws -> Int {
    var after = random
    let killed = try await withTemporaryStore(seed: random.seed) { temporary in
      try await CrashPlan.prepare(temporary.store)
      var killed = 0
      while killed < kills {
        let child = try ChildProcess(executable, ["store-chunks", temporary.store.folder])
        kill(child, at: &after)
        killed += 1
        try await check(temporary.store)
        // It may have ended without the time to say so; a run after that would begin anew.
        if try temporary.store.read({ try CrashPlan.isDone(in: $0) }) { break }
      }
      // What is left after the last kill goes through here.
      if try !temporary.store.read({ try CrashPlan.isDone(in: $0) }) {
        try await CrashPlan.write(to: temporary.store)
      }
      try #require(try dump(temporary.store) == uninterrupted, "seed \(after.seed)")
      return killed
    }
    random = after
    return killed
  }

  /// Waits for some lines of progress, then spins a little, then kills.
  private static func kill(_ child: ChildProcess, at random: inout SeededRandom) {
    for _ in 0..<random.number(0...60) where child.readLine() == nil { break }
    // From nothing to about the length of a commit, so that every moment of one is met.
    var spins = random.number(0...30_000)
    while spins > 0 { spins -= 1 }
    child.kill()
  }

  private static func check(_ store: Store) async throws {
    try requireClean(store)
    try requireWholePages(store)
    let problems = try store.read { try CrashPlan.problems(in: $0) }
    try #require(problems.isEmpty)
    // Writing goes on: no lock is left behind.
    try await store.write { _ in }
  }
}
