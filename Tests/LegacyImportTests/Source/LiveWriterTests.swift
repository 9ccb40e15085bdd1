import Foundation
import LegacyImport
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// Each transaction of the writer sets all rows to one generation: a copy that mixes two is torn.
struct LiveWriterTests {
  private static let setUp = """
    CREATE TABLE note (id INTEGER PRIMARY KEY, generation, filler);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
    INSERT INTO note SELECT i, 0, hex(zeroblob(300)) FROM n;
    """

  /// With five pages of memory SQLite writes pages of a transaction before its end.
  private func writer(_ path: String, _ mode: String) throws -> OpenDatabase {
    let writer = try OpenDatabase(path)
    try writer.run("PRAGMA journal_mode = \(mode); PRAGMA cache_size = 5; " + Self.setUp)
    try writer.run("PRAGMA wal_autocheckpoint = 20")
    return writer
  }

  private func generations(_ snapshot: SourceSnapshot) throws -> Set<Cell> {
    let database = try SourceDatabase(snapshot)
    let table = try #require(database.table("note"))
    let rows = try database.rows(of: table, columns: ["generation"]).all()
    #expect(rows.count == 400)
    return Set(rows.map { $0.cells[0] })
  }

  @Test(arguments: ["DELETE", "PERSIST", "WAL"])
  func anUncommittedTransactionIsNotSeen(mode: String) throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("live.sqlite")
        let writer = try writer(path, mode)
        for generation in 1...5 {
          try writer.run(
            "BEGIN EXCLUSIVE; UPDATE note SET generation = \(generation) WHERE id < 300")
          let during = try SourceSnapshot.take(of: path, in: scratch.path)
          #expect(try generations(during) == [.integer(Int64(generation - 1))])
          if mode != "WAL" { #expect(during.report.hasHotJournal) }
          try writer.run("UPDATE note SET generation = \(generation); COMMIT")
          let after = try SourceSnapshot.take(of: path, in: scratch.path)
          #expect(try generations(after) == [.integer(Int64(generation))])
        }
      }
    }
  }

  /// The copier tests for cancellation before each MiB. This test writes at these points.
  private func take(
    _ path: String, _ scratch: TemporaryFolder, _ writer: OpenDatabase, writes: Int
  ) throws -> SourceSnapshot {
    let written = Locked(0)
    return try SourceSnapshot.take(of: path, in: scratch.path) {
      written.withLock { written in
        guard written < writes else { return false }
        written += 1
        do { try writer.run("UPDATE note SET generation = \(written)") } catch {
          Issue.record(error)
        }
        return false
      }
    }
  }

  @Test(arguments: ["DELETE", "WAL"], [1, 2, 3])
  func aWriteDuringTheCopyRestartsIt(mode: String, writes: Int) throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("live.sqlite")
        let writer = try largeWriter(path, mode)
        let snapshot = try take(path, scratch, writer, writes: writes)
        #expect(try generations(snapshot) == [.integer(Int64(writes))])
      }
    }
  }

  @Test func aConstantlyChangingFileIsBusy() throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("live.sqlite")
        let writer = try largeWriter(path, "DELETE")
        do {
          _ = try take(path, scratch, writer, writes: .max)
          Issue.record("a torn copy was taken")
        } catch let error as ImportError { #expect(error.code == .busy) }
      }
    }
  }

  /// More than one piece of the copier.
  private func largeWriter(_ path: String, _ mode: String) throws -> OpenDatabase {
    let writer = try writer(path, mode)
    try writer.run("UPDATE note SET filler = hex(zeroblob(3000)); PRAGMA wal_checkpoint(TRUNCATE)")
    return writer
  }

  @Test(arguments: ["DELETE", "WAL"])
  func eachCopyOfABusyFileIsOneState(mode: String) throws {
    try withTemporaryFolder { folder in
      try withTemporaryFolder { scratch in
        let path = folder.path("live.sqlite")
        let isOver = Atomic(false)
        let failure = Locked<(any Error)?>(nil)
        let hasBegun = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
        let thread = Thread {
          do {
            let writer = try writer(path, mode)
            hasBegun.signal()
            var generation = 0
            while !isOver.load(ordering: .relaxed) {
              generation += 1
              try writer.run("UPDATE note SET generation = \(generation)")
            }
          } catch { failure.withLock { $0 = error } }
          hasBegun.signal()
          hasEnded.signal()
        }
        thread.start()
        hasBegun.wait()
        for _ in 0..<20 {
          do {
            let snapshot = try SourceSnapshot.take(of: path, in: scratch.path)
            #expect(try generations(snapshot).count == 1)
          } catch let error as ImportError where error.code == .busy {
            continue
          }
        }
        isOver.store(true, ordering: .relaxed)
        hasEnded.wait()
        #expect(failure.withLock { $0 } == nil)
      }
    }
  }
}
