import EntityModel
import Testing

@testable import EntityStore
@testable import Migrations

/// The errors of steps name the place of the mistake.
@Suite struct MigrationStepErrorTests {
  /// An invalid step; `«` marks the place that the error names.
  typealias Case = MigrationFileTests.Case

  @Test(
    "An error names its place",
    arguments: [
      Case(
        "older programs may do is one of write, read, refuse",
        "line: a\nsummary: s\nolder: «never\nsteps: []\n"),
      Case("expected a sequence", "line: a\nsummary: s\nsteps: []\ndown: «{}\n"),
      Case("one key, the verb", "line: a\nsummary: s\nsteps: []\ndown:\n  - «{}\n"),
      Case("did you mean \"dropEntity\"?", step: "«dropEntty: { name: E }"),
      Case("known are createEntity,", step: "«truncate: { name: E }"),
      Case("loses all records of E; if that is intended, add", step: "dropEntity: «{ name: E }"),
      Case("write true here", step: "dropEntity: { name: E, destructive: «false }"),
      Case("loses nothing", step: "renameEntity: { name: E, to: F, destructive: «true }"),
      Case("all values of E.a", step: "dropAttribute: «{ on: E, name: a }"),
      Case("all links of E.r", step: "dropRelationship: «{ on: E, name: r }"),
      Case("the records of E that match", step: "deleteRows: «{ on: E, where: a == 1 }"),
      Case(
        "that others are equal to",
        step: "createIndex: «{ on: E, name: i, keys: [a], unique: true, onViolation: keepNewest }"),
      Case(
        "loses nothing",
        step: "createIndex: { on: E, name: i, keys: [a], unique: true, onViolation: quarantine, "
          + "destructive: «true }"),
      Case(
        "E.a that cannot be converted",
        step: "retypeAttribute: «{ on: E, name: a, type: int64, conversion: { orElse: 0 } }"),
      Case(
        "no case of the enum",
        step: "retypeAttribute: { on: E, name: a, type: enum, values: [x], "
          + "conversion: { orElse: «y } }"),
      Case(
        "with unique: true",
        step: "createIndex: { on: E, name: i, keys: [a], onViolation: «fail }"),
      Case(
        "onViolation is one of fail, keepNewest, keepOldest, quarantine",
        step: "changeIndex: { on: E, name: i, keys: [a], unique: true, onViolation: «drop }"),
      Case("entity of the system", step: "dropEntity: { name: «_Seed, destructive: true }"),
      Case("entity of the system", step: "deleteRows: { on: «_Seed, destructive: true }"),
      Case("is not a valid name", step: "renameEntity: { name: E, to: «_E }"),
      Case("is not a valid name", step: "renameAttribute: { on: E, name: a, to: «_a }"),
      Case("say what changes", step: "changeAttribute: «{ on: E, name: a }"),
      Case(
        "\"type\" is unknown",
        step: "changeAttribute: { on: E, name: a, owner: local, «type: string }"),
      Case(
        "with optional: false", step: "changeAttribute: { on: E, name: a, backfill: «1 }"),
      Case(
        "null is none",
        step: "changeAttribute: { on: E, name: a, optional: false, backfill: «null }"),
      Case(
        "\"expression\" is missing",
        step: "changeAttribute: { on: E, name: a, optional: false, backfill: «{ value: 1 } }"),
      Case("cannot be read", step: "changeAttribute: { on: E, name: a, pattern: «\"[a-\" }"),
      Case("from 0 to", step: "changeAttribute: { on: E, name: a, maxLength: «-1 }"),
      Case("\"type\" is missing", step: "retypeAttribute: «{ on: E, name: a }"),
      Case("of type date", step: "retypeAttribute: { on: E, name: a, type: date, default: «x }"),
      Case(
        "a constant", step: "addAttribute: { to: E, name: a, type: date, default: «now }"),
      Case(
        "less than the minimum",
        step: "retypeAttribute: { on: E, name: a, type: int64, min: 3, default: «2 }"),
      Case("\"from\" is missing", step: "derive: «{ on: E, name: a, type: int64 }"),
      Case("expected", step: "derive: { on: E, name: a, type: int64, from: «b + }"),
      Case("$X", step: "derive: { on: E, name: a, type: int64, from: «b + $X }"),
      Case("about one record", step: "derive: { on: E, name: a, type: int64, from: «sum(b) }"),
      Case("$X", step: "updateRows: { on: E, where: «b == $X, set: { a: 1 } }"),
      Case(
        "about one record", step: "deleteRows: { on: E, where: «sum(b) > 1, destructive: true }"),
      Case("name what to set", step: "updateRows: { on: E, set: «{} }"),
      Case("number of records", step: "assert: «{ on: E }"),
      Case("number of records", step: "assert: «{ on: E, count: 1, atLeast: 1 }"),
      Case("more than atMost", step: "assert: «{ on: E, atLeast: 2, atMost: 1 }"),
      Case("at least 0", step: "assert: { on: E, count: «-1 }"),
      Case("one of nullify", step: "changeRelationship: { on: E, name: r, deleteRule: «drop }"),
      Case("at least 1", step: "runCode: { on: E, name: c, revision: «0, changes: [a] }"),
      Case("each once", step: "runCode: { on: E, name: c, revision: 1, changes: «[] }"),
      Case("each once", step: "runCode: { on: E, name: c, revision: 1, changes: «[a, a] }"),
    ])
  func errorsNameTheirPlace(wrong: Case) throws {
    let error = #expect(throws: (any Error).self) {
      try MigrationText.file(wrong.text.replacing("«", with: ""))
    }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains(wrong.says), "\(message)")
    #expect(message.hasPrefix("f:\(wrong.place): "), "\(message) instead of \(wrong.place)")
  }

  @Test func aLineOfTheSystemChangesOnlyItsEntities() throws {
    #expect(throws: (any Error).self) {
      try MigrationText.step("renameEntity: { name: E, to: _F }", line: "system")
    }
    #expect(throws: (any Error).self) {
      try MigrationText.step("renameEntity: { name: _E, to: F }", line: "system.feeds")
    }
    #expect(
      try MigrationText.step("renameEntity: { name: _E, to: _F }", line: "system")
        == .renameEntity(name: "_E", newName: "_F"))
  }
}
