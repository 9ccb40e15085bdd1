import Foundation
import Glibc
import TestSupport
import Testing

/// The commands `mooring backup`, `restore` and `compact`.
@Suite struct BackupCommandTests {
  private func records(_ store: String) throws -> String {
    try mooringDump("records", "Episode", store: store).output
  }

  @Test func aBackupIsRestored() throws {
    try withSampleStore { store in
      let backup = store + "-backup"
      let before = try records(store)
      let made = try mooring("backup", backup, store: store)
      #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
      #expect(
        made.lines.first?.split(separator: " ") == ["backup", "size", "transaction", "store"])
      #expect(made.lines.last?.hasPrefix(backup) == true)
      #expect(try mooring("set", "Episode", "ep:1", "progress=0.5", store: store).status == 0)
      #expect(try records(store) != before)

      let restored = try mooring("restore", backup, store: store)
      #expect(restored.status == 0 && restored.lines.last?.hasPrefix(store) == true)
      #expect(restored.messages.count == 1)
      #expect(restored.errors.contains("data.mdb.replaced-"))
      #expect(try records(store) == before)
      let compacted = try mooring("compact", store: store)
      #expect(compacted.status == 0 && compacted.errors.isEmpty)
      #expect(try records(store) == before)
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func theJSONHasWhatScriptsNeed() throws {
    func keys(_ run: ToolRun) throws -> [String] {
      let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
      return ((object as? [String: Any]) ?? [:]).keys.sorted()
    }
    try withSampleStore { store in
      let backup = store + "-backup"
      let made = try mooring("backup", backup, "--compact", "--format", "json", store: store)
      #expect(try keys(made) == ["bytes", "path", "storeID", "token", "transaction"])
      let restored = try mooring(
        "restore", backup, "--no-check", "--quiet", "--format", "json", store: store)
      #expect(restored.errors.isEmpty)
      #expect(
        try keys(restored)
          == ["bytes", "path", "replacedFile", "storeID", "token", "transaction"])
      let compacted = try mooring("compact", "--format", "json", store: store)
      #expect(try keys(compacted) == ["bytesAfter", "bytesBefore", "path"])
    }
  }

  @Test func refusalsHaveTheirStatuses() throws {
    try withSampleStore { store in
      let backup = store + "-backup"
      #expect(try mooring("backup", backup, store: store).status == 0)
      expectFailure(try mooring("backup", backup, store: store), 73, backup)
      expectFailure(try mooring("restore", backup + "x", store: store), 69, "no backup")
      expectFailure(try mooring("restore", store, store: store), 64, "itself")
      let empty = store + "-empty"
      try Data().write(to: URL(fileURLWithPath: empty))
      expectFailure(try mooring("restore", empty, store: store), 65, "empty file", empty)
      expectFailure(try mooring("backup", empty + "/x", store: store), 73, empty)

      let other = store + "-other"
      #expect(try mooring("migrate", "up", store: other).status == 0)
      expectFailure(
        try mooring("restore", backup, store: other), 73, "another store", "--replace-other-store")
      let meant = try mooring(
        "restore", backup, "--replace-other-store", "--discard-replaced", store: other)
      #expect(meant.status == 0 && meant.errors.isEmpty)

      let before = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
      truncate(backup + "/data.mdb", 9 * 4096)
      expectFailure(try mooring("restore", backup, store: store), 65, "damaged")
      #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")) == before)
      for arguments in [
        ["backup"], ["restore"], ["compact", "x"], ["backup", "a", "--format", "csv"],
      ] {
        #expect(try run("mooring", arguments, store: store).status == 64)
      }
    }
  }

  @Test func aStoreInUseIsTriedAgainLater() throws {
    try withSampleStore { store in
      let backup = store + "-backup"
      let holder = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-hold-reader", store])
      _ = holder.readLine()
      #expect(try mooring("backup", backup, store: store).status == 0)
      for arguments in [["restore", backup], ["compact"]] {
        let run = try run("mooring", arguments + ["--wait-for-writer", "0"], store: store)
        expectFailure(run, 75, "pid: \(holder.pid)", "store-child")
      }
      try holder.writeLine("go on")
      holder.waitForExit()
      #expect(try mooring("compact", store: store).status == 0)
    }
  }

  @Test func aBackupDoesNotWaitForAStoppedWriterForEver() async throws {
    try await withSampleStore { store in
      let backup = store + "-backup"
      let writer = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-hold-writer", store])
      _ = writer.readLine()
      kill(writer.pid, SIGSTOP)
      defer { kill(writer.pid, SIGKILL) }
      let refused = try mooring("backup", backup, "--wait-for-writer", "0.2", store: store)
      expectFailure(refused, 75, "another process is writing", "pid: \(writer.pid)", "store-child")
      #expect(!FileManager.default.fileExists(atPath: backup))
      #expect(!FileManager.default.fileExists(atPath: backup + ".partial"))
      #expect(try mooring("backup", backup + "-2", "--compact", store: store).status == 0)

      let waiting = try StartedTool(
        "mooring", ["backup", backup, "--wait-for-writer", "86400"], store: store)
      while !FileManager.default.fileExists(atPath: backup + ".partial") { usleep(1_000) }
      kill(waiting.pid, SIGINT)
      let interrupted = try await waiting.finished()
      expectFailure(interrupted, 130, "interrupted; nothing was changed")
      #expect(!FileManager.default.fileExists(atPath: backup + ".partial"))

      kill(writer.pid, SIGCONT)
      try writer.writeLine("go on")
      writer.waitForExit()
      #expect(try mooring("backup", backup, store: store).status == 0)
      #expect(try mooring("check", store: store).status == 0)
      #expect(try mooring("check", store: backup).status == 0)
    }
  }
}
