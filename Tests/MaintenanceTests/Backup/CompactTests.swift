import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance

/// Making the file smaller.
@Suite struct CompactTests {
  private static let executable = childExecutable(named: "store-child")

  private func withRoomyStore(_ body: (String) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let store = folder.path("store")
      try await Ledger.write(rows: 12, at: store)
      try await Ledger.makeRoom(at: store)
      try await body(store)
    }
  }

  private var atOnce: Store.Options {
    var options = Store.Options()
    options.writerDeadline = .zero
    return options
  }

  @Test func theFileShrinksAndTheContentStays() async throws {
    try await withRoomyStore { store in
      let id = try openStore(at: store).id
      let token = try openStore(at: store).historyToken()
      let records = try dump(openStore(at: store))
      let report = try Store.compact(at: store)
      #expect(report.bytesAfter * 2 < report.bytesBefore)
      #expect(try bytes(of: store + "/data.mdb").count == report.bytesAfter)
      #expect(
        try names(in: store) == [
          "data.mdb", "lock.mdb", "migrate.lock", "writer.lock", "writer.turn",
        ])
      let reopened = try openStore(at: store)
      #expect(try reopened.id == id)
      #expect(try reopened.historyToken() == token)
      #expect(try dump(reopened) == records)
      try await Ledger.addRow(to: reopened)
      #expect(try Ledger.rows(at: store) == 13)
    }
  }

  @Test func aFileOfMinimalSizeStaysTheSame() async throws {
    try await withRoomyStore { store in
      try Store.compact(at: store)
      let before = try DataFile.mark(of: store + "/data.mdb")
      let again = try Store.compact(at: store)
      #expect(again.bytesBefore == again.bytesAfter)
      #expect(try DataFile.mark(of: store + "/data.mdb") == before)
    }
  }

  @Test func aStoreInUseIsNotCompacted() async throws {
    try await withRoomyStore { store in
      let before = try bytes(of: store + "/data.mdb")
      let writer = try ChildProcess(Self.executable, ["lmdb-hold-writer", store])
      _ = writer.readLine()
      #expect(code { try Store.compact(at: store, options: atOnce) } == .busy)
      #expect(try bytes(of: store + "/data.mdb") == before)
      try writer.writeLine("go on")
      writer.waitForExit()
      #expect(code { try Store.compact(at: store + "/none") } == .storeMissing)
    }
  }

  @Test func aConcurrentWriteIsNotLost() async throws {
    try await withRoomyStore { store in
      let hasWritten = Box(false)
      func writeWhenChecking(_ progress: CopyProgress) throws {
        guard case .checking = progress, !hasWritten.value else { return }
        hasWritten.value = true
        let writer = try ChildProcess(Self.executable, ["backup-write-on", store])
        for _ in 0..<2 { _ = writer.readLine() }
        try writer.closeInput()
        writer.waitForExit()
      }
      let outcome = code {
        try Store.compact(at: store, options: atOnce, progress: writeWhenChecking)
      }
      #expect(outcome == .busy)
      try #expect(Ledger.rows(at: store) >= 22)
      try #expect(!names(in: store).contains("replacement.partial"))
    }
  }

  @Test func damagedStoresAndForeignDataAreNotCompacted() async throws {
    try await withRoomyStore { store in
      let foreign = store + "/../foreign"
      do {
        let environment = try Environment.open(at: foreign, options: .init(createIfMissing: true))
        try environment.write { _ = try environment.createTree(named: "theirs", in: $0) }
      }
      #expect(code { try Store.compact(at: foreign) } == .notAStore)
      try damageLeaves(of: store)
      let before = try bytes(of: store + "/data.mdb")
      #expect(code { try Store.compact(at: store) } == .damaged)
      #expect(try bytes(of: store + "/data.mdb") == before)
    }
  }
}
