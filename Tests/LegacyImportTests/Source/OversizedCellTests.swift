import Foundation
import LegacyImport
import TestSupport
import Testing

struct OversizedCellTests {
  private static let bytes = 100 << 20
  private static let sql = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c AS (id * 2));
    INSERT INTO t VALUES (1, 'x', 1), (2, zeroblob(\(bytes)), 2), (3, 3, CAST(zeroblob(\(bytes)) AS TEXT)), (4, 'y', 4);
    CREATE TABLE plain (a, b); INSERT INTO plain VALUES (zeroblob(\(bytes)), 1), (NULL, 2);
    CREATE TABLE w (k TEXT PRIMARY KEY, a) WITHOUT ROWID;
    INSERT INTO w VALUES ('a', 1), ('b', zeroblob(16000000)), ('c', CAST(zeroblob(16000000) AS TEXT)), ('d', 4);
    """

  @Test func onlyTheSizeOfAnOversizedCellIsRead() throws {
    try MadeDatabase.with(Self.sql) { database in
      let before = try resetPeak()
      let table = try #require(database.table("t"))
      let rows = try database.rows(of: table, columns: ["a", "b", "c"]).all()
      #expect(rows.map(\.position) == (1...4).map { .rowID($0) })
      #expect(rows[0].cells == [.text("x"), .integer(1), .integer(2)])
      #expect(rows[1].cells[1...] == [.integer(2), .integer(4)])
      #expect(size(rows[1].cells[0]) ?? 0 > Limits.cellBytesMax)
      #expect(rows[2].cells[0] == .integer(3) && size(rows[2].cells[1]) ?? 0 > Limits.cellBytesMax)
      #expect(rows[3].cells == [.text("y"), .integer(4), .integer(8)])
      let plain = try #require(database.table("plain"))
      #expect(
        try database.rows(of: plain, columns: ["a", "b"]).all().map(\.cells)
          == [[.oversized(bytes: Int64(Self.bytes)), .integer(1)], [.null, .integer(2)]])
      let found = try database.row(
        of: table, where: ["id"], is: [.integer(2)], columns: ["a", "b"])
      #expect(found?.cells[1] == .integer(2) && size(found?.cells[0] ?? .null) != nil)
      let keyed = try database.rows(of: #require(database.table("w")), columns: ["a"]).all()
      #expect(keyed.count == 4 && keyed[1].cells == [.oversized(bytes: 16_000_000)])
      #expect(keyed[3].cells == [.integer(4)] && size(keyed[2].cells[0]) != nil)
      #expect(try database.count(table) == 4)
      // Other tests run meanwhile; one of the values would take 100 MiB.
      if !isSanitized { #expect(try peak() - before < 60 << 20) }
    }
  }

  private func size(_ cell: Cell) -> Int64? {
    if case .oversized(let bytes) = cell { bytes } else { nil }
  }

  /// The most memory that the process has had since then, in bytes.
  private func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.split(separator: " ").dropLast().last ?? "")) << 10
  }

  private func resetPeak() throws -> Int {
    try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    return try peak()
  }
}
