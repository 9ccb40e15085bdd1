import TestSupport
import Testing

@testable import LegacyImport

struct SourceDatabaseTests {
  @Test func theSchemaIsAsItWasDeclared() throws {
    try MadeDatabase.with(
      """
      CREATE TABLE feed (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);
      CREATE TABLE item (guid TEXT, feed REFERENCES feed, a, b, twice AS (a * 2), PRIMARY KEY (guid, feed),
        FOREIGN KEY (a, b) REFERENCES pair (x, y)) WITHOUT ROWID;
      CREATE TABLE pair (x, y, PRIMARY KEY (x, y));
      CREATE TABLE strange (id INTEGER PRIMARY KEY DESC, a);
      CREATE UNIQUE INDEX some ON pair (x) WHERE y > 0;
      CREATE UNIQUE INDEX expression ON pair (x + y);
      CREATE VIEW v AS SELECT 1;
      CREATE VIRTUAL TABLE words USING fts5(body);
      """
    ) { database in
      #expect(database.tables.map(\.name) == database.tables.map(\.name).sorted())
      let feed = try #require(database.table("feed"))
      #expect(feed.rowIDAlias == "id" && feed.primaryKey == ["id"] && feed.hasRowID)
      #expect(feed.column("url")?.isRequired == true && feed.column("url")?.declaredType == "TEXT")
      #expect(feed.uniqueKeys == [["url"]])
      let item = try #require(database.table("item"))
      #expect(!item.hasRowID && item.rowIDAlias == nil && item.primaryKey == ["guid", "feed"])
      #expect(item.column("twice") != nil)
      #expect(
        Set(item.foreignKeys) == [
          SourceForeignKey(columns: ["feed"], table: "feed", targetColumns: []),
          SourceForeignKey(columns: ["a", "b"], table: "pair", targetColumns: ["x", "y"]),
        ])
      #expect(database.table("pair")?.uniqueKeys == [["x", "y"]])
      #expect(database.table("strange")?.rowIDAlias == nil)
      #expect(database.table("v")?.kind == .view && database.table("words")?.kind == .virtual)
      #expect(database.table("words_data")?.kind == .shadow)
      #expect(database.report.findings.isEmpty && database.report.warnings.isEmpty)
    }
  }

  /// For Swift, a quotation mark with a combining mark after it is another character.
  @Test func namesWithCombiningMarksAreRead() throws {
    let name = "a\"\u{301}b"
    try MadeDatabase.with(
      """
      CREATE TABLE "a""\u{301}b" ("c""\u{301}d");
      INSERT INTO "a""\u{301}b" VALUES (7);
      """
    ) { database in
      let table = try #require(database.table(name))
      #expect(try database.count(table) == 1)
      let rows = try database.rows(of: table, columns: table.columns.map(\.name))
      #expect(try rows.next()?.cells == [.integer(7)])
    }
  }

  @Test func rowsComeInOrderFromAnyPosition() throws {
    let sql = """
      CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (-5, 'x'), (9223372036854775807, 'y'), (3, 'z');
      CREATE TABLE k (a TEXT COLLATE NOCASE, b, c, PRIMARY KEY (a, b)) WITHOUT ROWID;
      INSERT INTO k VALUES ('b', 1, 1), ('A', 2, 2), ('a', 1, 3), ('b', x'00', 4);
      CREATE TABLE d (a, b, PRIMARY KEY (a DESC)) WITHOUT ROWID;
      INSERT INTO d VALUES (1, 1), (2, 2), (3, 3);
      CREATE TABLE shadowed (rowid, _rowid_, oid); INSERT INTO shadowed VALUES (7, 7, 7), (7, 7, 7), (8, 8, 8);
      CREATE TABLE renamed (rowid TEXT, a); INSERT INTO renamed VALUES ('r', 1), ('r', 2);
      """
    try MadeDatabase.with(sql) { database in
      for table in database.tables {
        let columns = table.columns.map(\.name)
        let rows = try database.rows(of: table, columns: columns).all()
        #expect(Set(rows.map(\.position)).count == rows.count)
        #expect(try database.count(table) == Int64(rows.count))
        for (place, row) in rows.enumerated() {
          let rest = try database.rows(of: table, columns: columns, after: row.position).all()
          #expect(
            rest.map(\.position) == rows.dropFirst(place + 1).map(\.position), "\(table.name)")
        }
      }
      let t = try #require(database.table("t"))
      #expect(
        try database.rows(of: t, columns: []).all().map(\.position)
          == [.rowID(-5), .rowID(3), .rowID(.max)])
      let k = try #require(database.table("k"))
      #expect(
        try database.rows(of: k, columns: ["c"]).all().map { $0.cells[0] }
          == [.integer(3), .integer(2), .integer(1), .integer(4)])
    }
  }

  @Test func cellsAreWhatTheFileHolds() throws {
    let sql = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a);
      INSERT INTO t VALUES (1, NULL), (2, -9223372036854775808), (3, 0.1), (4, 'é'), (5, x'00ff'), (6, ''),
        (7, x''), (8, CAST(x'61ff62' AS TEXT)), (9, CAST(x'610062' AS TEXT)), (10, 9e999);
      """
    let expected: [Cell] = [
      .null, .integer(.min), .real(0.1), .text("é"), .blob([0, 255]), .text(""), .blob([]),
      .badText([0x61, 0xff, 0x62]), .text("a\0b"), .real(.infinity),
    ]
    try MadeDatabase.with(sql) { database in
      let table = try #require(database.table("t"))
      let rows = try database.rows(of: table, columns: ["a"]).all()
      #expect(rows.map { $0.cells[0] } == expected)
      for cell in expected {
        let found = try database.row(of: table, where: ["a"], is: [cell], columns: ["a", "id"])
        #expect(found?.cells[0] == cell)
      }
      #expect(try database.row(of: table, where: ["id"], is: [.integer(99)], columns: ["a"]) == nil)
    }
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func textOfSixteenBitsIsRead(encoding: String) throws {
    try MadeDatabase.with(
      "PRAGMA encoding = '\(encoding)'; CREATE TABLE \"größe\" (a); INSERT INTO \"größe\" VALUES ('日本' || char(0) || '𝄞');"
    ) { database in
      let table = try #require(database.table("größe"))
      #expect(
        try database.rows(of: table, columns: ["a"]).all()[0].cells == [.text("日本\0𝄞")])
    }
  }

  @Test func aTableOfTwoThousandColumnsIsRead() throws {
    let names = (0..<1_999).map { "c\($0)" }
    let sql = """
      CREATE TABLE wide (id INTEGER PRIMARY KEY, \(names.joined(separator: ", ")));
      INSERT INTO wide (id, c0, c1998) VALUES (1, 'first', 'last'), (2, 'second', 'end');
      """
    try MadeDatabase.with(sql) { database in
      let table = try #require(database.table("wide"))
      let rows = try database.rows(of: table, columns: table.columns.map(\.name)).all()
      #expect(rows.count == 2 && rows.allSatisfy { $0.cells.count == 2_000 })
      #expect(rows[1].cells[0] == .integer(2) && rows[1].cells[1999] == .text("end"))
    }
  }

  @Test func namesOfAnyKindAreRead() throws {
    try MadeDatabase.with(
      """
      CREATE TABLE "a""b; DROP TABLE x --" ("select" INTEGER, "" TEXT); INSERT INTO "a""b; DROP TABLE x --" VALUES (1, 'x');
      """
    ) { database in
      let table = try #require(database.tables.first)
      #expect(
        try database.rows(of: table, columns: ["select", ""]).all()[0].cells
          == [.integer(1), .text("x")])
      #expect(throws: ImportError.self) { try database.rows(of: table, columns: ["none"]) }
    }
  }

  @Test func rowsAreSortedByteByByte() throws {
    let sql = """
      CREATE TABLE j (a COLLATE NOCASE, b); INSERT INTO j VALUES ('b', 1), ('A', 2), ('a', 3), ('A', 4), (2, 5), (NULL, 6);
      CREATE TABLE w (k TEXT PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO w VALUES ('z', 1), ('y', 2), ('x', 1);
      """
    for allowsDamage in [false, true] {
      try withTemporaryFolder { folder in
        let path = folder.path("made.sqlite")
        try MadeDatabase.make(at: path, sql)
        let database = try SourceDatabase.open(
          SourceSnapshot.take(of: path, in: folder.path), allowsDamage: allowsDamage)
        let sorted = try database.sortedRows(
          of: #require(database.table("j")), columns: ["b"], by: ["a"])
        let numbers = try sorted.all().map { $0.cells[0] }
        #expect(numbers == [6, 5, 2, 4, 3, 1].map { .integer($0) }, "\(allowsDamage)")
        let keyed = try database.sortedRows(
          of: #require(database.table("w")), columns: [], by: ["a"])
        #expect(
          try keyed.all().map(\.position)
            == ["x", "z", "y"].map { .key([.text($0)]) }, "\(allowsDamage)")
      }
    }
  }

  @Test func viewsAndVirtualTablesAreNeverRun() throws {
    try MadeDatabase.with(
      """
      CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n;
      CREATE VIEW broken AS SELECT * FROM nowhere;
      """
    ) { database in
      #expect(database.tables.map(\.kind) == [.view, .view])
      #expect(throws: ImportError.self) { try database.rows(of: database.tables[0], columns: []) }
    }
  }

  @Test func aCancelledReadStops() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(
        at: path,
        """
        CREATE TABLE t (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        INSERT INTO t SELECT i FROM n;
        """)
      #expect(throws: CancellationError.self) {
        let database = try SourceDatabase(
          SourceSnapshot.take(of: path, in: folder.path), isCancelled: { true })
        for _ in 0..<10 { _ = try database.count(#require(database.table("t"))) }
      }
    }
  }
}

struct ScratchKeysTests {
  @Test func keysAreNewOncePerSpace() throws {
    try withTemporaryFolder { folder in
      let keys = try ScratchKeys(in: folder.path)
      var random = SeededRandom(seed: 5)
      var expected: Set<[UInt8]> = []
      for _ in 0..<3_000 {
        let key = random.bytes(count: Int.random(in: 0...2, using: &random))
        #expect(try keys.insert(key, in: 1) == expected.insert(key).inserted)
      }
      for key in expected.prefix(50) {
        #expect(try keys.contains(key, in: 1) && !keys.contains(key, in: 2))
      }
      #expect(try keys.insert(#require(expected.first), in: 2))
    }
  }
}
