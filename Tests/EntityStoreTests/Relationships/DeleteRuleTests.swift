import EntityModel
import EntityStore
import Migrations
import TestSupport
import Testing

@Suite struct DeleteRuleTests {
  private static func library(_ chapters: String, optional: Bool = true) -> MigrationSource {
    let text = """
      line: library
      summary: Books, chapters and people
      steps:
        - createEntity: { name: Book, attributes: [{ name: title, type: string, optional: true }] }
        - createEntity: { name: Chapter, attributes: [{ name: title, type: string, optional: true }] }
        - createEntity: { name: Person, attributes: [] }
        - createRelationship:
            on: Chapter
            name: book
            to: Book
            optional: \(optional)
            inverse: { name: chapters, ordered: true, deleteRule: \(chapters) }
        - createRelationship: { on: Book, name: writers, to: Person, many: true, inverse: { name: books, deleteRule: deny } }
        - createRelationship: { on: Book, name: editor, to: Person }
        - createRelationship: { on: Person, name: boss, to: Person, inverse: { name: staff, deleteRule: cascade } }
      """
    return MigrationSource(embedded: [("0001_library", Array(text.utf8))])
  }

  /// Runs a closure in a write transaction of a new store.
  private static func write(
    _ chapters: String, optional: Bool = true,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    try await withTemporaryStore(migrations: [library(chapters, optional: optional)]) { context in
      try await context.store.write { try body($0) }
    }
  }

  @Test func nullifyEndsTheLinksAndKeepsTheRecords() async throws {
    try await Self.write("nullify") { transaction in
      let book = try transaction.insert("Book", [:])
      let chapter = try transaction.insert("Chapter", ["book": .int64(book.number)])
      #expect(try transaction.delete(book))
      #expect(try transaction.relatedObject(chapter, "book") == nil)
      #expect(try transaction.value("book", of: chapter) == .null)
      #expect(try transaction.value("_book_order", of: chapter) == .null)
    }
  }

  @Test func nullifyIsRefusedWhereARecordMustHaveItsLink() async throws {
    try await Self.write("nullify", optional: false) { transaction in
      let book = try transaction.insert("Book", [:])
      let chapters = try (0..<2).map { _ in
        try transaction.insert("Chapter", ["book": .int64(book.number)])
      }
      let error = #expect(throws: StoreError.self) { try transaction.delete(book) }
      #expect(error?.code == .deletionDenied)
      #expect(error?.description.contains("Chapter.book, records: 2") == true)
      #expect(try transaction.related(book, "chapters") == chapters)
      // The same is true of a change, from either side.
      for change in [
        { try transaction.setRelated(chapters[0], "book", to: nil) },
        { try transaction.setRelated(book, "chapters", to: [chapters[0]]) },
        { try transaction.removeRelated(chapters, from: book, "chapters") },
      ] {
        #expect(code(change) == .validation)
        #expect(try transaction.related(book, "chapters") == chapters)
      }
      #expect(code { try transaction.insert("Chapter", [:]) } == .validation)
    }
  }

  @Test func cascadeDeletesTheDestinations() async throws {
    try await Self.write("cascade", optional: false) { transaction in
      let books = try (0..<2).map { _ in try transaction.insert("Book", [:]) }
      for book in books {
        for _ in 0..<3 { try transaction.insert("Chapter", ["book": .int64(book.number)]) }
      }
      try transaction.delete(books[0])
      #expect(try transaction.count(of: "Chapter") == 3)
      #expect(try transaction.related(books[1], "chapters").count == 3)
    }
  }

  @Test func cascadeEndsInACircle() async throws {
    try await Self.write("nullify") { transaction in
      let people = try (0..<4).map { _ in try transaction.insert("Person", [:]) }
      for (number, person) in people.dropLast().enumerated() {
        try transaction.setRelated(person, "boss", to: people[(number + 1) % 3])
      }
      try transaction.setRelated(people[3], "boss", to: people[3])
      try transaction.delete(people[1])
      #expect(try transaction.count(of: "Person") == 1)
      try transaction.delete(people[3])
      #expect(try transaction.count(of: "Person") == 0)
    }
  }

  @Test func denyCountsOnlyWhatStays() async throws {
    try await Self.write("nullify") { transaction in
      let people = try (0..<2).map { _ in try transaction.insert("Person", [:]) }
      let book = try transaction.insert("Book", [:])
      try transaction.setRelated(people[0], "boss", to: people[1])
      try transaction.setRelated(book, "writers", to: [people[0]])
      // The boss takes the writer along, whose book stays.
      let error = #expect(throws: StoreError.self) { try transaction.delete(people[1]) }
      #expect(error?.code == .deletionDenied)
      #expect(error?.description.contains("Person/1, relationship: books") == true)
      #expect(error?.description.contains("records: 1") == true)
      #expect(try transaction.count(of: "Person") == 2)
      // A deletion of the other side ends the links, and then nothing is in the way.
      try transaction.delete(book)
      #expect(try transaction.related(people[0], "books").isEmpty)
      try transaction.delete(people[1])
      #expect(try transaction.count(of: "Person") == 0)
      #expect(try transaction.count(of: "_Book_writers") == 0)
    }
  }

  @Test func denyIgnoresRecordsDeletedInTheSameCascade() async throws {
    let text = """
      line: pairs
      summary: s
      steps:
        - createEntity: { name: Box, attributes: [] }
        - createEntity: { name: Thing, attributes: [] }
        - createRelationship: { on: Thing, name: box, to: Box, inverse: { name: things, deleteRule: cascade } }
        - createRelationship: { on: Thing, name: seal, to: Box, inverse: { name: sealed, deleteRule: deny } }
      """
    let source = MigrationSource(embedded: [("0001_pairs", Array(text.utf8))])
    try await withTemporaryStore(migrations: [source]) { context in
      try await context.store.write { transaction in
        let box = try transaction.insert("Box", [:])
        let inner = Value.int64(box.number)
        let thing = try transaction.insert("Thing", ["box": inner, "seal": inner])
        let other = try transaction.insert("Thing", ["seal": inner])
        #expect(code { try transaction.delete(box) } == .deletionDenied)
        #expect(try transaction.get(thing) != nil)
        try transaction.setRelated(other, "seal", to: nil)
        try transaction.delete(box)
        #expect(try transaction.get(thing) == nil)
        #expect(try transaction.get(other) != nil)
      }
    }
  }

  @Test func noActionLeavesAReferenceThatReadsAsNull() async throws {
    try await Self.write("noAction") { transaction in
      let book = try transaction.insert("Book", [:])
      let chapter = try transaction.insert("Chapter", ["book": .int64(book.number)])
      try transaction.delete(book)
      #expect(try transaction.relatedObject(chapter, "book") == nil)
      #expect(try transaction.value("book", of: chapter) == .int64(book.number))
      // A change of something else is none of the link.
      try transaction.update(chapter) { try $0.set("title", to: "x") }
      try transaction.setRelated(chapter, "book", to: nil)
      #expect(try transaction.value("book", of: chapter) == .null)
    }
  }

  @Test func aReferenceWithoutAnInverseBecomesNull() async throws {
    try await Self.write("nullify") { transaction in
      let person = try transaction.insert("Person", [:])
      let book = try transaction.insert("Book", ["editor": .int64(person.number)])
      try transaction.delete(person)
      #expect(try transaction.value("editor", of: book) == .null)
    }
  }

  @Test func aRefusedDeletionOfManyChangesNothing() async throws {
    try await withTemporaryStore(migrations: [Self.library("cascade")]) { context in
      try await context.store.write { transaction in
        let people = try (0..<20).map { _ in try transaction.insert("Person", [:]) }
        for person in people.dropFirst() {
          try transaction.setRelated(person, "boss", to: people[0])
        }
        let book = try transaction.insert("Book", ["editor": .int64(people[3].number)])
        try transaction.addRelated([people[19]], to: book, "writers")
        #expect(code { try transaction.delete(people[0]) } == .deletionDenied)
        #expect(try transaction.related(people[0], "staff") == Array(people.dropFirst()))
        #expect(try transaction.relatedObject(book, "editor") == people[3])
      }
    }
  }

  @Test func aReferenceToNoRecordIsRefusedOnlyWhenItIsNew() async throws {
    try await Self.write("noAction") { transaction in
      let refusal = #expect(throws: StoreError.self) {
        try transaction.insert("Chapter", ["book": 77])
      }
      #expect(refusal?.code == .validation)
      #expect(refusal?.description.contains("Book/77") == true)
      let book = try transaction.insert("Book", [:])
      let chapter = try transaction.insert("Chapter", ["book": .int64(book.number)])
      #expect(
        code { try transaction.update(chapter) { try $0.set("book", to: 78) } } == .validation)
      #expect(try transaction.relatedObject(chapter, "book") == book)
      // A record may lead to itself.
      let person = try transaction.insert("Person", [:])
      try transaction.update(person) { try $0.set("boss", to: .int64(person.number)) }
      #expect(try transaction.related(person, "staff") == [person])
    }
  }
}
