import CMooringSQLite
import LegacyImport
import TestSupport
import Testing

/// A SQLite file that a test creates.
enum MadeDatabase {
  struct Failure: Error { let message: String }

  /// Creates the file by SQL.
  static func make(at path: String, _ sql: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open(path, &handle) == SQLITE_OK,
      sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
    else { throw Failure(message: String(cString: sqlite3_errmsg(handle))) }
  }

  /// Runs `body` with a file created by SQL, opened as an import opens it.
  static func with<R>(_ sql: String, _ body: (SourceDatabase) throws -> R) throws -> R {
    try withTemporaryFolder { folder in
      let path = folder.path("made.sqlite")
      try make(at: path, sql)
      return try body(SourceDatabase(SourceSnapshot.take(of: path, in: folder.path)))
    }
  }
}
