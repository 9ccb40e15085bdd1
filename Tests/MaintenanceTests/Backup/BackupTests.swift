import EntityModel
import Foundation
import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Backups of a store that is in use.
@Suite struct BackupTests {
  private static let executable = childExecutable(named: "store-child")

  @Test(arguments: [false, true])
  func aBackupIsConsistentWhileAnotherProcessWrites(compacting: Bool) async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      try await Ledger.addRow(to: store)
      let writer = try ChildProcess(Self.executable, ["backup-write-on", store.folder])
      #expect(writer.readLine() == "ready")
      var previous = 0
      for round in 0..<5 {
        // The writer has commits after the previous backup, and goes on during this one.
        try writer.writeLine("more")
        while let line = writer.readLine(), let written = Int(line), written <= previous {}
        let target = temporary.folder.path("backup \(round)")
        let report = try store.backUp(to: target, compacting: compacting)
        let rows = try Ledger.rows(at: target)
        #expect(rows > previous)
        previous = rows
        #expect(report.path == target)
        #expect(report.storeID == (try store.id))
        // What came after the backup is what the history says after its token.
        let later = try store.read { transaction in
          let count = try transaction.get("Sample", by: ["name": "counter"])?["rank"]
          let changes = try transaction.history(after: report.token)
          return (count, Int64(changes.count))
        }
        #expect(later.0 == .int64(Int64(rows) + later.1))
      }
      try writer.closeInput()
      #expect(writer.waitForExit().status == 0)
    }
  }

  @Test func aBackupIsPrivateToItsOwnerAndLeavesNoOtherFiles() async throws {
    try await withTemporaryStore { temporary in
      let target = temporary.folder.path("a/b/backup")
      let report = try temporary.store.backUp(to: target)
      let manager = FileManager.default
      let mode = { (path: String) in
        try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      }
      #expect(try manager.contentsOfDirectory(atPath: temporary.folder.path("a/b")) == ["backup"])
      #expect(try manager.contentsOfDirectory(atPath: target) == ["data.mdb"])
      #expect(try mode(target) == 0o700)
      #expect(try mode(target + "/data.mdb") == 0o600)
      let size = try manager.attributesOfItem(atPath: target + "/data.mdb")[.size] as? Int
      #expect(size == report.bytes)
    }
  }

  @Test func aCompactBackupLeavesFreePagesOut() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await Ledger.write(rows: 20, at: path)
      try await Ledger.makeRoom(at: path)
      let store = try openStore(at: path)
      let plain = try store.backUp(to: folder.path("plain"))
      let compact = try store.backUp(to: folder.path("compact"), compacting: true)
      #expect(compact.bytes * 2 < plain.bytes)
      #expect(compact.token == plain.token)
      #expect(try Ledger.rows(at: folder.path("compact")) == 20)
      #expect(try Ledger.rows(at: folder.path("plain")) == 20)
    }
  }

  @Test func aFolderThatHoldsSomethingIsNotChanged() async throws {
    try await withTemporaryStore { temporary in
      let target = temporary.folder.path("taken")
      try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: URL(fileURLWithPath: target + "/file"))
      #expect(code { try temporary.store.backUp(to: target) } == .occupied)
      #expect(code { try temporary.store.backUp(to: target + "/file") } == .occupied)
      #expect(code { try temporary.store.backUp(to: temporary.store.folder) } == .occupied)
      #expect(try names(in: temporary.folder.path) == ["store", "taken"])
      try FileManager.default.removeItem(atPath: target + "/file")
      try temporary.store.backUp(to: target)
      #expect(try Ledger.rows(at: target) == 0)
    }
  }

  @Test func leftoversOfAKilledBackupAreRemovedAndOtherFilesAreNot() async throws {
    try await withTemporaryStore { temporary in
      let target = temporary.folder.path("backup")
      let half = target + ".partial/store"
      try FileManager.default.createDirectory(atPath: half, withIntermediateDirectories: true)
      try Data("half".utf8).write(to: URL(fileURLWithPath: half + "/data.mdb"))
      try temporary.store.backUp(to: target)
      #expect(try names(in: temporary.folder.path) == ["backup", "store"])

      let other = temporary.folder.path("other")
      try FileManager.default.createDirectory(
        atPath: other + ".partial", withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: URL(fileURLWithPath: other + ".partial/file"))
      #expect(code { try temporary.store.backUp(to: other) } == .occupied)
      #expect(try names(in: other + ".partial") == ["file"])
    }
  }

  @Test func twoBackupsToOnePlaceExcludeEachOther() async throws {
    try await withTemporaryStore { temporary in
      let target = temporary.folder.path("backup")
      let second = Box<StoreError.Code?>(nil)
      // The first one is at work when its progress is told.
      func tryAgain(_: CopyProgress) {
        second.value = code { try temporary.store.backUp(to: target) }
      }
      try temporary.store.backUp(to: target, progress: tryAgain)
      #expect(second.value == .busy)
      #expect(try Ledger.rows(at: target) == 0)
    }
  }

  @Test func aBackupThatIsGivenUpLeavesNoTrace() async throws {
    try await withTemporaryStore { temporary in
      let target = temporary.folder.path("backup")
      #expect(throws: GivenUp.self) { try temporary.store.backUp(to: target, progress: giveUp) }
      try #expect(names(in: temporary.folder.path) == ["store"])
    }
  }

  private struct GivenUp: Error {}

  private func giveUp(_: CopyProgress) throws { throw GivenUp() }

  @Test(arguments: [false, true])
  func aDamagedStoreIsNotBackedUp(compacting: Bool) async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await Ledger.write(rows: 60, at: path)
      try damageLeaves(of: path)
      var options = Store.Options()
      options.isReadOnly = true
      let store = try Store.open(at: path, options: options)
      let target = folder.path("backup")
      #expect(code { try store.backUp(to: target, compacting: compacting) } == .damaged)
      #expect(try names(in: folder.path) == ["store"])
    }
  }

  @Test func aDeviceWithoutRoomIsReportedBeforeAnythingIsCopied() async throws {
    try await withTemporaryStore { temporary in
      guard let device = try temporary.folder.mountDevice(size: "64k") else { return }
      defer { unmountDevice(device) }
      for number in 0..<100 {
        try await temporary.store.write { transaction in
          let blob = Value.data(Data(count: 3_000))
          _ = try transaction.insert("Sample", ["name": .string("\(number)"), "blob": blob])
        }
      }
      do {
        try temporary.store.backUp(to: device + "/backup")
        Issue.record("there was room")
      } catch let error as StoreError {
        #expect(error.code == .diskFull)
        #expect(error.description.contains("needed bytes"))
      }
      #expect(try names(in: device) == [])
    }
  }
}

/// The names in a folder, sorted.
func names(in folder: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
}
