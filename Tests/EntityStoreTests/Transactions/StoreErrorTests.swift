import EntityModel
import Foundation
import Glibc
import Migrations
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

/// The codes of failures of the storage layer.
@Suite struct StoreErrorTests {
  private static let executable = childExecutable(named: "store-child")

  @Test(
    arguments: [
      (.storeMissing, .storeMissing), (.notAFolder, .notAFolder), (.permission, .notPermitted),
      (.readOnly, .readOnly), (.diskFull, .diskFull), (.inputOutput, .inputOutput),
      (.mapFull, .mapFull), (.readersFull, .readersFull), (.damaged, .damaged),
      (.notAStore, .notAStore), (.busy, .busy), (.valueTooLarge, .storage),
      (.keyInvalid, .storage), (.tooManyTrees, .storage), (.addressSpace, .storage),
      (.programming, .storage), (.other, .storage),
    ] as [(StorageError.Code, StoreError.Code)])
  func aStorageFailureHasACodeOfTheStore(
    _ code: StorageError.Code, _ expected: StoreError.Code
  ) {
    let failure = StorageError(
      code, "it failed", context: [("path", "/a"), ("cause", "b")], advice: "try something else")
    let error = StoreError(failure)
    #expect(error.code == expected)
    // A missing store is an error of the caller, whose path and advice it names.
    #expect(error.isStorageFailure == (code != .storeMissing))
    if code == .storeMissing {
      #expect(error.context.map(\.1) == ["/a"])
      #expect(error.description.hasPrefix("there is no store here (path: /a); "))
    } else {
      #expect(error.description == failure.description)
      #expect(error.context.map(\.0) == ["path", "cause"])
      #expect(error.advice == "try something else")
    }
  }

  @Test func onlyPassingFailuresAreTemporary() {
    let passing: [StoreError.Code] = [.busy, .readersFull, .diskFull, .mapFull, .inputOutput]
    let stale: [StoreError.Code] = [.snapshotExpired, .conflict]
    let others: [StoreError.Code] = [
      .storeMissing, .damaged, .readOnly, .notPermitted, .notAFolder, .storage, .closed,
      .validation, .needsMigration,
    ]
    for code in passing + stale + others {
      let error = StoreError(code, "it failed")
      #expect(error.isTemporary == (passing + stale).contains(code), "\(code)")
      #expect(error.passes == passing.contains(code), "\(code)")
    }
  }

  @Test func aDamagedRecordIsNoFailureOfStorage() {
    #expect(!StoreError.damaged("a record is cut", entity: "Item").isStorageFailure)
    let page = StorageError(.damaged, "a page is cut", context: [], advice: "restore a backup")
    #expect(StoreError(page).isStorageFailure)
  }

  @Test func aFailureWithinATransactionIsThrownAsAStoreError() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let failure = StorageError(.inputOutput, "it failed", context: [], advice: "look at it")
      #expect(code { try store.read { _ in throw failure } } == .inputOutput)
      #expect(await code { try await store.write { _ in throw failure } } == .inputOutput)
      #expect(code { try store.writeBlocking { _ in throw failure } } == .inputOutput)
      #expect(code { try store.runAlone { _ in throw failure } } == .inputOutput)
    }
  }

  @Test func aSecondWriterProcessIsBusy() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await Ledger.write(rows: 2, at: path)
      let child = try ChildProcess(Self.executable, ["lmdb-hold-writer", path])
      #expect(child.readLine()?.hasPrefix("writing ") == true)
      var options = Store.Options()
      options.writerDeadline = .zero
      let store = try Store.open(at: path, migrations: [.model], options: options)
      let error = await #expect(throws: StoreError.self) { try await store.write { _ in } }
      #expect(error?.code == .busy)
      #expect(error?.isTemporary == true)
      #expect(error?.description.contains("\(child.pid)") == true)
      try child.writeLine("go on")
      child.waitForExit()
      try await store.write { _ in }
    }
  }

  @Test func aFullMapIsNotAFullDisk() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), mapSize: 2 << 20)
      let error = await #expect(throws: StoreError.self) {
        for number in 0..<1_000 {
          try await store.write { transaction in
            let values: [String: Value] = [
              "name": .string("\(number)"), "blob": .data(Data(count: 9_000)),
            ]
            _ = try transaction.insert("Sample", values)
          }
        }
      }
      #expect(error?.code == .mapFull)
      try requireClean(store)
    }
  }

  @Test func aStoreOpenForReadingOnlyRefusesWrites() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await Ledger.write(rows: 2, at: path)
      var options = Store.Options()
      options.isReadOnly = true
      let store = try Store.open(at: path, migrations: [.model], options: options)
      #expect(await code { try await store.write { _ in } } == .readOnly)
      #expect(code { try store.runAlone { _ in } } == .readOnly)
    }
  }

  @Test func aStoreOpenForReadingOnlyRefusesWritesBesideAWriterOfTheSameProcess() async throws {
    try await withTemporaryStore { temporary in
      let path = temporary.folder.path("store")
      var options = Store.Options()
      options.isReadOnly = true
      let reader = try Store.open(at: path, migrations: [.model], options: options)
      #expect(await code { try await reader.write { _ in } } == .readOnly)
      #expect(code { try reader.writeBlocking { _ in } } == .readOnly)
      #expect(code { try reader.runAlone { _ in } } == .readOnly)
      try await temporary.store.write { _ in }
    }
  }

  @Test func aStoreOnAReadOnlyDeviceIsNotOpenedForWriting() async throws {
    try await withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "4m") else { return }
      defer { unmountDevice(device) }
      let path = device + "/store"
      try await Ledger.write(rows: 2, at: path)
      try #require(mount("mooring-test", device, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
      #expect(code { try Store.open(at: path, migrations: [.model]) } == .readOnly)
      #expect(code { try Store.open(at: device + "/new", migrate: .ifEmpty) } == .readOnly)
    }
  }

  @Test func aDataFileThatWasCutIsDamaged() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await Ledger.write(rows: 20, at: path)
      try #require(truncate(path + "/data.mdb", 3 * 4_096) == 0)
      let error = #expect(throws: StoreError.self) {
        try Store.open(at: path, migrations: [.model])
      }
      #expect(error?.code == .damaged)
      #expect(error?.isStorageFailure == true && error?.isTemporary == false)
    }
  }

  @Test func aPathWithoutAFolderOrAStoreIsRefused() throws {
    try withTemporaryFolder { folder in
      let file = folder.path("file")
      try Data().write(to: URL(fileURLWithPath: file))
      #expect(code { try Store.open(at: file) } == .notAFolder)
      #expect(code { try Store.open(at: folder.path("none")) } == .storeMissing)
    }
  }
}
