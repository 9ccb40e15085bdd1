import CMooringSQLite
import Foundation
import TestSupport
import Testing

/// A SQLite file of another program, the mapping of it, and a store that has the entities.
struct OldLibrary {
  struct Failure: Error { let message: String }

  static let migration = """
    line: library
    summary: Shelves and books
    steps:
      - createEntity:
          name: Shelf
          attributes: [{ name: name, type: string, owner: local }]
      - createEntity:
          name: Book
          attributes:
            - { name: title, type: string, owner: local, maxLength: 20 }
            - { name: pages, type: int64, optional: true, owner: local }
      - createRelationship:
          { on: Book, name: shelf, to: Shelf, inverse: { name: books } }
    """

  static let mapping = """
    import: library
    dialect: plain
    entities:
      - entity: Shelf
        table: shelf
        key: [id]
        attributes: { name: name }
      - entity: Book
        table: book
        key: [id]
        attributes: { title: title, pages: pages }
        relationships:
          shelf: { column: shelf, table: shelf }
    """

  let folder: TemporaryFolder

  var store: String { folder.path("store") }
  var file: String { folder.path("old books.db") }
  var mapping: String { folder.path("map.yaml") }
  var migrations: String { folder.path("migrations") }

  func sql(_ text: String, in path: String? = nil) throws {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard sqlite3_open(path ?? file, &connection) == SQLITE_OK,
      sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK
    else { throw Failure(message: String(cString: sqlite3_errmsg(connection))) }
  }

  func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  func tool(_ arguments: [String]) throws -> ToolRun {
    try ToolTests.run("mooring", arguments, store: store)
  }

  /// `mooring import` with the file and the mapping.
  func take(_ verb: String, _ more: String...) throws -> ToolRun {
    try tool(["import", verb, file, "--mapping", mapping] + more)
  }

  func count(_ entity: String) throws -> String {
    try mooring("fetch", entity, "--count", store: store).output
  }
}

/// Runs a body with a file of books, ten to a shelf; the store must be undamaged at the end.
///
/// - Parameter isMigrated: True if a store with the entities exists.
func withOldLibrary(
  books: Int = 30, isMigrated: Bool = true, _ body: (OldLibrary) throws -> Void
) throws {
  try withTemporaryFolder { folder in
    let library = OldLibrary(folder: folder)
    try library.sql(
      """
      CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, shelf INTEGER
        REFERENCES shelf(id));
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(books))
      INSERT INTO book SELECT i, 'book ' || i, i * 10, (i + 9) / 10 FROM n;
      INSERT INTO shelf SELECT DISTINCT shelf, 'shelf ' || shelf FROM book;
      """)
    try library.write(OldLibrary.mapping, to: library.mapping)
    try FileManager.default.createDirectory(
      atPath: library.migrations, withIntermediateDirectories: true)
    if isMigrated {
      try library.write(OldLibrary.migration, to: library.migrations + "/0001_library.yaml")
      let up = try library.tool(["migrate", "up", "--migrations", library.migrations])
      #expect(up.status == 0, "\(up.errors)")
    }
    try body(library)
    if FileManager.default.fileExists(atPath: library.store) {
      let check = try mooring("check", store: library.store)
      #expect(check.status == 0, "\(check.output)\(check.errors)")
    }
  }
}
