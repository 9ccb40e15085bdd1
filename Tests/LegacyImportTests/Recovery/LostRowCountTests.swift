import Foundation
import LegacyImport
import TestSupport
import Testing

/// Counts of the rows that damaged files have lost, by each kind of evidence.
struct LostRowCountTests {
  private static func table(_ more: String) -> String {
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); \(more);
    \(DamagedFile.numbers(800)) INSERT INTO t SELECT i, 'value ' || i FROM n;
    """
  }

  @Test func anIndexHasTheRowIDsOfALostLeaf() throws {
    let sql = Self.table("CREATE INDEX byV ON t (v)") + "DELETE FROM t WHERE id % 7 = 0;"
    try DamagedFile.with(sql) { file in
      let page = file.pages(13)[3]
      let gone = try #require(PageWalk(file.data).leaves[page]).keys.sorted()
      file.zero(page)
      let lost = try #require(file.open().lostRows(of: "t"))
      #expect(lost.atLeast == Int64(gone.count) && lost.atMost == lost.atLeast)
      #expect(lost.ranges.count == 1)
      #expect(lost.ranges[0].hasPrefix("rows \(gone[0]) to \(gone[gone.count - 1]): "))
    }
  }

  @Test func withoutAnIndexTheNeighborsBoundALostLeaf() throws {
    try DamagedFile.with(Self.table("") + "DELETE FROM t WHERE id % 7 = 0;") { file in
      let page = file.pages(13)[3]
      let gone = try #require(PageWalk(file.data).leaves[page]).count
      file.zero(page)
      let lost = try #require(file.open().lostRows(of: "t"))
      #expect(lost.atLeast == 1 && lost.atMost >= gone && lost.atMost < 800)
      #expect(lost.ranges[0].contains("up to "))
    }
  }

  @Test func sequencesAndZMaxEndTheRowIDs() throws {
    let counted = """
      CREATE TABLE s (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
      \(DamagedFile.numbers(800)) INSERT INTO s SELECT i, 'value ' || i FROM n;
      """
    let coreData = """
      CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT TEXT);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME TEXT, Z_SUPER INTEGER, Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Note', 0, 800);
      \(DamagedFile.numbers(800)) INSERT INTO ZNOTE SELECT i, 1, 1, 'value ' || i FROM n;
      """
    for (table, sql) in [("s", counted), ("ZNOTE", coreData)] {
      try DamagedFile.with(sql) { file in
        let last = try #require(
          PageWalk(file.data).leaves.first { $0.value.keys.contains(800) }?.key)
        file.zero(last)
        let lost = try #require(file.open().lostRows(of: table))
        #expect(lost.ranges.count == 1)
        #expect(lost.ranges[0].contains(" to 800: up to "), "\(lost.ranges)")
      }
    }
  }

  @Test func aRowWhoseEndIsLostIsCountedExactly() throws {
    let sql = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
      INSERT INTO t VALUES (1, 'short'), (2, '\(String(repeating: "long ", count: 1_000))'), (3, 'last');
      """
    try DamagedFile.with(sql) { file in
      file.data = file.data.prefix(file.data.count - DamagedFile.pageSize)
      let database = try file.open()
      #expect(try database.rowIDs(of: "t") == [1, 3])
      let lost = try #require(database.lostRows(of: "t"))
      #expect(lost.ranges == ["row 2: 1"] && lost.atLeast == 1 && lost.atMost == 1)
    }
  }

  /// Whatever is lost, no row is made up, and the true number is within the bounds.
  @Test func theTrueNumberIsWithinTheBounds() throws {
    let seed: UInt64 = 20
    var random = SeededRandom(seed: seed)
    for round in 0..<60 {
      let vacuum = ["NONE", "FULL"].randomElement(using: &random) ?? "NONE"
      let rows = Int.random(in: 20...900, using: &random)
      let sql = """
        PRAGMA auto_vacuum = \(vacuum);
        CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE u (a INTEGER, b TEXT NOT NULL, c);
        CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
        \(round % 2 == 0 ? "CREATE INDEX byV ON t (v);" : "")
        BEGIN; \(DamagedFile.numbers(rows)) INSERT INTO t SELECT i, 't ' || i FROM n;
        \(DamagedFile.numbers(rows)) INSERT INTO u SELECT i, 'u ' || i, NULL FROM n;
        \(DamagedFile.numbers(rows)) INSERT INTO w SELECT 'w ' || i, i, hex(zeroblob(i % 30)) FROM n;
        COMMIT; DELETE FROM t WHERE id % 300 > 200;
        """
      try DamagedFile.with(sql) { file in
        let sound = try file.open()
        #expect(sound.lost.isEmpty)
        let truth = try ["t", "u"].map { try sound.values(of: $0) }
        let keyed = try sound.count(#require(sound.table("w")))
        if round % 3 == 0 {
          let bytes = Int.random(in: (2 * DamagedFile.pageSize)..<file.data.count, using: &random)
          file.data = file.data.prefix(bytes)
        } else {
          for _ in 0...Int.random(in: 0..<max(1, file.pageCount / 8), using: &random) {
            file.zero(Int.random(in: 2...file.pageCount, using: &random))
          }
        }
        let database = try file.open()
        for (name, expected) in zip(["t", "u"], truth) {
          let found = try database.values(of: name)
          for (id, values) in found {
            #expect(expected[id] == values, "seed \(seed), round \(round), \(name) \(id)")
          }
          expect(Int64(expected.count), found.count, name, database, "seed \(seed), round \(round)")
        }
        let found = try database.rows(of: #require(database.table("w")), columns: []).all().count
        expect(keyed, found, "w", database, "seed \(seed), round \(round)")
      }
    }
  }

  private func expect(
    _ truth: Int64, _ found: Int, _ table: String, _ database: SourceDatabase, _ place: String
  ) {
    let lost = database.lostRows(of: table)
    let missing = truth - Int64(found)
    #expect(
      (lost?.atLeast ?? 0) <= missing && missing <= lost?.atMost ?? 0,
      "\(place): \(table) has \(found) of \(truth), \(String(describing: lost))")
  }
}
