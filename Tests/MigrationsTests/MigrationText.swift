import EntityModel
import Foundation

@testable import EntityStore
@testable import Migrations

/// Migrations as people write them.
enum MigrationText {
  static func file(_ text: String, name: String = "0001_x") throws -> Migration {
    try MigrationFile.read(Array(text.utf8), name: name, file: "f")
  }

  /// - Parameter text: A list of steps, each beginning with `- `.
  static func steps(_ text: String, line: String = "a") throws -> [MigrationStep] {
    try file("line: \(line)\nsummary: s\nsteps:\n\(text)\n").steps
  }

  /// - Parameter text: One step without its `- `, in one line.
  static func step(_ text: String, line: String = "a") throws -> MigrationStep {
    try steps("  - \(text)", line: line)[0]
  }

  static func schema(_ text: String) throws -> Schema {
    var change = SchemaChange(schema: Schema())
    for step in try steps(text) { try change.apply(step) }
    return change.schema
  }

  /// Books, their authors and reviewers, with every kind of storage for relationships.
  static func library() throws -> Schema {
    try schema(
      """
      - createEntity:
          name: Book
          attributes:
            - { name: isbn, type: string, maxLength: 20 }
            - { name: title, type: string, default: untitled }
            - { name: pages, type: int64, optional: true, min: 1, max: 9000, keepHistory: true }
            - { name: price, type: decimal, default: 1.50 }
            - { name: tags, type: strings, default: [] }
            - { name: state, type: enum, values: { new: 1, old: 2 }, default: 1 }
            - { name: added, type: date, optional: true, owner: local }
            - { name: cover, type: data, optional: true }
      - createIndex: { on: Book, name: byISBN, keys: [isbn], unique: true }
      - createIndex: { on: Book, name: byTitle, keys: [title localized, pages desc] }
      - createIndex: { on: Book, name: byPages, keys: [pages], sparse: true }
      - createEntity: { name: Person, attributes: [{ name: name, type: string }] }
      - createEntity:
          name: Chapter
          attributes: [{ name: number, type: int64 }, { name: text, type: string }]
      - createEntity:
          name: Review
          attributes:
            - { name: bookISBN, type: string, optional: true }
            - { name: stars, type: int64 }
            - { name: text, type: string, optional: true }
      - createRelationship:
          { on: Chapter, name: book, to: Book, inverse: { name: chapters, ordered: true } }
      - createRelationship: { on: Review, name: author, to: Person }
      - createRelationship:
          on: Review
          name: book
          to: Book
          key: { bookISBN: isbn }
          inverse: { name: reviews, orderBy: stars, deleteRule: nullify }
      - createRelationship:
          { on: Book, name: authors, to: Person, many: true, inverse: { name: books } }
      - createRelationship:
          { on: Person, name: friends, to: Person, many: true, inverse: { name: friends } }
      - createTemplate: { name: thick, entity: Book, where: price > $LIMIT, sortBy: [title] }
      """)
  }
}
