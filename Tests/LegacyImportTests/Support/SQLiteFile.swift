import CMooringSQLite
import Foundation

/// A SQLite file that a test writes.
final class SQLiteFile {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let path: String
  private let connection: OpaquePointer

  init(_ path: String) throws {
    var connection: OpaquePointer?
    let status = sqlite3_open(path, &connection)
    guard status == SQLITE_OK, let connection else {
      sqlite3_close(connection)
      throw Failure(description: "SQLite does not open \(path): \(status)")
    }
    self.path = path
    self.connection = connection
  }

  deinit { sqlite3_close_v2(connection) }

  func run(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw Failure(description: String(cString: sqlite3_errmsg(connection)) + " in: " + sql)
    }
  }
}
