import EntityModel
import Testing

@testable import EntityStore
@testable import Migrations

/// The error of a step that does not fit gives the reason and advice; the schema stays unchanged.
@Suite struct SchemaChangeRefusalTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let step: String
    let says: [String]
    var testDescription: String { step }

    init(_ step: String, _ says: String...) {
      self.step = step
      self.says = says
    }
  }

  @Test(
    "A step that does not fit is refused",
    arguments: [
      Case("createEntity: { name: Book, attributes: [] }", "exists already"),
      Case("renameEntity: { name: Bok, to: Tome }", "no such entity", "did you mean \"Book\"?"),
      Case("renameEntity: { name: Book, to: Person }", "exists already"),
      Case("dropEntity: { name: Chapter, destructive: true }", "Chapter.book", "dropRelationship"),
      Case("dropEntity: { name: Person, destructive: true }", "relationship", "dropRelationship"),
      Case("renameAttribute: { on: Book, name: page, to: p }", "did you mean \"pages\"?"),
      Case("renameAttribute: { on: Book, name: pages, to: title }", "exists already"),
      Case("renameAttribute: { on: Book, name: pages, to: chapters }", "exists already"),
      Case("renameAttribute: { on: Chapter, name: book, to: b }", "this is a relationship"),
      Case("renameAttribute: { on: Chapter, name: _book_order, to: b }", "no such attribute"),
      Case("renameAttribute: { on: Book, name: price, to: cost }", "thick", "dropTemplate"),
      Case(
        "dropAttribute: { on: Book, name: pages, destructive: true }", "byTitle, byPages",
        "dropIndex: { on: Book, name: byTitle }"),
      Case("dropAttribute: { on: Book, name: price, destructive: true }", "thick", "dropTemplate"),
      Case(
        "dropAttribute: { on: Book, name: isbn, destructive: true }", "Review.book",
        "dropRelationship"),
      Case("dropAttribute: { on: Review, name: bookISBN, destructive: true }", "Review.book"),
      Case("dropAttribute: { on: Review, name: stars, destructive: true }", "Book.reviews"),
      Case(
        "dropAttribute: { on: Chapter, name: _book_order, destructive: true }",
        "no such attribute"),
      Case("changeAttribute: { on: Book, name: title, values: [a] }", "retypeAttribute"),
      Case("changeAttribute: { on: Book, name: state, values: [a] }", "retypeAttribute"),
      Case("changeAttribute: { on: Book, name: pages, default: many }", "does not fit", "many"),
      Case("changeAttribute: { on: Book, name: title, default: 5 }", "in quotes"),
      Case("changeAttribute: { on: Book, name: pages, default: 0 }", "less than the minimum"),
      Case(
        "changeAttribute: { on: Book, name: title, maxLength: 3 }", "longer than 3", "its default"),
      Case("changeAttribute: { on: Book, name: pages, min: a }", "does not fit"),
      Case(
        "changeAttribute: { on: Book, name: pages, optional: false, backfill: now }",
        "now is for dates"),
      Case(
        "changeAttribute: { on: Book, name: pages, optional: false, backfill: 0 }",
        "less than the minimum"),
      Case(
        "changeAttribute: { on: Book, name: pages, optional: false, backfill: { expression: p } }",
        "Book has no p"),
      Case(
        "changeAttribute: { on: Review, name: bookISBN, optional: false }", "nullify",
        "noAction"),
      Case(
        "createIndex: { on: Review, name: byBook, keys: [bookISBN], unique: true }", "nullify",
        "noAction"),
      Case(
        "changeRelationship: { on: Book, name: chapter, deleteRule: deny }",
        "did you mean \"chapters\"?"),
      Case(
        "changeRelationship: { on: Person, name: _Review_author, deleteRule: deny }",
        "no such relationship"),
      Case(
        "dropRelationship: { on: Person, name: name, destructive: true }",
        "no such relationship"),
      Case("retypeAttribute: { on: Book, name: title, type: url }", "a collation", "byTitle"),
      Case("retypeAttribute: { on: Book, name: isbn, type: int64 }", "Review.book"),
      Case("retypeAttribute: { on: Chapter, name: book, type: int64 }", "this is a relationship"),
      Case("runCode: { on: Book, name: c, revision: 1, changes: [title, isbn] }", "Review.book"),
      Case("runCode: { on: Book, name: c, revision: 1, changes: [titles] }", "no such attribute"),
      Case("derive: { on: Book, name: title, type: string, from: isbn }", "exists already"),
      Case("derive: { on: Book, name: twice, type: int64, from: twice * 2 }", "Book has no twice"),
      Case("addAttribute: { to: Book, name: x, type: string }", "optional or has a default"),
      Case("createIndex: { on: Book, name: byTitle, keys: [isbn] }", "exists already"),
      Case("changeIndex: { on: Book, name: byTitel, keys: [isbn] }", "did you mean \"byTitle\"?"),
      Case("changeIndex: { on: Book, name: byPages, keys: [pages localized] }", "a collation"),
      Case(
        "changeIndex: { on: Book, name: byISBN, keys: [isbn] }", "Review.book",
        "dropRelationship"),
      Case("dropIndex: { on: Chapter, name: _book }", "Book.chapters", "its index is missing"),
      Case("dropTemplate: { name: thin }", "thin"),
      Case("updateRows: { on: Book, where: size > 3, set: { pages: 1 } }", "Book has no size"),
      Case("updateRows: { on: Book, set: { size: 1 } }", "no such attribute"),
      Case("updateRows: { on: Book, set: { pages: 0 } }", "less than the minimum"),
      Case("updateRows: { on: Book, set: { title: null } }", "a value is required"),
      Case("updateRows: { on: Book, set: { chapters: null } }", "to-one relationship"),
      Case("updateRows: { on: Chapter, set: { book: 5 } }", "to-one relationship"),
      Case("updateRows: { on: Person, set: { _Review_author: null } }", "leads to a record"),
      Case("deleteRows: { on: Books, destructive: true }", "did you mean \"Book\"?"),
      Case("assert: { on: Book, where: author == nil, count: 0 }", "Book has no author"),
    ])
  func isRefused(_ example: Case) throws {
    let before = try MigrationText.library()
    var change = SchemaChange(schema: before)
    let step = try MigrationText.step(example.step)
    let error = #expect(throws: StoreError.self) { try change.apply(step) }
    for text in example.says {
      #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
    }
    #expect(change.schema == before)
  }

  @Test func theEntityOfLinksIsNotDroppedByHand() throws {
    let before = try MigrationText.library()
    for step: MigrationStep in [
      .dropEntity(name: "_Book_authors"), .renameEntity(name: "_Book_authors", newName: "_Links"),
    ] {
      var change = SchemaChange(schema: before)
      let error = #expect(throws: StoreError.self) { try change.apply(step) }
      #expect(error?.description.contains("dropRelationship") == true)
      #expect(change.schema == before)
    }
  }

  @Test func anIndexOnAReferenceIsDroppedBeforeTheRelationship() throws {
    var change = SchemaChange(schema: try MigrationText.library())
    try change.apply(
      try MigrationText.step("createIndex: { on: Chapter, name: own, keys: [number, book] }"))
    let before = change.schema
    let step = try MigrationText.step(
      "dropRelationship: { on: Chapter, name: book, destructive: true }")
    let error = #expect(throws: StoreError.self) { try change.apply(step) }
    #expect(error?.description.contains("dropIndex: { on: Chapter, name: own }") == true)
    #expect(change.schema == before)
  }

  @Test func anEntityIsNotWiderThanARecordCanBe() throws {
    let attributes = (0..<StoreLimits.attributesMax).map {
      AttributeDescription(name: "a\($0)", type: .int64)
    }
    var change = SchemaChange(schema: Schema())
    try change.apply(.createEntity(name: "E", attributes: attributes, keepsHistory: true))
    let more = AttributeDescription(name: "more", type: .int64, isOptional: true)
    #expect(throws: StoreError.self) { try change.apply(.addAttribute(entity: "E", more)) }
    // All values of all attributes may be made anew all the same.
    try change.apply(
      .runCode(
        CodeReference(entity: "E", name: "c", revision: 1, changes: attributes.map(\.name))))
    #expect(SchemaSequence.problems(of: change.schema) == [])
  }
}
