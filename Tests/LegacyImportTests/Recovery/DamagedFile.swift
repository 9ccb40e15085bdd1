import Foundation
import LegacyImport
import TestSupport
import Testing

/// A file made by SQL and then damaged.
struct DamagedFile {
  let folder: TemporaryFolder
  let path: String
  var data: Data

  /// The size of the pages of all files that these tests make.
  static let pageSize = 1024

  static func with(_ sql: String, _ body: (inout DamagedFile) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try MadeDatabase.make(at: path, "PRAGMA page_size = \(pageSize);" + sql)
      var file = DamagedFile(
        folder: folder, path: path, data: try Data(contentsOf: URL(filePath: path)))
      try body(&file)
    }
  }

  /// Fills a page with zeros; of the first one, all but the header of the file.
  mutating func zero(_ page: Int) {
    let start = (page - 1) * Self.pageSize
    let from = page == 1 ? 100 : start
    data.replaceSubrange(
      from..<(start + Self.pageSize), with: Data(count: start + Self.pageSize - from))
  }

  var pageCount: Int { data.count / Self.pageSize }

  /// The pages that begin with this byte, in their order.
  func pages(_ type: UInt8) -> [Int] {
    (2..<(pageCount + 1)).filter { data[($0 - 1) * Self.pageSize] == type }
  }

  /// The number of cells that a page states.
  func cellCount(of page: Int) -> Int {
    let start = (page - 1) * Self.pageSize
    return Int(data[start + 3]) << 8 | Int(data[start + 4])
  }

  mutating func setCellCount(_ count: Int, of page: Int) {
    let start = (page - 1) * Self.pageSize
    data[start + 3] = UInt8(count >> 8)
    data[start + 4] = UInt8(count & 0xff)
  }

  /// The bytes with the number of a child of an interior page.
  func childPlace(_ cell: Int, of page: Int) -> Range<Int> {
    let start = (page - 1) * Self.pageSize
    let pointer = start + 12 + 2 * cell
    let place = start + (Int(data[pointer]) << 8 | Int(data[pointer + 1]))
    return place..<(place + 4)
  }

  /// Opens what is there now, by default with the flag.
  func open(
    allowsDamage: Bool = true, lostTables: [String: String] = [:]
  ) throws -> SourceDatabase {
    try data.write(to: URL(filePath: path))
    return try SourceDatabase.open(
      SourceSnapshot.take(of: path, in: folder.path), allowsDamage: allowsDamage,
      lostTables: lostTables)
  }

  /// `rows` numbered rows of a table, from `first` on, as SQL.
  static func numbers(_ rows: Int, from first: Int = 1) -> String {
    "WITH RECURSIVE n(i) AS (SELECT \(first) UNION ALL SELECT i + 1 FROM n WHERE i < "
      + "\(first + rows - 1))"
  }
}

extension SourceDatabase {
  /// The row ids of a table.
  func rowIDs(of name: String) throws -> [Int64] {
    let table = try #require(self.table(name))
    return try rows(of: table, columns: []).all().compactMap {
      if case .rowID(let id) = $0.position { id } else { nil }
    }
  }

  /// The values of each row as texts, by row id.
  func values(of name: String) throws -> [Int64: [String]] {
    let table = try #require(self.table(name))
    var values: [Int64: [String]] = [:]
    for row in try rows(of: table, columns: table.columns.map(\.name)).all() {
      guard case .rowID(let id) = row.position else { continue }
      values[id] = row.cells.map {
        switch $0 {
        case .null: "null"
        case .integer(let number): String(number)
        case .text(let text): text
        default: "other"
        }
      }
    }
    return values
  }
}
