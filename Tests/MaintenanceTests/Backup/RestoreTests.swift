import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance

/// Putting a backup back.
@Suite struct RestoreTests {
  private static let executable = childExecutable(named: "store-child")

  /// A store of five rows, of which three are in the backup.
  private func withBackup(_ body: (_ store: String, _ backup: String) async throws -> Void)
    async throws
  {
    try await withTemporaryFolder { folder in
      let (store, backup) = (folder.path("store"), folder.path("backup"))
      try await Ledger.write(rows: 3, at: store)
      _ = try openStore(at: store).backUp(to: backup)
      try await Ledger.write(rows: 2, at: store)
      try await body(store, backup)
    }
  }

  private var atOnce: Store.Options {
    var options = Store.Options()
    options.writerDeadline = .zero
    return options
  }

  @Test func theStoreIsAsItWasAndCanBeWrittenTo() async throws {
    try await withBackup { store, backup in
      let token = try openStore(at: store).historyToken()
      let before = try bytes(of: store + "/data.mdb")
      let report = try Store.restore(from: backup, to: store)
      #expect(try Ledger.rows(at: store) == 3)
      let kept = try #require(report.replacedFile)
      #expect(try bytes(of: kept) == before)
      #expect(report.transaction == report.token.sequence)
      try await Ledger.makeRoom(at: store)
      try await Ledger.write(rows: 4, at: store)
      #expect(try Ledger.rows(at: store) == 7)
      // A transaction of that number is there again, and is not the one that the token meant.
      let reopened = try openStore(at: store)
      #expect(code { try reopened.history(after: token) } == .invalidToken)
      #expect(throws: Never.self) { _ = try reopened.history(after: report.token) }
    }
  }

  @Test func theReplacedFileIsABackup() async throws {
    try await withBackup { store, backup in
      var options = RestoreOptions()
      options.now = { Date(timeIntervalSince1970: 1_790_000_000) }
      let first = try Store.restore(from: backup, to: store, options: options)
      let replaced = try #require(first.replacedFile)
      #expect(replaced == store + "/data.mdb.replaced-20260921T141320Z")
      let second = try Store.restore(from: replaced, to: store, options: options)
      #expect(second.replacedFile == replaced + "-2")
      #expect(try Ledger.rows(at: store) == 5)
      options.keepsReplaced = false
      let third = try Store.restore(from: backup, to: store, options: options)
      #expect(third.replacedFile == nil)
      let kept = try names(in: store).filter { $0.contains("replaced") }
      #expect(kept.count == 2)
    }
  }

  @Test func aRestoreCreatesAMissingStore() async throws {
    try await withBackup { store, backup in
      let target = store + "/../new/store"
      let report = try Store.restore(from: backup, to: target)
      #expect(report.replacedFile == nil)
      #expect(try Ledger.rows(at: target) == 3)
      let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions]
      #expect(mode as? Int == 0o700)
    }
  }

  @Test func theSourceIsOnlyRead() async throws {
    try await withBackup { store, backup in
      let before = try bytes(of: backup + "/data.mdb")
      try Store.restore(from: backup, to: store)
      #expect(try names(in: backup) == ["data.mdb"])
      #expect(try bytes(of: backup + "/data.mdb") == before)
    }
  }

  @Test func anotherStoreIsReplacedOnlyOnRequest() async throws {
    try await withBackup { store, backup in
      let other = store + "/../other"
      try await Ledger.write(rows: 1, at: other)
      let before = try bytes(of: other + "/data.mdb")
      #expect(code { try Store.restore(from: backup, to: other) } == .occupied)
      #expect(try bytes(of: other + "/data.mdb") == before)
      var options = RestoreOptions()
      options.replacesOtherStore = true
      try Store.restore(from: backup, to: other, options: options)
      #expect(try Ledger.rows(at: other) == 3)
      #expect(code { try Store.restore(from: other, to: other) } == .invalidRequest)
      #expect(code { try Store.restore(from: backup + "/none", to: other) } == .storeMissing)
    }
  }

  @Test func aDamagedStoreIsReplacedAndKept() async throws {
    try await withBackup { store, backup in
      let path = store + "/data.mdb"
      var data = try bytes(of: path)
      data.replaceSubrange(4096 * 2..<data.count, with: Data(count: data.count - 4096 * 2))
      try data.write(to: URL(fileURLWithPath: path))
      var options = RestoreOptions()
      options.keepsReplaced = false
      #expect(code { try Store.restore(from: backup, to: store, options: options) } == .occupied)
      let report = try Store.restore(from: backup, to: store)
      #expect(try bytes(of: try #require(report.replacedFile)) == data)
      #expect(try Ledger.rows(at: store) == 3)
    }
  }

  @Test func aBackupWithFlippedBitsIsRefusedOrIntact() async throws {
    var random = SeededRandom(seed: testSeed(97))
    let rounds = isThorough ? 2_000 : 25
    try await withBackup { store, backup in
      let path = backup + "/data.mdb"
      let good = try bytes(of: path)
      var before = try bytes(of: store + "/data.mdb")
      var refused = 0
      for round in 0..<rounds {
        var damaged = good
        for _ in 0..<random.number(1...8) {
          damaged[random.number(0...damaged.count - 1)] ^= 1 << UInt8(random.number(0...7))
        }
        try damaged.write(to: URL(fileURLWithPath: path))
        var options = RestoreOptions()
        options.keepsReplaced = false
        do {
          try Store.restore(from: backup, to: store, options: options)
          let report = try Store.check(at: store)
          #expect(report.isClean, "seed \(random.seed), round \(round)")
          before = try bytes(of: store + "/data.mdb")
        } catch is StoreError {
          refused += 1
          let isUntouched = try bytes(of: store + "/data.mdb") == before
          #expect(isUntouched, "seed \(random.seed), round \(round)")
        }
        #expect(try !names(in: store).contains("replacement.partial"))
      }
      print("\(refused) of \(rounds) refused")
      #expect(refused > 0)
    }
  }

  @Test func aStoreInUseIsNotReplaced() async throws {
    try await withBackup { store, backup in
      let before = try bytes(of: store + "/data.mdb")
      let reader = try ChildProcess(Self.executable, ["lmdb-hold-reader", store])
      _ = reader.readLine()
      do {
        try Store.restore(from: backup, to: store, opening: atOnce)
        Issue.record("replaced under a reader")
      } catch let error as StoreError {
        #expect(error.code == .busy)
        #expect(error.description.contains("pid: \(reader.pid)"), "\(error)")
        #expect(error.description.contains("store-child"), "\(error)")
      }
      try reader.writeLine("go on")
      reader.waitForExit()
      do {
        let held = try openStore(at: store)
        let own = code { try Store.restore(from: backup, to: store, opening: atOnce) }
        #expect(own == .busy)
        held.close()
      }
      #expect(try bytes(of: store + "/data.mdb") == before)
      try Store.restore(from: backup, to: store)
      #expect(try Ledger.rows(at: store) == 3)
    }
  }

  @Test func aStoreThatIsOpenedConcurrentlyIsNotReplaced() async throws {
    try await withBackup { store, backup in
      let reader = Box<ChildProcess?>(nil)
      func openWhenChecking(_ progress: CopyProgress) throws {
        guard case .checking = progress, reader.value == nil else { return }
        reader.value = try ChildProcess(Self.executable, ["lmdb-hold-reader", store])
        _ = reader.value?.readLine()
      }
      let outcome = code {
        try Store.restore(
          from: backup, to: store, opening: atOnce, progress: openWhenChecking)
      }
      #expect(outcome == .busy)
      try reader.value?.writeLine("go on")
      reader.value?.waitForExit()
      #expect(try Ledger.rows(at: store) == 5)
      #expect(try !names(in: store).contains("replacement.partial"))
    }
  }

  @Test func otherFilesInTheFolderStay() async throws {
    try await withBackup { store, backup in
      let own = store + "/notes.txt"
      try Data("mine".utf8).write(to: URL(fileURLWithPath: own))
      try Store.restore(from: backup, to: store)
      try Store.compact(at: store)
      #expect(try bytes(of: own) == Data("mine".utf8))
      #expect(try names(in: store).contains("writer.lock"))
    }
  }
}
