import CMooringSQLite
import Glibc
import SystemSupport

/// A set of keys on disk, for more keys than memory holds. Used by one thread; removed at the end
/// of its life.
package final class ScratchKeys {
  private let scratch: ScratchFolder
  private let connection: SQLiteConnection
  private let insertion: SQLiteStatement
  private let search: SQLiteStatement

  /// - Parameter folder: Where its folder goes; `$TMPDIR` without it.
  /// - Throws: ``ImportError`` `noSpace` or `unreadable`.
  package init(in folder: String? = nil) throws {
    scratch = try .ofImport(in: folder)
    connection = try SQLiteConnection(creating: scratch.path + "/keys.sqlite")
    // Nothing of it outlives this process: no journal, no flush, one transaction without an end.
    for sql in [
      "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -16000",
      """
      CREATE TABLE keys (space INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (space, key)) \
      WITHOUT ROWID
      """, "BEGIN",
    ] {
      try connection.execute(sql)
    }
    insertion = try connection.prepare("INSERT OR IGNORE INTO keys VALUES (?1, ?2)")
    search = try connection.prepare("SELECT 1 FROM keys WHERE space = ?1 AND key = ?2")
  }

  /// - Returns: True if the key was not in the space before. O(log keys).
  package func insert(_ key: [UInt8], in space: Int) throws -> Bool {
    insertion.reset()
    try insertion.bind([.integer(Int64(space)), .blob(key)])
    _ = try insertion.step()
    return sqlite3_changes(connection.handle) > 0
  }

  /// O(log keys).
  package func contains(_ key: [UInt8], in space: Int) throws -> Bool {
    search.reset()
    try search.bind([.integer(Int64(space)), .blob(key)])
    return try search.step()
  }
}
