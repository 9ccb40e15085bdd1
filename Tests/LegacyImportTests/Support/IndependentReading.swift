import CMooringSQLite
import EntityModel
import EntityStore
import Foundation
import LegacyImport
import TestSupport

/// A copy of a file, read by SQLite itself, as the reference for an import.
final class IndependentReading {
  private let folder: TemporaryFolder
  private let handle: OpaquePointer

  init(of path: String) throws {
    folder = try TemporaryFolder()
    for suffix in ["", "-wal", "-journal"]
    where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path("copy") + suffix)
    }
    var opened: OpaquePointer?
    guard sqlite3_open(folder.path("copy"), &opened) == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw MadeDatabase.Failure(message: "SQLite does not open \(path)")
    }
    handle = opened
  }

  deinit {
    sqlite3_close_v2(handle)
    folder.remove()
  }

  /// Calls the closure with each row.
  func each(_ sql: String, _ body: (OpaquePointer) throws -> Void) throws {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw MadeDatabase.Failure(message: String(cString: sqlite3_errmsg(handle)) + " in: " + sql)
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: try body(statement)
      case SQLITE_DONE: return
      default: throw MadeDatabase.Failure(message: String(cString: sqlite3_errmsg(handle)))
      }
    }
  }

  func count(_ table: String) throws -> Int64 {
    var count: Int64 = 0
    try each("SELECT count(*) FROM \(Self.quoted(table))") { count = sqlite3_column_int64($0, 0) }
    return count
  }

  /// The tables, without SQLite's own.
  func tables() throws -> [String] {
    var names: [String] = []
    try each(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ) { names.append(String(cString: sqlite3_column_text($0, 0))) }
    return names
  }

  /// The expected values of an attribute as texts, in no order.
  ///
  /// - Returns: `nil` if this reader does not implement the conversion.
  func values(of attribute: AttributeMapping, _ entity: EntityMapping) throws -> [String]? {
    guard case .column(let column) = attribute.source, attribute.content == .value,
      let read = Self.reading(of: attribute)
    else { return nil }
    var values: [String] = []
    try each(
      "SELECT \(Self.quoted(column)) FROM \(Self.quoted(entity.table))"
        + Self.condition(entity.filter)
    ) { statement in
      values.append(
        sqlite3_column_type(statement, 0) == SQLITE_NULL ? "null" : try read(statement))
    }
    return values.sorted()
  }

  // MARK: Parts

  private static func reading(
    of attribute: AttributeMapping
  ) -> ((OpaquePointer) throws -> String)? {
    var plain = Conversion.none
    plain.date = attribute.conversion.date
    guard attribute.conversion == plain else { return nil }
    switch (attribute.type, attribute.conversion.date) {
    case (.int64, nil): return { Value.int64(sqlite3_column_int64($0, 0)).text }
    case (.double, nil): return { Value.double(sqlite3_column_double($0, 0)).text }
    case (.bool, nil): return { Value.bool(sqlite3_column_int64($0, 0) != 0).text }
    case (.string, nil): return { Value.string(text($0)).text }
    case (.date, .coreDataSeconds?): return { date($0, divisor: 1, epoch: 0) }
    case (.date, .unixSeconds?): return { date($0, divisor: 1, epoch: 978_307_200) }
    case (.date, .unixMicroseconds?): return { date($0, divisor: 1e6, epoch: 978_307_200) }
    default: return nil
    }
  }

  private static func date(_ row: OpaquePointer, divisor: Double, epoch: Double) -> String {
    let seconds = sqlite3_column_double(row, 0) / divisor - epoch
    return Value.date(Date(timeIntervalSinceReferenceDate: seconds)).text
  }

  private static func text(_ row: OpaquePointer) -> String {
    guard let start = sqlite3_column_text(row, 0) else { return "" }
    // SAFETY: SQLite holds that many bytes until the next step.
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(row, 0)))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func condition(_ filter: RowFilter) -> String {
    func words(_ words: Set<String?>) -> String {
      words.map { $0.map { "'" + $0.replacing("'", with: "''") + "'" } ?? "'<null>'" }
        .joined(separator: ", ")
    }
    func column(_ name: String) -> String { "ifnull(CAST(\(quoted(name)) AS TEXT), '<null>')" }
    let parts =
      filter.isOneOf.map { "\(column($0)) IN (\(words($1)))" }
      + filter.isNoneOf.map { "\(column($0)) NOT IN (\(words($1)))" }
    return parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND ")
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }
}
