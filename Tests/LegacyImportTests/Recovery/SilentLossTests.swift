import Foundation
import LegacyImport
import TestSupport
import Testing

/// Damage that leaves each page readable and would go unnoticed, and damage in numbers that the
/// recovery counts with.
struct SilentLossTests {
  private static let table = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
    \(DamagedFile.numbers(800)) INSERT INTO t SELECT i, 'value ' || i FROM n;
    """

  @Test func withoutTheFlagAFileThatSQLiteFindsDamagedIsAnError() throws {
    try DamagedFile.with(Self.table) { file in
      file.setCellCount(5, of: file.pages(13)[3])
      let error = #expect(throws: ImportError.self) { try file.open(allowsDamage: false) }
      let text = error?.description ?? ""
      #expect(error?.code == .damaged && text.contains("--damaged"), "\(text)")
      #expect(text.contains("finding: "), "\(text)")
    }
  }

  @Test func withoutTheFlagAValueThatBreaksARuleIsRead() throws {
    let sql = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, NULL);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT NOT NULL)';
      """
    try DamagedFile.with(sql) { file in
      let database = try file.open(allowsDamage: false)
      #expect(try database.rowIDs(of: "t") == [1] && !database.report.findings.isEmpty)
    }
  }

  @Test func rowsThatADamagedNumberOfCellsHidesAreCounted() throws {
    let seed: UInt64 = 2
    var random = SeededRandom(seed: seed)
    let keyed = """
      CREATE TABLE t (id INTEGER, v TEXT, PRIMARY KEY (id)) WITHOUT ROWID;
      \(DamagedFile.numbers(800)) INSERT INTO t SELECT i, 'value ' || i FROM n;
      """
    for (sql, type) in [
      (Self.table, UInt8(13)), (Self.table + "CREATE INDEX byV ON t (v);", 13), (keyed, 10),
    ] {
      try DamagedFile.with(sql) { file in
        let page = try #require(file.pages(type).randomElement(using: &random))
        let cells = file.cellCount(of: page)
        let left = Int.random(in: 1..<cells, using: &random)
        file.setCellCount(left, of: page)
        let database = try file.open()
        let rows = try database.rows(of: #require(database.table("t")), columns: []).all().count
        let missing = Int64(800 - rows)
        let lost = database.lost.first
        #expect(
          lost.map { ($0.atLeast...$0.atMost).contains(missing) } == true,
          "seed \(seed), page \(page): \(left) of \(cells) cells, \(missing): \(database.lost)")
      }
    }
  }

  @Test func aPageWithoutAReadableRowIsCountedAsLost() throws {
    try DamagedFile.with(Self.table) { file in
      let leaf = file.pages(13)[3]
      let gone = try #require(PageWalk(file.data).leaves[leaf]).count
      file.zero(2)
      // The places of all cells are after the end of the page.
      let start = (leaf - 1) * DamagedFile.pageSize
      let places = (start + 8)..<(start + 8 + 2 * file.cellCount(of: leaf))
      file.data.replaceSubrange(places, with: Data(repeating: 0xff, count: places.count))
      let database = try file.open()
      #expect(try database.rowIDs(of: "t").count == 800 - gone)
      let lost = try #require(database.lostRows(of: "t"))
      #expect((lost.atLeast...lost.atMost).contains(Int64(gone)), "\(lost)")
    }
  }

  @Test func aPartOfALongValueIsNoListOfFreePages() throws {
    // The last page of the value looks like a list of free pages that has one page, a leaf.
    let sql = """
      CREATE TABLE long (id INTEGER PRIMARY KEY, a, v BLOB);
      INSERT INTO long VALUES (1, 2, cast('start' AS BLOB) || zeroblob(3000));
      """
    try DamagedFile.with(sql + Self.table) { file in
      let leaf = file.pages(13)[4]
      let root = try #require(file.pages(5).first)
      let long = try #require(
        (3...file.pageCount).first {
          file.data[(($0 - 1) * DamagedFile.pageSize)..<($0 * DamagedFile.pageSize)]
            .allSatisfy { $0 == 0 }
        })
      let start = (long - 1) * DamagedFile.pageSize
      file.data.replaceSubrange(
        (start + 4)..<(start + 12), with: [0, 0, 0, 1, 0, 0, 0, UInt8(leaf)])
      // Nothing leads to the page of the value, nor to the leaf.
      file.zero(2)
      file.zero(root)
      let database = try file.open()
      #expect(try database.rowIDs(of: "t") == Array(1...800), "\(database.lost)")
    }
  }

  @Test func pagesAfterTheEndOfTheDatabaseHaveDeletedRows() throws {
    try DamagedFile.with(Self.table) { file in
      let end = file.pageCount
      let leaf = file.pages(13)[3]
      let start = (leaf - 1) * DamagedFile.pageSize
      let stale = file.data[start..<(start + DamagedFile.pageSize)]
      let root = try #require(file.pages(5).first)
      let gone = try #require(PageWalk(file.data).leaves[leaf]).keys
      file.zero(leaf)
      file.zero(root)
      file.data.append(stale)
      #expect(file.pageCount == end + 1)
      let ids = try file.open().rowIDs(of: "t")
      #expect(Set(ids) == Set(1...800).subtracting(gone))
    }
  }

  @Test func rowsOfAnotherTableAreNoneOfTheTableThatHasSuchRows() throws {
    let other = """
      CREATE TABLE o (id INTEGER PRIMARY KEY, v TEXT);
      \(DamagedFile.numbers(800)) INSERT INTO o SELECT i, 'other ' || i FROM n;
      """
    try DamagedFile.with(Self.table + other) { file in
      file.zero(1)
      let database = try file.open(
        lostTables: ["t": "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"])
      let values = try database.values(of: "t").values.map { String($0[1].prefix(5)) }
      #expect(Set(values).count == 1, "rows of two tables are in one")
      #expect(values.count == 800)
      let found = try #require(database.lost.first { $0.isFound })
      #expect(found.atMost == 800, "\(database.lost)")
    }
  }

  @Test func aPageToWhichTwoTablesLeadIsOfNeither() throws {
    let other = """
      CREATE TABLE o (id INTEGER PRIMARY KEY, v TEXT);
      \(DamagedFile.numbers(800)) INSERT INTO o SELECT i, 'other ' || i FROM n;
      """
    try DamagedFile.with(Self.table + other) { file in
      let roots = file.pages(5)
      try #require(roots.count == 2)
      let (first, second) = (file.childPlace(2, of: roots[0]), file.childPlace(2, of: roots[1]))
      file.data.replaceSubrange(first, with: Data(file.data[second]))
      let database = try file.open()
      for (name, word) in [("t", "value"), ("o", "other")] {
        let values = try database.values(of: name)
        #expect(values.values.allSatisfy { $0[1].hasPrefix(word) }, "\(name)")
        let lost = try #require(database.lostRows(of: name))
        #expect((lost.atLeast...lost.atMost).contains(Int64(800 - values.count)), "\(lost)")
      }
    }
  }

  @Test func aValueIsNotContinuedWithThePagesOfAnother() throws {
    let (a, b) = (String(repeating: "a", count: 3_000), String(repeating: "b", count: 3_000))
    let sql = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v);
      INSERT INTO t VALUES (1, '\(a)'), (2, '\(b)');
      """
    try DamagedFile.with(sql) { file in
      let firsts = try [a, b].map { text in
        try #require(
          (3...file.pageCount).first {
            file.data[($0 - 1) * DamagedFile.pageSize + 4] == text.utf8.first
          })
      }
      let trees = DamagedFile.pageSize..<file.data.count
      let place = try #require(file.data.range(of: Data([0, 0, 0, UInt8(firsts[1])]), in: trees))
      file.data.replaceSubrange(place, with: [0, 0, 0, UInt8(firsts[0])])
      let database = try file.open()
      #expect(try database.values(of: "t") == [1: ["1", a]])
      #expect(database.lostRows(of: "t")?.ranges == ["row 2: 1"], "\(database.lost)")
    }
  }

  @Test func theLeastAndTheGreatestRowIDAreCounted() throws {
    let sql = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX byV ON t (v);
      INSERT INTO t VALUES (\(Int64.min), 'least'), (\(Int64.max), 'greatest');
      \(DamagedFile.numbers(400)) INSERT INTO t SELECT i, 'value ' || i FROM n;
      """
    for sql in [sql, sql + "DROP INDEX byV;"] {
      for id in [Int64.min, .max] {
        try DamagedFile.with(sql) { file in
          let page = try #require(
            PageWalk(file.data).leaves.first { $0.value.keys.contains(id) }?.key)
          file.zero(page)
          let database = try file.open()
          let missing = Int64(402 - (try database.rowIDs(of: "t").count))
          let lost = try #require(database.lostRows(of: "t"))
          #expect((lost.atLeast...lost.atMost).contains(missing), "\(lost)")
        }
      }
    }
  }

  @Test func rowsOfNoTableAreKeptWhateverTheNumberOfTheirValues() throws {
    let more = """
      ALTER TABLE t ADD COLUMN c;
      \(DamagedFile.numbers(200, from: 801)) INSERT INTO t SELECT i, 'value ' || i, i FROM n;
      """
    try DamagedFile.with(Self.table + more) { file in
      file.zero(1)
      let found = try file.open().lost.filter(\.isFound)
      #expect(found.map(\.table).sorted() == ["lost_and_found_2", "lost_and_found_3"])
      #expect(found.map(\.atMost).sorted() == [200, 800])
    }
  }

  @Test func entriesOfAnIndexAreNoRowsOfATableWithoutRowIDs() throws {
    let sql = """
      CREATE TABLE k (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
      CREATE TABLE i (id INTEGER PRIMARY KEY, v TEXT NOT NULL, w); CREATE INDEX byV ON i (v);
      \(DamagedFile.numbers(300)) INSERT INTO k SELECT 'key ' || i, i FROM n;
      \(DamagedFile.numbers(300)) INSERT INTO i SELECT i, 'value ' || i, i FROM n;
      """
    try DamagedFile.with(sql) { file in
      file.zero(1)
      let database = try file.open(
        lostTables: ["k": "CREATE TABLE k (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID"])
      let table = try #require(database.table("k"))
      let rows = try database.rows(of: table, columns: ["a"]).all()
      #expect(
        rows.allSatisfy {
          if case .text(let text) = $0.cells[0] { text.hasPrefix("key ") } else { false }
        })
      let lost = try #require(database.lostRows(of: "k"))
      #expect((lost.atLeast...lost.atMost).contains(Int64(300 - rows.count)), "\(lost)")
    }
  }

  @Test func aTableWithAllNamesOfTheRowIDIsRecovered() throws {
    let sql = """
      CREATE TABLE t (rowid TEXT, oid TEXT, _rowid_ TEXT); CREATE INDEX byOid ON t (oid);
      \(DamagedFile.numbers(400)) INSERT INTO t SELECT 'a', 'value ' || i, 'b' FROM n;
      """
    try DamagedFile.with(sql) { file in
      let leaf = file.pages(13)[3]
      let gone = try #require(PageWalk(file.data).leaves[leaf]).count
      file.zero(leaf)
      let database = try file.open()
      let rows = try database.count(#require(database.table("t")))
      #expect(rows == Int64(400 - gone))
      let lost = try #require(database.lostRows(of: "t"))
      #expect((lost.atLeast...lost.atMost).contains(Int64(gone)), "\(lost)")
    }
  }

  @Test func aTableOfTheFileKeepsItsNameFromLostRows() throws {
    let sql = """
      CREATE TABLE lost_and_found_2 (id INTEGER PRIMARY KEY, v TEXT);
      INSERT INTO lost_and_found_2 VALUES (1, 'own');
      """
    try DamagedFile.with(Self.table + sql) { file in
      // The entry of the table is no longer one.
      let entry = try #require(file.data.range(of: Data("CREATE TABLE t (".utf8)))
      let verb = entry.lowerBound..<(entry.lowerBound + 6)
      file.data.replaceSubrange(verb, with: Data("DAMAGE".utf8))
      let database = try file.open()
      #expect(try database.values(of: "lost_and_found_2") == [1: ["1", "own"]])
      let found = try #require(database.lost.first { $0.isFound })
      #expect(found.table == "lost_and_found_2_" && found.atMost == 800, "\(database.lost)")
    }
  }

  @Test func aSchemaWithTwoEntriesOfOneNameIsDamaged() throws {
    let sql = """
      CREATE TABLE o (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO o VALUES (1, 'other');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET name = 't', tbl_name = 't', sql = replace(sql, 'TABLE o', 'TABLE t');
      """
    try DamagedFile.with(Self.table + sql) { file in
      let database = try file.open()
      #expect(try database.rowIDs(of: "t") == Array(1...800))
      #expect(!database.lost.isEmpty)
    }
  }

  @Test func aFormatThatSQLiteDoesNotKnowIsRepaired() throws {
    try DamagedFile.with(Self.table) { file in
      file.data[47] = 9
      let error = #expect(throws: ImportError.self) { try file.open(allowsDamage: false) }
      #expect(error?.code == .damaged)
      let database = try file.open()
      #expect(try database.rowIDs(of: "t") == Array(1...800) && database.lost.isEmpty)
    }
  }
}
