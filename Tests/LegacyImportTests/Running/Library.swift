import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import TestSupport

/// A store of shelves, books and tags, and a SQLite file with the same content.
struct Library {
  static let migration = MigrationSource(embedded: [
    (
      "0001_library",
      Array(
        """
        line: library
        summary: Shelves, books and tags
        steps:
          - createEntity:
              name: Shelf
              attributes:
                - { name: name, type: string, owner: local }
          - createEntity:
              name: Book
              attributes:
                - { name: isbn, type: string, optional: true, owner: local }
                - { name: title, type: string, maxLength: 40, owner: local }
                - { name: pages, type: int64, optional: true, owner: local }
                - { name: boughtAt, type: date, optional: true, owner: local }
                - { name: cover, type: data, optional: true, owner: local }
                - { name: note, type: string, default: none, owner: local }
          - createEntity:
              name: Tag
              attributes:
                - { name: word, type: string, owner: local }
          - createIndex: { on: Book, name: byISBN, keys: [isbn], unique: true, sparse: true }
          - createIndex: { on: Book, name: byPages, keys: [pages] }
          - createRelationship:
              on: Book
              name: shelf
              to: Shelf
              inverse: { name: books }
          - createRelationship:
              on: Book
              name: tags
              to: Tag
              many: true
              ordered: true
              inverse: { name: books, many: true }
          - createRelationship:
              on: Book
              name: sequel
              to: Book
              inverse: { name: prequel, many: false }
        """.utf8)
    )
  ])

  static let mapping = """
    import: library
    dialect: plain
    rejects: 1000000
    entities:
      - entity: Shelf
        table: shelf
        key: [id]
        attributes: { name: name }
      - entity: Book
        table: book
        key: [id]
        attributes:
          isbn: isbn
          title: title
          pages: pages
          boughtAt: { column: bought, date: unixSeconds }
          cover: cover
        relationships:
          shelf: { column: shelf, table: shelf }
          tags: { join: book_tag, owner: book, target: tag, order: place, table: tag }
          sequel: { column: sequel, table: book }
      - entity: Tag
        table: tag
        key: [word]
        attributes: { word: word }
    """

  let store: Store
  let file: SQLiteFile

  /// - Parameter books: How many.
  init(_ temporary: TemporaryStore, books: Int) throws {
    store = temporary.store
    file = try SQLiteFile(temporary.folder.path("library.db"))
    try file.run(
      """
      CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE book (id INTEGER PRIMARY KEY, isbn TEXT, title TEXT, pages INTEGER, bought REAL,
        cover BLOB, shelf INTEGER, sequel INTEGER);
      CREATE TABLE tag (word TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE book_tag (book INTEGER, tag TEXT, place INTEGER);
      INSERT INTO shelf VALUES (1, 'left'), (2, 'right');
      INSERT INTO tag VALUES ('red'), ('green'), ('blue');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(books))
      INSERT INTO book SELECT i, 'isbn ' || i, 'title ' || i, i % 7, 1700000000 + i, x'00ff',
        1 + i % 2, CASE WHEN i < \(books) THEN i + 1 END FROM n;
      INSERT INTO book_tag SELECT id, 'red', 2 FROM book WHERE id % 3 = 0;
      INSERT INTO book_tag SELECT id, 'blue', 1 FROM book WHERE id % 2 = 0;
      """)
  }

  @discardableResult
  func run(
    _ mapping: String = Library.mapping, _ options: LegacyFile.Options = .init()
  ) throws -> ImportReport {
    try LegacyFile(file.path, options).run(
      try MappingText(Array(mapping.utf8), file: "map.yaml"), in: store)
  }

  func plan(_ mapping: String = Library.mapping) throws -> (ImportReport, [ImportReject]) {
    var rejects: [ImportReject] = []
    let report = try LegacyFile(file.path).plan(
      try MappingText(Array(mapping.utf8), file: "map.yaml"), in: store
    ) { rejects.append($0) }
    return (report, rejects)
  }

  func rejects() throws -> [ImportReject] {
    var rejects: [ImportReject] = []
    _ = try store.eachImportReject(of: "library") { rejects.append($0) }
    return rejects
  }

  func count(_ entity: String) throws -> Int { try store.read { try $0.count(of: entity) } }

  func book(_ isbn: Int) throws -> Record? {
    try store.read { try $0.get("Book", by: ["isbn": .string("isbn \(isbn)")]) }
  }
}

func withLibrary(
  books: Int = 100, seed: UInt64 = 1, _ body: (Library) async throws -> Void
) async throws {
  try await withTemporaryStore(seed: seed, migrations: [.legacyImport, Library.migration]) {
    try await body(try Library($0, books: books))
  }
}
