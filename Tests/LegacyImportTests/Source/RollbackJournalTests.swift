import Foundation
import LegacyImport
import TestSupport
import Testing

struct RollbackJournalTests {
  /// A file and its hot journal as a killed program leaves them.
  private func makeHot(_ path: String, _ folder: TemporaryFolder) throws {
    let live = folder.path("live.sqlite")
    let writer = try OpenDatabase(live)
    try writer.run(
      """
      PRAGMA cache_size = 5; CREATE TABLE t (id INTEGER PRIMARY KEY, a);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO t SELECT i, 'before' || hex(zeroblob(200)) FROM n;
      BEGIN; UPDATE t SET a = 'after' || substr(a, 7);
      """)
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix)
    }
  }

  private func torn(_ path: String, _ folder: TemporaryFolder) throws -> (Int, SourceReport) {
    let database = try SourceDatabase(SourceSnapshot.take(of: path, in: folder.path))
    let rows = try database.rows(of: #require(database.table("t")), columns: ["a"]).all()
    let after = rows.filter {
      guard case .text(let text) = $0.cells[0] else { return true }
      return text.hasPrefix("after")
    }
    return (after.count, database.report)
  }

  @Test func aHotJournalIsRolledBackInTheCopy() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("hot.sqlite")
      try makeHot(path, folder)
      let (torn, report) = try torn(path, folder)
      #expect(torn == 0 && report.hasHotJournal)
      #expect(report.notes.contains { $0.contains("rolled back") })
      #expect(FileManager.default.fileExists(atPath: path + "-journal"))
    }
  }

  @Test func aDamagedJournalCausesAWarning() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("hot.sqlite")
      try makeHot(path, folder)
      var journal = try Data(contentsOf: URL(filePath: path + "-journal"))
      journal[3] ^= 0xff
      try journal.write(to: URL(filePath: path + "-journal"))
      let (torn, report) = try torn(path, folder)
      #expect(torn > 0 && report.warnings.contains { $0.contains("-journal is damaged") })
    }
  }

  /// SQLite would open the file that the journal names, find no journals named in it that are
  /// there, and delete it.
  @Test func theFileThatAJournalNamesIsNotTouched() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("hot.sqlite")
      try makeHot(path, folder)
      let victim = folder.path("precious")
      try Data("what nobody may lose".utf8).write(to: URL(filePath: victim))
      try name(victim, in: path + "-journal")
      let (torn, report) = try torn(path, folder)
      #expect(torn == 0 && report.hasHotJournal)
      #expect(try Data(contentsOf: URL(filePath: victim)).count == 20)
    }
  }

  @Test func aTransactionWhoseCommonJournalIsGoneIsCommitted() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("hot.sqlite")
      try makeHot(path, folder)
      try name(folder.path("gone"), in: path + "-journal")
      let (torn, report) = try torn(path, folder)
      #expect(torn > 0 && report.warnings.contains { $0.contains("common journal is gone") })
    }
  }

  private func name(_ superJournal: String, in journal: String) throws {
    let bytes = Array(superJournal.utf8)
    let sum = bytes.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
    let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    let end = big(0x4_0001) + bytes + big(UInt32(bytes.count)) + big(sum) + magic
    var content = try Data(contentsOf: URL(filePath: journal))
    content.append(contentsOf: end)
    try content.write(to: URL(filePath: journal))
  }

  private func big(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
