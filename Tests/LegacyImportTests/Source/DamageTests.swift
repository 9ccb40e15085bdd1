import Foundation
import LegacyImport
import TestSupport
import Testing

struct DamageTests {
  private static let rowCount = 3_000

  private static func make(_ path: String) throws {
    try MadeDatabase.make(
      at: path,
      """
      PRAGMA page_size = 1024; CREATE TABLE t (id INTEGER PRIMARY KEY, a);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
      INSERT INTO t SELECT i, 'row ' || i || hex(zeroblob(20)) FROM n;
      CREATE TABLE w (id INTEGER, a, PRIMARY KEY (id)) WITHOUT ROWID;
      INSERT INTO w SELECT * FROM t;
      """)
  }

  private func with(
    _ change: (inout Data) -> Void, _ body: (SourceSnapshot) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try Self.make(path)
      var bytes = try Data(contentsOf: URL(filePath: path))
      change(&bytes)
      try bytes.write(to: URL(filePath: path))
      try body(SourceSnapshot.take(of: path, in: folder.path))
    }
  }

  private func error(_ body: () throws -> Void) -> ImportError? {
    do {
      try body()
      return nil
    } catch { return error as? ImportError }
  }

  /// The first leaf of a table of rows that has a row in its middle.
  private func leaf(_ bytes: Data, _ number: Int, type: UInt8 = 13) -> Int {
    let leaves = stride(from: 1024, to: bytes.count, by: 1024).filter { bytes[$0] == type }
    return leaves[number % leaves.count]
  }

  @Test func withoutTheFlagABadPageIsAnErrorThatNamesTheTable() throws {
    try with({ bytes in
      let start = leaf(bytes, 20)
      bytes.replaceSubrange(start..<(start + 1024), with: Data(count: 1024))
    }) { snapshot in
      let thrown = error {
        let database = try SourceDatabase(snapshot)
        _ = try database.rows(of: #require(database.table("t")), columns: ["id", "a"]).all()
      }
      let failure = try #require(thrown)
      #expect(failure.code == .damaged && failure.description.contains("--damaged"))
      #expect(failure.description.contains("table: t"))
    }
  }

  @Test func aRowIDThatOccursTwiceIsAnError() throws {
    try with({ bytes in
      // The size of the row, its id, the size of its header.
      let row = Array("row 5".utf8)
      let cell = bytes.firstRange(of: [0x30, 5, 3, 0, 0x67] + row)
      if let cell { bytes[cell.lowerBound + 1] = 4 }
    }) { snapshot in
      let thrown = error {
        let database = try SourceDatabase(snapshot)
        _ = try database.rows(of: #require(database.table("t")), columns: ["id"]).all()
      }
      #expect(thrown?.code == .damaged)
    }
  }

  @Test func readingContinuesAfterABadPage() throws {
    try with({ bytes in
      for start in [20, 21, 30].map({ leaf(bytes, $0) }) {
        bytes.replaceSubrange(start..<(start + 1024), with: Data(count: 1024))
      }
    }) { snapshot in
      let database = try SourceDatabase.open(snapshot, allowsDamage: true)
      let table = try #require(database.table("t"))
      let rows = try database.rows(of: table, columns: ["id", "a"]).all()
      #expect(rows.count > Self.rowCount - 70 && rows.count < Self.rowCount)
      #expect(try database.count(table) == Int64(rows.count))
      let lost = try #require(database.lostRows(of: "t"))
      #expect(lost.ranges.count == 2 && lost.atLeast >= 3)
      #expect(lost.atMost == Int64(Self.rowCount - rows.count), "\(lost.ranges)")
      let sorted = try database.sortedRows(of: table, columns: ["id"], by: ["a"]).all()
      #expect(sorted.count == rows.count)
    }
  }

  @Test func bothEndsOfATableWithoutRowIDsAreRead() throws {
    try with({ bytes in
      let start = leaf(bytes, 20, type: 10)
      bytes.replaceSubrange(start..<(start + 1024), with: Data(count: 1024))
    }) { snapshot in
      let database = try SourceDatabase.open(snapshot, allowsDamage: true)
      let rows = try database.rows(of: #require(database.table("w")), columns: ["a"]).all()
      #expect(rows.count > Self.rowCount - 40 && rows.count < Self.rowCount)
      #expect(rows.last?.position == .key([.integer(Int64(Self.rowCount))]))
      let lost = try #require(database.lostRows(of: "w"))
      #expect(lost.ranges.count == 1 && lost.atMost >= Int64(Self.rowCount - rows.count))
    }
  }

  @Test func theErrorOfATruncatedFileNamesTheMissingSizeAndTheFlagReadsIt() throws {
    try with({ bytes in bytes = bytes.prefix(bytes.count - 3 * 1024) }) { snapshot in
      let thrown = error { _ = try SourceDatabase(snapshot) }
      let failure = try #require(thrown)
      #expect(failure.code == .truncated && failure.description.contains("pages missing: 3"))
      let database = try SourceDatabase.open(snapshot, allowsDamage: true)
      #expect(try database.count(#require(database.table("t"))) == Int64(Self.rowCount))
    }
  }

  @Test func theFlagRepairsAnOverwrittenHeaderInTheCopy() throws {
    let changes: [(inout Data) -> Void] = [
      { $0.replaceSubrange(0..<16, with: Data(repeating: 0x2a, count: 16)) },
      {
        $0[18] = 9; $0[19] = 9
      }, { $0[22] = 0 },
    ]
    for change in changes {
      try with(change) { snapshot in
        #expect(error { _ = try SourceDatabase(snapshot) }?.code == .damaged)
        let database = try SourceDatabase.open(snapshot, allowsDamage: true)
        #expect(try database.count(#require(database.table("t"))) == Int64(Self.rowCount))
      }
    }
  }

  @Test func theFlagSkipsADamagedEntryOfTheSchema() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try Self.make(path)
      let writer = try OpenDatabase(path)
      try writer.run(
        """
        CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TRIGGER this is none' WHERE name = 'tr';
        """)
      let snapshot = try SourceSnapshot.take(of: path, in: folder.path)
      #expect(error { _ = try SourceDatabase(snapshot) }?.code == .damaged)
      let database = try SourceDatabase.open(snapshot, allowsDamage: true)
      #expect(try database.count(#require(database.table("t"))) == Int64(Self.rowCount))
    }
  }

  @Test func pagesThatLeadInACircleEnd() throws {
    try with({ bytes in
      // Every child of the interior pages is one leaf.
      for page in stride(from: 1024, to: bytes.count, by: 1024) where bytes[page] == 5 {
        let cells = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
        let child = Array(bytes[(page + 8)..<(page + 12)])
        for cell in 0..<cells {
          let place = Int(bytes[page + 12 + cell * 2]) << 8 | Int(bytes[page + 13 + cell * 2])
          bytes.replaceSubrange((page + place)..<(page + place + 4), with: child)
        }
      }
    }) { snapshot in
      let database = try SourceDatabase.open(snapshot, allowsDamage: true)
      let rows = try database.rows(of: #require(database.table("t")), columns: ["id"]).all()
      // No page leads to the leaves, and they are read nevertheless.
      #expect(rows.count == Self.rowCount)
      #expect(Set(rows.map(\.position)).count == rows.count)
    }
  }

  /// Rows may be lost and values wrong; but each row id comes once and in its order, and all ends.
  @Test func mutatedFilesAreReadWithoutHarm() throws {
    var random = SeededRandom(seed: 11)
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try Self.make(path)
      let whole = try Data(contentsOf: URL(filePath: path))
      for round in 0..<150 {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...40, using: &random) {
          let range = round % 3 == 0 ? 0..<1024 : 100..<bytes.count
          bytes[Int.random(in: range, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
        }
        try bytes.write(to: URL(filePath: path))
        do {
          let database = try SourceDatabase.open(
            SourceSnapshot.take(of: path, in: folder.path), allowsDamage: round % 2 == 0)
          for table in database.tables where table.kind == .table {
            let rows = try database.rows(of: table, columns: table.columns.map(\.name)).all()
            let isInOrder = zip(rows, rows.dropFirst()).allSatisfy { isBefore($0, $1) }
            #expect(isInOrder, "seed 11, round \(round)")
          }
        } catch is ImportError { continue }
      }
    }
  }

  private func isBefore(_ left: SourceRow, _ right: SourceRow) -> Bool {
    guard case .rowID(let before) = left.position, case .rowID(let after) = right.position else {
      return true
    }
    return before < after
  }
}
