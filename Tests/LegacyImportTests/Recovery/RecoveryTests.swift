import Foundation
import TestSupport
import Testing

@testable import LegacyImport

/// Rows that are found page by page in damaged files.
struct RecoveryTests {
  private static let twoTables = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, v TEXT);
    BEGIN;
    \(DamagedFile.numbers(1_000)) INSERT INTO a SELECT i, 'a ' || i || hex(zeroblob(30)) FROM n;
    \(DamagedFile.numbers(1_000, from: 5_001))
    INSERT INTO b SELECT i, 'b ' || i || hex(zeroblob(30)) FROM n;
    COMMIT;
    """

  @Test func aValueThatIsTooLargeIsZerosInItsColumn() throws {
    try withTemporaryFolder { folder in
      let names = ["a", "b", "c"]
      let table = SourceTable(
        name: "t", kind: .table,
        columns: names.map { SourceColumn(name: $0, declaredType: "", isRequired: false) },
        hasRowID: true, primaryKey: [], rowIDAlias: nil, foreignKeys: [], uniqueKeys: [])
      let layout = RecordLayout(
        table,
        fields: names.map {
          RecordLayout.Field(name: $0, affinity: .blob, isRequired: false, missing: .null)
        })
      let rows = try RecoveredRows(at: folder.path("rows"), isCancelled: { false })
      try rows.create(layout)
      let cells: [Cell] = [.text("x"), .oversized(bytes: 3), .text("y")]
      #expect(try rows.insert(cells, rowID: 7, into: layout))
      let statement = try rows.connection.prepare("SELECT rowid, a, hex(b), c FROM t")
      #expect(try statement.step())
      let stored = try (0..<4 as Range<Int32>).map { try statement.cell($0) }
      #expect(stored == [.integer(7), .text("x"), .text("000000"), .text("y")])
    }
  }

  @Test func ofACutFileEachRowIsReadThatIsThere() throws {
    try DamagedFile.with(Self.twoTables) { file in
      let pages = file.pageCount * 6 / 10
      file.data = file.data.prefix(pages * DamagedFile.pageSize)
      let database = try file.open()
      let there = PageWalk(file.data).rows
      let a = try database.values(of: "a")
      let b = try database.values(of: "b")
      #expect(Set(a.keys).union(b.keys) == Set(there.keys) && !there.isEmpty)
      for (id, values) in a.merging(b, uniquingKeysWith: { one, _ in one }) {
        #expect(try values[1] == #require(there[id] ?? nil)[1])
      }
      for (table, found) in [("a", a.count), ("b", b.count)] where found < 1_000 {
        let lost = try #require(database.lostRows(of: table))
        #expect(lost.atLeast > 0)
        #expect((lost.atLeast...lost.atMost).contains(Int64(1_000 - found)), "\(lost)")
      }
      #expect(a.count + b.count < 2_000)
    }
  }

  @Test func pagesBelowALostRootAreOfTheTableToWhichTheyFit() throws {
    try DamagedFile.with(Self.twoTables) { file in
      file.zero(2)
      let database = try file.open()
      #expect(try database.rowIDs(of: "a") == Array(1...1_000))
      #expect(try database.rowIDs(of: "b") == Array(5_001...6_000))
      #expect(database.lost.isEmpty, "\(database.lost)")
    }
  }

  @Test func rowsThatMayBeOfTwoTablesAreLostAndFound() throws {
    try DamagedFile.with(Self.twoTables) { file in
      file.zero(2)
      file.zero(3)
      let database = try file.open()
      #expect(try database.rowIDs(of: "a").isEmpty && database.rowIDs(of: "b").isEmpty)
      let found = database.tables.filter(\.isLost)
      #expect(found.map(\.name) == ["lost_and_found_2"])
      let rows = try found.flatMap { try database.values(of: $0.name).values }
      #expect(Set(rows.compactMap { Int64($0[1]) }) == Set(Array(1...1_000) + Array(5_001...6_000)))
      let listed = database.lost.filter(\.isFound)
      #expect(listed.count == found.count)
      #expect(listed.reduce(0) { $0 + $1.atMost } == 2_000)
      #expect(listed.contains { $0.ranges.contains { $0.contains(", null, '") } })
    }
  }

  @Test func inFilesThatMapPagesToTheirParentsEachPageIsAssigned() throws {
    try DamagedFile.with("PRAGMA auto_vacuum = FULL;" + Self.twoTables) { file in
      let roots = file.pages(5)
      for root in roots { file.zero(root) }
      #expect(roots.count >= 2)
      let database = try file.open()
      #expect(try database.rowIDs(of: "a") == Array(1...1_000))
      #expect(try database.rowIDs(of: "b") == Array(5_001...6_000))
    }
  }

  @Test func deletedRowsDoNotReturn() throws {
    let sql =
      Self.twoTables
        + """
        CREATE TABLE gone (id INTEGER PRIMARY KEY, v TEXT);
        \(DamagedFile.numbers(1_000, from: 9_001)) INSERT INTO gone SELECT i, 'gone' || i FROM n;
        DROP TABLE gone; DELETE FROM b WHERE id BETWEEN 5200 AND 5600;
        """
    try DamagedFile.with(sql) { file in
      let left = PageWalk(file.data)
      #expect(!left.free.isEmpty)
      file.zero(2)
      let database = try file.open()
      #expect(try database.rowIDs(of: "a") == Array(1...1_000))
      #expect(try database.rowIDs(of: "b") == Array(5_001...5_199) + Array(5_601...6_000))
      #expect(!database.tables.contains { $0.isLost } && database.lost.isEmpty)
      // With the list of free pages lost, what is on them is of no table.
      file.data.replaceSubrange(32..<36, with: Data(count: 4))
      let second = try file.open()
      #expect(try second.rowIDs(of: "b") == Array(5_001...5_199) + Array(5_601...6_000))
      #expect(!second.tables.contains { $0.isLost })
      let ids = try second.rowIDs(of: "a") + second.rowIDs(of: "b")
      #expect(!ids.contains { $0 > 9_000 || (5_200...5_600).contains($0) })
    }
  }

  @Test func aLostSchemaIsFoundInItsPages() throws {
    let tables = (0..<40).map {
      "CREATE TABLE t\($0) (id INTEGER PRIMARY KEY, v\($0) TEXT DEFAULT 'some text'); "
        + "INSERT INTO t\($0) VALUES (\($0), 'row of \($0)');"
    }.joined()
    try DamagedFile.with(tables) { file in
      file.zero(1)
      let database = try file.open()
      for number in 0..<40 {
        let values = try database.values(of: "t\(number)")
        #expect(values == [Int64(number): [String(number), "row of \(number)"]])
      }
      #expect(database.lost.isEmpty, "\(database.lost)")
    }
  }

  @Test func aLostSchemaIsTakenFromTheMapping() throws {
    let sql = """
      CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
      \(DamagedFile.numbers(200)) INSERT INTO note SELECT i, 'title ' || i, 'body' FROM n;
      """
    try DamagedFile.with(sql) { file in
      file.zero(1)
      let without = try file.open()
      let lost = try #require(without.tables.first { $0.isLost })
      #expect(lost.columns.map(\.name) == ["page", "id", "c0", "c1", "c2"])
      let found = try without.values(of: lost.name).values
      #expect(Set(found.compactMap { Int64($0[1]) }) == Set(1...200))
      #expect(without.lostRows(of: "sqlite_schema") != nil)
      let with = try file.open(
        lostTables: ["note": "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT)"])
      let values = try with.values(of: "note")
      #expect(values.count == 200 && values[7] == ["7", "title 7", "body"])
      #expect(with.lost.isEmpty, "\(with.lost)")
    }
  }

  @Test func aFileWithoutAnyTableIsAnError() throws {
    try DamagedFile.with(Self.twoTables) { file in
      file.data = file.data.prefix(100)
      let error = #expect(throws: ImportError.self) { try file.open() }
      #expect(error?.code == .damaged && error?.description.contains("--damaged") == false)
    }
  }
}
