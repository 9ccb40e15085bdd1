import EntityModel
import Foundation
import Testing

@testable import EntityObjects
@testable import EntityStore
@testable import Migrations
@testable import SchemaFiles

/// Each step as a text, as the parsed value, and as its description in a plan.
@Suite struct MigrationStepFileTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let text: String
    let step: MigrationStep
    let says: String
    var testDescription: String { text }

    init(_ text: String, _ step: MigrationStep, _ says: String) {
      self.text = text
      self.step = step
      self.says = says
    }
  }

  private static func change(
    _ name: String, _ set: (inout AttributeChange) -> Void
  ) -> MigrationStep {
    var change = AttributeChange(entity: "E", name: name)
    set(&change)
    return .changeAttribute(change)
  }

  private static func index(
    _ name: String, _ keys: [String], isUnique: Bool = false, isSparse: Bool = false,
    _ onViolation: UniqueViolationRule = .fail
  ) -> IndexDefinition {
    IndexDefinition(
      name: name,
      keys: keys.map { .init(attribute: $0, isDescending: false, collation: .binary) },
      isUnique: isUnique, isSparse: isSparse, onViolation: onViolation)
  }

  private static let pages = FetchPredicate.comparison("pages", .greater, 3)

  static let cases: [Case] = [
    Case(
      "createEntity: { name: E, attributes: [], history: false }",
      .createEntity(name: "E", attributes: [], keepsHistory: false),
      "create entity E with 0 attributes"),
    Case(
      "renameEntity: { name: E, to: F }", .renameEntity(name: "E", newName: "F"),
      "rename entity E to F"),
    Case(
      "dropEntity: { name: E, destructive: true }", .dropEntity(name: "E"),
      "drop entity E with all its records"),
    Case(
      "addAttribute: { to: E, name: a, type: url, optional: true }",
      .addAttribute(entity: "E", AttributeDescription(name: "a", type: .url, isOptional: true)),
      "add attribute E.a (url)"),
    Case(
      "addAttribute: { to: E, name: a, type: url, optional: true, ifMissing: true }",
      .addAttribute(
        entity: "E", AttributeDescription(name: "a", type: .url, isOptional: true),
        ifMissing: true), "add attribute E.a (url) if it is missing"),
    Case(
      "renameAttribute: { on: E, name: a, to: b }",
      .renameAttribute(entity: "E", name: "a", newName: "b"), "rename attribute E.a to b"),
    Case(
      "dropAttribute: { on: E, name: a, destructive: true }",
      .dropAttribute(entity: "E", name: "a"), "drop attribute E.a with all its values"),
    Case(
      "changeAttribute: { on: E, name: a, optional: false, backfill: 5 }",
      change("a") {
        $0.isOptional = false
        $0.backfill = 5
      }, "change attribute E.a: required, records without a value get 5"),
    Case(
      "changeAttribute: { on: E, name: a, optional: false, backfill: now }",
      change("a") {
        $0.isOptional = false
        $0.backfill = .now
      }, "change attribute E.a: required, records without a value get now"),
    Case(
      "changeAttribute: { on: E, name: a, optional: false, backfill: { expression: b / 60 } }",
      change("a") {
        $0.isOptional = false
        $0.backfill = .expression(.arithmetic(.divide, .path("b"), .value(60)))
      }, "change attribute E.a: required, records without a value get b / 60"),
    Case(
      "changeAttribute: { on: E, name: a, default: null, owner: local, optional: true }",
      change("a") {
        $0.isOptional = true
        $0.defaultValue = .null
        $0.owner = .local
      }, "change attribute E.a: optional, no default, owner local"),
    Case(
      "changeAttribute: { on: E, name: a, default: [x, \"1\"], min: 0.5, max: null, maxLength: 9 }",
      change("a") {
        $0.defaultValue = .strings(["x", "1"])
        $0.rules.min = .becomes(0.5)
        $0.rules.max = .goes
        $0.rules.maxLength = .becomes(9)
      }, "change attribute E.a: default x, 1, min 0.5, no max, maxLength 9"),
    Case(
      "changeAttribute: { on: E, name: a, values: [p, q], pattern: \"[a-z]+\", maxLength: null }",
      change("a") {
        $0.enumeration = Enumeration(cases: [
          .init(name: "p", rawValue: "p"), .init(name: "q", rawValue: "q"),
        ])
        $0.rules.pattern = .becomes("[a-z]+")
        $0.rules.maxLength = .goes
      }, "change attribute E.a: values p, q, no maxLength, pattern /[a-z]+/"),
    Case(
      "retypeAttribute: { on: E, name: a, type: double, optional: true, default: 1.5, min: 1 }",
      .retypeAttribute(
        AttributeRetyping(
          entity: "E", name: "a", type: .double, isOptional: true, owner: nil, defaultValue: 1.5,
          validation: Validation(min: .double(1)), conversion: Conversion())),
      "retype attribute E.a as double"),
    Case(
      "retypeAttribute: { on: E, name: a, type: enum, values: [x], owner: local }",
      .retypeAttribute(
        AttributeRetyping(
          entity: "E", name: "a",
          type: .enumeration(Enumeration(cases: [.init(name: "x", rawValue: "x")])),
          isOptional: nil, owner: .local, defaultValue: .null, validation: .none,
          conversion: Conversion())), "retype attribute E.a as enum"),
    Case(
      "retypeAttribute: { on: E, name: a, type: int64, conversion: { round: up, orElse: null }, "
        + "destructive: true }",
      .retypeAttribute(
        AttributeRetyping(
          entity: "E", name: "a", type: .int64, isOptional: nil, owner: nil, defaultValue: .null,
          validation: .none, conversion: Conversion(round: .up, orElse: .null))),
      "retype attribute E.a as int64"),
    Case(
      "derive: { on: E, name: a, type: double, from: b * 2 }",
      .deriveAttribute(
        AttributeDerivation(
          entity: "E", attribute: AttributeDescription(name: "a", type: .double),
          expression: .arithmetic(.multiply, .path("b"), .value(2)))),
      "derive attribute E.a (double) from b * 2"),
    Case(
      "createIndex: { on: E, name: i, keys: [a], unique: true, onViolation: quarantine }",
      .createIndex(entity: "E", index("i", ["a"], isUnique: true, .quarantine)),
      "create unique index E.i on a, of equal records the oldest is kept and the others are moved "
        + "to _Quarantine"),
    Case(
      "createIndex: { on: E, name: i, keys: [a], unique: true, onViolation: keepNewest, "
        + "destructive: true }",
      .createIndex(entity: "E", index("i", ["a"], isUnique: true, .keepNewest)),
      "create unique index E.i on a, of equal records the newest is kept"),
    Case(
      "changeIndex: { on: E, name: i, keys: [a, b], sparse: true }",
      .changeIndex(entity: "E", index("i", ["a", "b"], isSparse: true)),
      "change index E.i on a, b"),
    Case(
      "changeIndex: { on: E, name: i, keys: [a], unique: true, onViolation: keepOldest, "
        + "destructive: true }",
      .changeIndex(entity: "E", index("i", ["a"], isUnique: true, .keepOldest)),
      "change unique index E.i on a, of equal records the oldest is kept"),
    Case(
      "dropIndex: { on: E, name: i }", .dropIndex(entity: "E", name: "i"), "drop index E.i"),
    Case(
      "changeRelationship: { on: E, name: r, deleteRule: deny }",
      .changeRelationship(entity: "E", name: "r", deleteRule: .deny),
      "change delete rule of E.r to deny"),
    Case(
      "dropRelationship: { on: E, name: r, destructive: true }",
      .dropRelationship(entity: "E", name: "r"),
      "drop relationship E.r and its inverse, with all links"),
    Case("dropTemplate: { name: t }", .dropTemplate(name: "t"), "drop template t"),
    Case(
      "setHistory: { on: E, keep: false }",
      .setHistory(HistorySetting(entity: "E", isKept: false, values: nil)),
      "set history of E: off"),
    Case(
      "updateRows: { on: E, where: pages > 3, set: { a: null, b: now, c: \"1\", d: 1.50, e: true } }",
      .updateRows(
        RowUpdate(
          entity: "E", predicate: pages,
          set: ["a": nil, "b": .now, "c": "1", "d": 1.5, "e": true])),
      "set a, b, c, d, e of E where pages > 3"),
    Case(
      "updateRows: { on: E, set: { a: { expression: SELF }, b: 12345678901234567.25 } }",
      .updateRows(
        RowUpdate(
          entity: "E", predicate: nil,
          set: [
            "a": .expression(.itself),
            "b": .value(.decimal(Decimal(string: "12345678901234567.25")!)),
          ])), "set a, b of all E"),
    Case(
      "deleteRows: { on: E, where: pages > 3, destructive: true }",
      .deleteRows(entity: "E", pages), "delete E where pages > 3"),
    Case("deleteRows: { on: E, destructive: true }", .deleteRows(entity: "E", nil), "delete all E"),
    Case(
      "assert: { on: E, where: pages > 3, count: 0, message: clean up first }",
      .assert(
        RowAssertion(entity: "E", predicate: pages, count: 0...0, message: "clean up first")),
      "require exactly 0 of E where pages > 3: clean up first"),
    Case(
      "assert: { on: E, atLeast: 2 }",
      .assert(RowAssertion(entity: "E", predicate: nil, count: 2...Int.max, message: nil)),
      "require at least 2 of E"),
    Case(
      "assert: { on: E, atMost: 2 }",
      .assert(RowAssertion(entity: "E", predicate: nil, count: 0...2, message: nil)),
      "require at most 2 of E"),
    Case(
      "assert: { on: E, atLeast: 1, atMost: 2 }",
      .assert(RowAssertion(entity: "E", predicate: nil, count: 1...2, message: nil)),
      "require 1 to 2 of E"),
    Case(
      "runCode: { on: E, name: slugs, revision: 2, changes: [a, b] }",
      .runCode(CodeReference(entity: "E", name: "slugs", revision: 2, changes: ["a", "b"])),
      "run code slugs (revision 2) for a, b of all E"),
  ]

  @Test("A step is read", arguments: cases)
  func isRead(_ example: Case) throws {
    let step = try MigrationText.step(example.text)
    #expect(step == example.step)
    #expect(step.description == example.says)
    #expect(example.text.hasPrefix(step.verb.rawValue + ":"))
    #expect(step.isDestructive == example.text.contains("destructive"))
  }

  @Test(
    "The word `destructive` is required where something is lost, and nowhere else", arguments: cases
  )
  func theWordIsAskedFor(_ example: Case) throws {
    let wrong =
      example.text.contains("destructive")
      ? [
        example.text.replacing(", destructive: true", with: ""),
        example.text.replacing("destructive: true", with: "destructive: false"),
      ]
      : ["true", "false"].map { example.text.dropLast() + ", destructive: \($0) }" }
    for text in wrong {
      let error = #expect(throws: (any Error).self) { try MigrationText.step(text) }
      #expect(error.map { "\($0)" }?.contains("lose") == true, "\(text)")
    }
  }

  @Test func everyVerbIsTaken() throws {
    let more = try MigrationText.steps(
      """
      - createRelationship: { on: E, name: r, to: F }
      - createTemplate: { name: t, entity: E }
      - retainHistory: { days: 1, megabytes: 1, consumerDays: 1, consumerMegabytes: 1 }
      - importLegacy: { source: old, mapping: { import: old } }
      """)
    let verbs = Set(Self.cases.map(\.step.verb) + more.map(\.verb))
    #expect(verbs == Set(MigrationVerb.allCases))
  }

  @Test func stepsBackAndOlderProgramsAreRead() throws {
    let text = """
      line: a
      summary: s
      older: refuse
      steps:
        - renameEntity: { name: E, to: F }
        - dropIndex: { on: F, name: i }
      down:
        - createIndex: { on: F, name: i, keys: [a] }
        - renameEntity: { name: F, to: E }
      """
    let migration = try MigrationText.file(text)
    #expect(migration.older == .refuse)
    #expect(migration.steps.map(\.verb) == [.renameEntity, .dropIndex])
    #expect(migration.down.map(\.verb) == [.createIndex, .renameEntity])
    let plain = try MigrationText.file("line: a\nsummary: s\nsteps: []\n")
    #expect(plain.older == .read)
    #expect(plain.down.isEmpty && plain.downChecksums.isEmpty)
  }
}
