import EntityStore
import Migrations

// Entities with relationships: a book has chapters and may be one of a series.

struct Chapter: Entity {
  var title: String
  var pages: Int
  var book: ToOne<Book>?

  static let attributes: [EntityAttribute<Chapter>] = [
    .init("title", \.title), .init("pages", \.pages),
  ]
  static let relationships: [EntityRelationship<Chapter>] = [.init("book", \.book)]

  init(title: String, pages: Int, book: ToOne<Book>? = nil) {
    self.title = title
    self.pages = pages
    self.book = book
  }

  init(from record: inout RecordReader) throws {
    title = try record["title"]
    book = try record["book"]
    pages = try record["pages"]
  }
}

struct Book: Entity {
  var title: String?
  var series: ToOne<Series>?
  var chapters = ToMany<Chapter>("chapters")

  static let attributes: [EntityAttribute<Book>] = [.init("title", \.title)]
  static let relationships: [EntityRelationship<Book>] = [
    .init("series", \.series), .init("chapters", \.chapters),
  ]

  init(title: String?, series: ToOne<Series>? = nil) {
    self.title = title
    self.series = series
  }

  init(from record: inout RecordReader) throws {
    title = try record["title"]
    series = try record["series"]
    chapters = try record["chapters"]
  }
}

struct Series: Entity {
  var name: String
  var books = ToMany<Book>("books")

  static let attributes: [EntityAttribute<Series>] = [.init("name", \.name)]
  static let relationships: [EntityRelationship<Series>] = [.init("books", \.books)]

  init(name: String) { self.name = name }

  init(from record: inout RecordReader) throws {
    name = try record["name"]
    books = try record["books"]
  }
}

extension MigrationSource {
  static let library = MigrationSource(embedded: [("0001_library", Array(librarySchema.utf8))])
}

private let librarySchema = """
  line: library
  summary: Books, their chapters and their series
  steps:
    - createEntity: { name: Series, attributes: [{ name: name, type: string }] }
    - createEntity: { name: Book, attributes: [{ name: title, type: string, optional: true }] }
    - createEntity:
        name: Chapter
        attributes: [{ name: title, type: string }, { name: pages, type: int64 }]
    - createRelationship:
        on: Chapter
        name: book
        to: Book
        inverse: { name: chapters, ordered: true, deleteRule: cascade }
    - createRelationship: { on: Book, name: series, to: Series, inverse: { name: books } }
  """
