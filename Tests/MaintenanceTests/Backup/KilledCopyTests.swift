import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance

/// Backup, restore and compaction are killed at random moments: the store stays undamaged, and the
/// next run succeeds.
@Suite struct KilledCopyTests {
  private static let executable = childExecutable(named: "store-child")
  private static let rows = 30

  @Test func aKilledBackupIsCompleteOrAbsent() async throws {
    try await rounds(seed: 71) { round in
      let (store, backup) = (round.store, round.backup)
      let target = backup + " new"
      if FileManager.default.fileExists(atPath: target) {
        try FileManager.default.removeItem(atPath: target)
      }
      try round.kill(["backup-make", store, target])
      if FileManager.default.fileExists(atPath: target) {
        try #require(try Ledger.rows(at: target) == Self.rows)
      }
      try #require(try Ledger.rows(at: store) == Self.rows)
    }
  }

  @Test func aKilledRestoreLeavesTheOldStoreOrTheNewOne() async throws {
    try await rounds(seed: 72) { round in
      let (store, backup) = (round.store, round.backup)
      let before = try Ledger.rows(at: store)
      try round.kill(["backup-restore", store, backup])
      let after = try Ledger.rows(at: store)
      try #require(after == before || after == Self.rows)
      for name in try names(in: store) where name.contains("replaced") {
        try FileManager.default.removeItem(atPath: store + "/" + name)
      }
      // Half of the rounds begin with another state than the backup's.
      if after == Self.rows { try await Ledger.write(rows: 1, at: store) }
    }
  }

  @Test func aKilledCompactionLeavesTheStoreUndamaged() async throws {
    try await rounds(seed: 73) { round in
      let store = round.store
      try await Ledger.makeRoom(at: store)
      try round.kill(["backup-compact", store])
      try #require(try Ledger.rows(at: store) == Self.rows)
      try await Ledger.makeRoom(at: store)
    }
  }

  /// A child that is killed after a random while.
  private struct Round {
    let store: String
    let backup: String
    let microseconds: UInt32

    func kill(_ arguments: [String]) throws {
      let child = try ChildProcess(KilledCopyTests.executable, arguments)
      try #require(child.readLine() == "ready")
      try child.writeLine("go")
      // No outcome depends on how far it comes.
      usleep(microseconds)
      child.kill()
    }
  }

  private func rounds(seed: UInt64, _ body: (Round) async throws -> Void) async throws {
    var random = SeededRandom(seed: testSeed(seed))
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (store, backup) = (folder.path("store"), folder.path("backup"))
    try await Ledger.write(rows: Self.rows, at: store)
    _ = try openStore(at: store).backUp(to: backup)
    for number in 0..<(isThorough ? 1_000 : 12) {
      let microseconds = UInt32(random.number(0...60_000))
      do {
        try await body(Round(store: store, backup: backup, microseconds: microseconds))
      } catch {
        print("seed \(random.seed), round \(number)")
        throw error
      }
    }
    // Nothing that was left stands in the way.
    try Store.compact(at: store)
    try Store.restore(from: backup, to: store)
    #expect(try Ledger.rows(at: store) == Self.rows)
    #expect(try !names(in: store).contains("replacement.partial"))
  }
}
