import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Migrations are killed at random moments, and run again: in the end they have done what they do
/// when nothing interrupts them.
@Suite(.timeLimit(.minutes(30))) struct MigrationCrashTests {
  @Test(arguments: MigrationScenario.allCases)
  func aKilledMigrationEndsAsTheUninterruptedOne(scenario: MigrationScenario) async throws {
    let kills = isThorough ? 200 : 4
    let seed = testSeed(91)
    var random = SeededRandom(seed: seed)
    try await withTemporaryFolder { folder in
      let bench = try await MigrationBench(scenario, in: folder, seed: seed)
      var killed = 0
      var stores = 0
      while killed < kills {
        let path = try bench.copy("store \(stores)")
        stores += 1
        killed += try bench.runWithKills(path, atMost: min(20, kills - killed), using: &random)
        try bench.requireAfter(path)
        try Self.checkBackups(of: path, bench)
      }
      print(
        "\(scenario): \(killed) kills in \(stores) runs of \(bench.commits) commits, seed \(seed)")
    }
  }

  /// Before steps that lose something the store has been copied: the copy has all of it.
  private static func checkBackups(of path: String, _ bench: MigrationBench) throws {
    let store = try MigrationBench.open(path, bench.scenario.sources)
    let backups = try store.read { try MigrationBackup.all(of: store, in: $0) }
    let isDestructive = [.keepNewest, .keepOldest, .delete, .destructive].contains(bench.scenario)
    try #require(backups.isEmpty == !isDestructive)
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let copies = try FileManager.default.contentsOfDirectory(atPath: parent)
      .map { "\(parent)/\($0)" }.filter { $0.hasPrefix(path + ".before") }
    #expect(Set(copies).isSubset(of: backups.map(\.path)))
    #expect(copies.isEmpty == !isDestructive)
    for copy in copies {
      let kept = try MigrationBench.open(copy, [.items])
      let lines = try kept.read { try StoreDigest.lines(in: $0) }
      #expect(lines == bench.before)
    }
  }

  @Test(arguments: MigrationScenario.allCases)
  func whatOthersWriteMeanwhileIsMigratedToo(scenario: MigrationScenario) async throws {
    let seed = testSeed(92)
    var random = SeededRandom(seed: seed)
    for round in 0..<(isThorough ? 40 : 1) {
      let own = seed + UInt64(round)
      try await withTemporaryFolder { folder in
        let bench = try await MigrationBench(scenario, in: folder, seed: own)
        let path = try bench.copy("store")
        let writer = try ChildProcess(
          MigrationBench.executable, ["migration-write", path, "seed=\(own)", "times=4000"])
        var log = [try #require(writer.readLine())]
        _ = try bench.runWithKills(path, atMost: 2, using: &random, isWritten: true)
        // One that has failed has said so.
        do { try writer.writeLine("stop") } catch { print("the writer has ended: \(error)") }
        while let line = writer.readLine(), line != "end" { log.append(line) }
        try #require(writer.waitForExit().status == 0, "seed \(own): \(log.last ?? "")")
        let store = try MigrationBench.open(path, scenario.sources)
        try MigrationBench.requireNoLeftovers(store)
        let early = log.count { $0.hasPrefix("0 ") }
        print("\(scenario): \(early) of \(log.count) writes before its end, seed \(own)")
        if scenario.followsWriters {
          let lines = try store.read { try StoreDigest.lines(in: $0) }
          let expected = try await Self.replay(log, bench)
          try #require(lines == expected, "seed \(own): \(bench.difference(lines, expected))")
        }
      }
    }
  }

  /// The same writes, and the migration in one go between those before its end and those after.
  private static func replay(_ log: [String], _ bench: MigrationBench) async throws -> [String] {
    let path = try bench.copy("replayed")
    let items = try MigrationBench.open(path, [.items])
    let changes = ItemChanges(seed: bench.seed)
    let migrated = try MigrationBench.open(path, bench.scenario.sources)
    var isMigrated = false
    for (number, line) in log.enumerated() {
      if !isMigrated, !line.hasPrefix("0 ") {
        try migrated.migrate()
        isMigrated = true
      }
      let made = try await changes.make(number, in: items)
      try #require(line.hasSuffix(" \(made.isMade)"), "write \(number)")
    }
    if !isMigrated { try migrated.migrate() }
    return try migrated.read { try StoreDigest.lines(in: $0) }
  }

  @Test(arguments: MigrationScenario.allCases.filter { isThorough || $0.isSeenAtOnce })
  func readersNeverFailAndNeverSeeHalf(scenario: MigrationScenario) async throws {
    let seed = testSeed(93)
    var random = SeededRandom(seed: seed)
    try await withTemporaryFolder { folder in
      let bench = try await MigrationBench(scenario, in: folder, seed: seed)
      let path = try bench.copy("store")
      let reader = try ChildProcess(MigrationBench.executable, ["migration-read", path])
      #expect(reader.readLine() == "ready")
      _ = try bench.runWithKills(path, atMost: isThorough ? 20 : 1, using: &random)
      try reader.writeLine("stop")
      let line = try #require(reader.readLine())
      #expect(reader.waitForExit().status == 0)
      let words = line.split(separator: " ").map(String.init)
      try #require(words.count >= 3 && words[0] == "read", "\(line)")
      if scenario.isSeenAtOnce {
        let whole = Set([bench.before, bench.after].map { "\(StoreDigest.hash(of: $0))" })
        #expect(Set(words.dropFirst(2)).isSubset(of: whole), "\(line)")
      }
    }
  }
}
