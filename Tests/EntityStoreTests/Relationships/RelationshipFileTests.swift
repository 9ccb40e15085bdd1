import EntityModel
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct RelationshipFileTests {
  /// An invalid step; `«` marks the place that the error names.
  struct Case: CustomTestStringConvertible, Sendable {
    let says: String
    let arguments: String
    var testDescription: String { says }

    init(_ says: String, _ arguments: String) {
      self.says = says
      self.arguments = arguments
    }
  }

  private static func read(_ arguments: String) throws -> MigrationStep {
    let text = "line: a\nsummary: s\nsteps:\n  - createRelationship: \(arguments)\n"
    return try MigrationFile.read(Array(text.utf8), name: "0001_x", file: "f").steps[0]
  }

  @Test(
    "An error names its place",
    arguments: [
      Case("\"to\" is missing", "«{ on: A, name: b }"),
      Case("is not a valid name", "{ on: A, name: «_b, to: B }"),
      Case("\"inverted\" is unknown", "{ on: A, name: b, to: B, «inverted: true }"),
      Case("many: true has an order", "{ on: A, name: b, to: B, ordered: «true }"),
      Case("many: true has an order", "{ on: A, name: b, to: B, orderBy: «c }"),
      Case(
        "not both", "{ on: A, name: b, to: B, inverse: { name: a, ordered: true, orderBy: «c } }"),
      Case("always optional", "{ on: A, name: b, to: B, many: true, optional: «false }"),
      Case(
        "one of nullify, cascade, deny, noAction", "{ on: A, name: b, to: B, deleteRule: «drop }"),
      Case("1 to 7 attributes", "{ on: A, name: b, to: B, key: «{} }"),
      Case("of the destination once", "{ on: A, name: b, to: B, key: «{ c: id, d: id } }"),
      Case(
        "only a to-one relationship has a key",
        "«{ on: A, name: b, to: B, many: true, key: { c: id } }"),
      Case("what is required", "«{ on: A, name: b, to: B, optional: false, key: { c: id } }"),
      Case(
        "write orderBy",
        "«{ on: A, name: b, to: B, key: { c: id }, inverse: { name: a, ordered: true } }"),
      Case("definition on both sides", "«{ on: A, name: b, to: A, inverse: { name: b } }"),
      Case(
        "no order and no key",
        "«{ on: A, name: b, to: A, many: true, ordered: true, inverse: { name: b, ordered: true } }"
      ),
      Case(
        "not orderBy",
        "«{ on: A, name: b, to: B, many: true, inverse: { name: a, orderBy: c } }"),
      Case(
        "only the first can be required",
        "«{ on: A, name: b, to: B, inverse: { name: a, many: false, optional: false } }"),
    ])
  func errorsNameTheirPlace(wrong: Case) {
    let column = 24 + wrong.arguments.prefix { $0 != "«" }.count + 1
    let message =
      #expect(throws: (any Error).self) {
        try Self.read(wrong.arguments.replacing("«", with: ""))
      }.map { "\($0)" } ?? ""
    #expect(message.contains(wrong.says), "\(message)")
    #expect(message.hasPrefix("f:4:\(column):"), "\(message)")
  }

  @Test func everyArgumentIsRead() throws {
    let step = try Self.read(
      """
      { on: E, name: path, to: P, key: { pathID: id, feedID: feedID }, deleteRule: deny,
          inverse: { name: episodes, orderBy: position, deleteRule: noAction } }
      """)
    guard case .createRelationship(let definition) = step else {
      Issue.record("the step makes no relationship")
      return
    }
    #expect(definition.entity == "E" && definition.destination == "P")
    #expect(
      definition.side
        == .init(
          name: "path", isToMany: false, isOrdered: false, orderBy: nil, isOptional: true,
          deleteRule: .deny))
    #expect(
      definition.inverse
        == .init(
          name: "episodes", isToMany: true, isOrdered: false, orderBy: "position",
          isOptional: true, deleteRule: .noAction))
    #expect(
      definition.key
        == [.init(own: "feedID", other: "feedID"), .init(own: "pathID", other: "id")])
    #expect(step.description == "create relationship E.path to P, inverse episodes")
  }
}
