import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct SchemaComparisonTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1" ? 400 : 10

  @Test("The steps convert any schema into any other", arguments: 1...8)
  func randomSchemas(seed: UInt64) throws {
    var random = RandomSteps(seed: seed)
    var schemas = [Schema(), try MigrationText.library()]
    for round in 0..<Self.rounds {
      var change = SchemaChange(schema: schemas[round % 7 < schemas.count ? round % 7 : 1])
      for _ in 0..<40 {
        let step = random.step(for: change.schema.visible)
        // A step that does not fit is none.
        do { try change.apply(step) } catch { continue }
      }
      let next = change.schema
      #expect(SchemaComparison(from: next, to: next).steps.isEmpty, "seed \(seed), round \(round)")
      for other in schemas.suffix(3) {
        try check(from: other, to: next, "seed \(seed), round \(round), forward")
        try check(from: next, to: other, "seed \(seed), round \(round), back")
      }
      schemas.append(next)
    }
  }

  private func check(from old: Schema, to new: Schema, _ replay: String) throws {
    let comparison = SchemaComparison(from: old, to: new)
    #expect(comparison.steps.isEmpty == comparison.differences.isEmpty, "\(replay)")
    // As a file has them, for that is what they are for.
    let text = Migrations.MigrationText.yaml(of: comparison.steps, line: "a", summary: "s")
    let steps = try MigrationText.file(text).steps
    #expect(steps == comparison.steps, "\(replay)\n\(text)")
    var change = SchemaChange(schema: old)
    for (number, step) in steps.enumerated() {
      do {
        try change.apply(step)
      } catch {
        Issue.record("\(replay), step \(number + 1): \(error)\n\(text)")
        throw error
      }
    }
    let rest = SchemaComparison(from: change.schema, to: new)
    try #require(rest.differences == [], "\(replay)\n\(text)")
    #expect(rest.steps.isEmpty, "\(replay)")
  }

  @Test(
    "A difference is one line and the step that closes it",
    arguments: [
      (
        "addAttribute: { to: Book, name: note, type: string, optional: true }",
        "Book.note (string) is added"
      ),
      (
        "dropAttribute: { on: Book, name: cover, destructive: true }",
        "Book.cover is dropped, with all its values"
      ),
      (
        "changeAttribute: { on: Book, name: pages, min: null, max: 10, default: 5, owner: local }",
        "Book.pages has the default 5, has the owner local, has other rules"
      ),
      ("changeAttribute: { on: Book, name: title, optional: true }", "Book.title is optional"),
      (
        "changeAttribute: { on: Book, name: added, optional: false }",
        "Book.added is required (if there are records without a value, add a backfill)"
      ),
      (
        "changeAttribute: { on: Book, name: state, values: { new: 1, gone: 3 } }",
        "Book.state has other values (new, gone)"
      ),
      (
        "retypeAttribute: { on: Book, name: pages, type: double }",
        "Book.pages is double instead of int64; say in a conversion what becomes of values that are "
          + "none"
      ),
      (
        "createIndex: { on: Book, name: byPrice, keys: [price desc], unique: true }",
        "unique index Book.byPrice on price desc is added"
      ),
      ("dropIndex: { on: Book, name: byPages }", "index Book.byPages is dropped"),
      (
        "changeIndex: { on: Book, name: byPages, keys: [pages desc], sparse: true }",
        "index Book.byPages on pages desc has other keys or rules"
      ),
      (
        "createRelationship: { on: Chapter, name: author, to: Person }",
        "relationship Chapter.author to Person is added"
      ),
      (
        "dropRelationship: { on: Review, name: author, destructive: true }",
        "relationship Review.author is dropped, with all its links"
      ),
      (
        "changeRelationship: { on: Book, name: chapters, deleteRule: cascade }",
        "relationship Book.chapters has the delete rule cascade"
      ),
      ("createTemplate: { name: all, entity: Book }", "template all of Book is added"),
      ("dropTemplate: { name: thick }", "template thick is dropped"),
      ("setHistory: { on: Book, keep: false }", "Book: its history is not kept"),
      (
        "setHistory: { on: Book, values: [title] }",
        "Book: the history keeps the replaced values of title"
      ),
      (
        "retainHistory: { days: 1, megabytes: 1, consumerDays: 2, consumerMegabytes: 2 }",
        "the history is retained otherwise"
      ),
    ])
  func single(step text: String, difference: String) throws {
    let step = try MigrationText.step(text)
    var change = SchemaChange(schema: try MigrationText.library())
    try change.apply(step)
    let comparison = SchemaComparison(from: try MigrationText.library(), to: change.schema)
    #expect(comparison.differences == [difference])
    #expect(
      comparison.steps.count == 1 && comparison.steps.first?.verb == step.verb,
      "\(comparison.steps)")
    try check(from: change.schema, to: try MigrationText.library(), "back")
  }

  @Test func possibleRenamesAreReported() throws {
    var change = SchemaChange(schema: try MigrationText.library())
    try change.apply(.renameAttribute(entity: "Book", name: "cover", newName: "image"))
    try change.apply(.renameEntity(name: "Chapter", newName: "Part"))
    let text = SchemaComparison(from: try MigrationText.library(), to: change.schema)
      .differences.joined(separator: "\n")
    #expect(text.contains("image has the same type: it may be a rename: write renameAttribute"))
    #expect(text.contains("Part has the same attributes: if it is a rename, write renameEntity"))
  }

  @Test func aTemplateThatStepsWouldBreakIsCreatedAgain() throws {
    var change = SchemaChange(schema: try MigrationText.library())
    for step in [
      MigrationStep.dropTemplate(name: "thick"), .dropAttribute(entity: "Book", name: "price"),
    ] { try change.apply(step) }
    try change.apply(
      .createRelationship(
        RelationshipDefinition(
          entity: "Book", destination: "Person",
          side: .init(
            name: "price", isToMany: false, isOrdered: false, orderBy: nil, isOptional: true,
            deleteRule: .nullify), inverse: nil, key: [])))
    try change.apply(
      .createTemplate(try #require(try MigrationText.library().templates.first)))
    let steps = SchemaComparison(from: try MigrationText.library(), to: change.schema).steps
    #expect(
      steps.map(\.verb) == [.dropTemplate, .dropAttribute, .createRelationship, .createTemplate])
    try check(from: try MigrationText.library(), to: change.schema, "price")
  }

  // MARK: Types

  private struct Reader: Entity {
    var name: String
    var born: Date
    var age: Int64?
    static let attributes: [EntityAttribute<Reader>] = [
      .init("name", \.name), .init("born", \.born), .init("age", \.age),
    ]
    init(from record: inout RecordReader) throws {
      name = try record["name"]
      born = try record["born"]
      age = try record["age"]
    }
  }

  private struct Book: Entity {
    var pages: Int64
    var price: Double
    var shelf: String
    var bought: Date
    static let attributes: [EntityAttribute<Book>] = [
      .init("pages", \.pages), .init("price", \.price), .init("shelf", \.shelf),
      .init("bought", \.bought),
    ]
    init(from record: inout RecordReader) throws {
      pages = try record["pages"]
      price = try record["price"]
      shelf = try record["shelf"]
      bought = try record["bought"]
    }
  }

  @Test func theStepsGiveTypesWhatTheyNeed() throws {
    let library = try MigrationText.library()
    let types: [any Entity.Type] = [Reader.self, Book.self]
    let comparison = SchemaComparison(library, requiring: types)
    #expect(
      comparison.differences == [
        "entity Reader is missing",
        "Book.pages is optional, and required in the type: if there are records without a value, "
          + "add a backfill",
        "Book.price is decimal, and double in the type",
        "Book.shelf (string) is missing, and required in the type: records that are there read as "
          + "its default",
        "Book.bought (date) is missing, and required in the type: if there are records, add a "
          + "backfill",
      ])
    var change = SchemaChange(schema: library)
    change.schema.templates = []
    for step in comparison.steps { try change.apply(step) }
    try EntityCheck.check(types, against: change.schema)
    #expect(SchemaComparison(change.schema, requiring: types).steps.isEmpty)
  }
}

extension Schema {
  /// Removes the attributes and indexes of relationships, which a file does not name.
  fileprivate var visible: Schema {
    var schema = self
    schema.entities.removeAll(where: \.isSystem)
    for number in schema.entities.indices {
      schema.entities[number].attributes.removeAll(where: \.isHidden)
      schema.entities[number].indexes.removeAll { $0.name.hasPrefix("_") }
      schema.entities[number].relationships.removeAll(where: \.isHidden)
    }
    return schema
  }
}
