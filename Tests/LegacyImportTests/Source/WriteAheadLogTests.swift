import Foundation
import TestSupport
import Testing

@testable import LegacyImport

struct WriteAheadLogTests {
  @Test func framesOfSQLiteAreAllValidAndCommitted() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      let writer = try OpenDatabase(path)
      try writer.run("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
      for number in 0..<50 {
        try writer.run("INSERT INTO t VALUES (hex(zeroblob(\(number * 20))))")
      }
      let log = try read(Data(contentsOf: URL(filePath: path + "-wal")), folder)
      #expect(log.pageSize == 1024 && log.end == .file && log.frames > 50)
      #expect(log.validFrames == log.frames && log.committedFrames == log.frames)
      #expect(log.fits(try #require(DatabaseHeader(Array(Data(contentsOf: URL(filePath: path)))))))
    }
  }

  @Test func framesFromBeforeACheckpointAreNoLoss() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      let writer = try OpenDatabase(path)
      try writer.run("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
      for number in 0..<20 { try writer.run("INSERT INTO t VALUES (\(number))") }
      try writer.run("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES ('after')")
      let log = try read(Data(contentsOf: URL(filePath: path + "-wal")), folder)
      #expect(log.end == .olderFrames && log.lostFrames == 0)
      #expect(log.committedFrames > 0 && log.committedFrames < log.frames)
      let snapshot = try SourceSnapshot.take(of: path, in: folder.path)
      #expect(snapshot.report.warnings.isEmpty)
      let database = try SourceDatabase(snapshot)
      #expect(try database.count(#require(database.table("t"))) == 21)
    }
  }

  @Test(arguments: [false, true])
  func eitherByteOrderIsRead(isBigEndian: Bool) throws {
    try withTemporaryFolder { folder in
      let log = try read(Data(made(isBigEndian: isBigEndian).bytes()), folder)
      #expect(log.frames == 4 && log.validFrames == 4 && log.committedFrames == 3)
      #expect(log.pages == 9 && log.end == .file)
    }
  }

  private func made(isBigEndian: Bool = false) -> LogBytes {
    var random = SeededRandom(seed: 1)
    return LogBytes(
      isBigEndian: isBigEndian,
      frames: [(2, 0), (3, 8), (4, 9), (5, 0)].map {
        .init(page: $0.0, commit: $0.1, content: random.bytes(count: 512))
      })
  }

  @Test func aTornFrameDiscardsItsTransaction() throws {
    try withTemporaryFolder { folder in
      let log = try read(Data(made().bytes().dropLast(600)), folder)
      #expect(log.end == .torn && log.frames == 3 && log.validFrames == 2)
      #expect(log.committedFrames == 2 && log.pages == 8)
    }
  }

  @Test func aChangedByteEndsTheLogAndCountsWhatIsLost() throws {
    try withTemporaryFolder { folder in
      var bytes = made().bytes()
      bytes[32 + 536 + 100] ^= 1
      let log = try read(Data(bytes), folder)
      #expect(log.end == .badChecksum && log.validFrames == 1 && log.lostFrames == 3)
      #expect(log.committedFrames == 0 && log.pages == nil)
    }
  }

  @Test func aChangedHeaderDiscardsTheLog() throws {
    try withTemporaryFolder { folder in
      for place in [0, 3, 5, 9, 17, 30] {
        var bytes = made().bytes()
        bytes[place] ^= 1
        let log = try read(Data(bytes), folder)
        #expect(log.validFrames == 0 && log.end != .file, "byte \(place)")
      }
    }
  }

  @Test func mutatedLogsAreReadAsFarAsSQLiteWouldOrLess() throws {
    try withTemporaryFolder { folder in
      var random = SeededRandom(seed: 3)
      for round in 0..<1_000 {
        var bytes = made(isBigEndian: round % 2 == 0).bytes()
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        let log = try read(Data(bytes), folder)
        #expect(
          log.committedFrames <= log.validFrames && log.validFrames <= log.frames
            && log.validFrames <= 4, "seed 3, round \(round)")
      }
    }
  }

  private func read(_ bytes: Data, _ folder: TemporaryFolder) throws -> WriteAheadLog {
    let path = folder.path("log-wal")
    try bytes.write(to: URL(filePath: path))
    let file = try SourceFile.open(path)
    guard let file else { throw CocoaError(.fileNoSuchFile) }
    return try WriteAheadLog(file)
  }
}

/// The warnings about a lost or foreign log state the consequences.
struct LogWarningTests {
  private func snapshot(
    _ change: (_ path: String, _ log: Data) throws -> Void
  ) throws -> (warnings: [String], notes: [String], rows: Int64?) {
    try withTemporaryFolder { folder in
      let live = folder.path("live.sqlite")
      let path = folder.path("copied.sqlite")
      let writer = try OpenDatabase(live)
      try writer.run(
        """
        PRAGMA journal_mode = WAL; CREATE TABLE t (a); PRAGMA wal_checkpoint(TRUNCATE);
        INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);
        """)
      try FileManager.default.copyItem(atPath: live, toPath: path)
      try change(path, Data(contentsOf: URL(filePath: live + "-wal")))
      let database = try SourceDatabase(SourceSnapshot.take(of: path, in: folder.path))
      let rows = try database.table("t").map { try database.count($0) }
      return (database.report.warnings, database.report.notes, rows)
    }
  }

  @Test func anIntactLogCausesNoWarning() throws {
    let found = try snapshot { path, log in try log.write(to: URL(filePath: path + "-wal")) }
    #expect(found.warnings.isEmpty && found.notes.isEmpty && found.rows == 2)
  }

  @Test func aMissingLogIsReported() throws {
    let found = try snapshot { _, _ in }
    #expect(found.notes.contains { $0.contains("no -wal") } && found.rows == 0)
  }

  @Test func anEmptyLogCausesAWarning() throws {
    let found = try snapshot { path, _ in try Data().write(to: URL(filePath: path + "-wal")) }
    #expect(found.warnings.contains { $0.contains("-wal is empty") } && found.rows == 0)
  }

  @Test func aTornLogCausesAWarning() throws {
    let found = try snapshot { path, log in
      try log.dropLast(10).write(to: URL(filePath: path + "-wal"))
    }
    #expect(found.warnings.contains { $0.contains("torn") } && found.rows == 1)
  }

  @Test func aLogUnderAnOlderNameCausesAWarning() throws {
    let found = try snapshot { path, log in
      let folder = URL(filePath: path).deletingLastPathComponent()
      try log.write(to: folder.appending(path: "older.sqlite-wal"))
    }
    #expect(found.warnings.contains { $0.contains("older.sqlite-wal") } && found.rows == 0)
  }

  @Test func theLogOfAnotherFileCausesAWarning() throws {
    let found = try snapshot { path, _ in
      let other = URL(filePath: path).deletingLastPathComponent().appending(path: "other.sqlite")
      let writer = try OpenDatabase(other.path)
      for number in 0..<9 { try writer.run("CREATE TABLE t\(number) (a)") }
      try writer.run("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
      try Data(contentsOf: URL(filePath: other.path + "-wal"))
        .write(to: URL(filePath: path + "-wal"))
    }
    #expect(found.warnings.contains { $0.contains("another file") }, "\(found)")
  }

  @Test func theLogOfAnotherCoreDataStoreIsRecognizedByItsIdentity() throws {
    let found = try snapshot { path, _ in
      let folder = URL(filePath: path).deletingLastPathComponent()
      for (name, identity) in [("one", "AAAA"), ("two", "BBBB")] {
        let live = folder.appending(path: name + ".sqlite").path
        let writer = try OpenDatabase(live)
        try writer.run(
          """
          PRAGMA journal_mode = WAL; CREATE TABLE Z_METADATA (Z_VERSION, Z_UUID);
          INSERT INTO Z_METADATA VALUES (1, '\(identity)'); PRAGMA wal_checkpoint(TRUNCATE);
          UPDATE Z_METADATA SET Z_VERSION = 2;
          """)
        if name == "one" {
          try Data(contentsOf: URL(filePath: live)).write(to: URL(filePath: path))
        } else {
          try Data(contentsOf: URL(filePath: live + "-wal"))
            .write(to: URL(filePath: path + "-wal"))
        }
      }
    }
    #expect(found.warnings.contains { $0.contains("AAAA") && $0.contains("BBBB") }, "\(found)")
  }
}
