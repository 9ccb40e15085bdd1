import CMooringSQLite
import EntityModel
import Foundation

/// A database of SQLite in memory.
final class SQLiteDatabase {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let connection: OpaquePointer

  init() throws {
    var connection: OpaquePointer?
    let status = sqlite3_open(":memory:", &connection)
    guard status == SQLITE_OK, let connection else {
      sqlite3_close(connection)
      throw Failure(description: "SQLite does not open: \(status)")
    }
    self.connection = connection
  }

  deinit { sqlite3_close_v2(connection) }

  /// Runs one statement to its end.
  ///
  /// - Parameter arguments: For `?1` and so on.
  /// - Returns: The rows; the values have SQLite's own kinds (int64, double, string, data, null).
  @discardableResult
  func run(_ sql: String, _ arguments: [Value] = []) throws -> [[Value]] {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &prepared, nil) == SQLITE_OK,
      let statement = prepared
    else { throw failure(sql) }
    defer { sqlite3_finalize(statement) }
    for (offset, argument) in arguments.enumerated() {
      guard bind(argument, Int32(offset + 1), statement) == SQLITE_OK else { throw failure(sql) }
    }
    var rows: [[Value]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append((0..<sqlite3_column_count(statement)).map { value($0, statement) })
      case SQLITE_DONE: return rows
      default: throw failure(sql)
      }
    }
  }

  private func failure(_ sql: String) -> Failure {
    Failure(description: String(cString: sqlite3_errmsg(connection)) + " in: " + sql)
  }

  private func bind(_ value: Value, _ place: Int32, _ statement: OpaquePointer) -> Int32 {
    switch value {
    case .null, .decimal, .strings: sqlite3_bind_null(statement, place)
    case .int64(let number): sqlite3_bind_int64(statement, place, number)
    case .bool(let flag): sqlite3_bind_int64(statement, place, flag ? 1 : 0)
    case .double(let number): sqlite3_bind_double(statement, place, number)
    case .date(let date):
      sqlite3_bind_double(statement, place, date.timeIntervalSinceReferenceDate)
    case .string(let text): bind(text, place, statement)
    case .url(let url): bind(url.absoluteString, place, statement)
    case .data(let data): bind(Array(data), place, statement)
    case .uuid(let uuid):
      bind(withUnsafeBytes(of: uuid.uuid) { Array($0) }, place, statement)
    }
  }

  private func bind(_ text: String, _ place: Int32, _ statement: OpaquePointer) -> Int32 {
    var text = text
    // SAFETY: SQLite copies the bytes before the call returns.
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        mooring_bind_text(statement, place, $0.baseAddress, Int32($0.count))
      }
    }
  }

  private func bind(_ bytes: [UInt8], _ place: Int32, _ statement: OpaquePointer) -> Int32 {
    // SAFETY: SQLite copies the bytes before the call returns.
    bytes.withUnsafeBytes {
      mooring_bind_blob(statement, place, $0.baseAddress, Int32($0.count))
    }
  }

  private func value(_ column: Int32, _ statement: OpaquePointer) -> Value {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .int64(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: .double(sqlite3_column_double(statement, column))
    case SQLITE_TEXT: .string(String(decoding: bytes(column, statement), as: UTF8.self))
    case SQLITE_BLOB: .data(Data(bytes(column, statement)))
    default: .null
    }
  }

  private func bytes(_ column: Int32, _ statement: OpaquePointer) -> [UInt8] {
    // SAFETY: the bytes stay until the next step, and are copied here.
    guard let start = sqlite3_column_blob(statement, column) else { return [] }
    return Array(
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }
}
