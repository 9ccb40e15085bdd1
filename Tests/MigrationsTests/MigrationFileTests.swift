import EntityModel
import Foundation
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct MigrationFileTests {
  /// An invalid file; `«` marks the place that the error names.
  struct Case: CustomTestStringConvertible, Sendable {
    let says: String
    let text: String

    init(_ says: String, _ text: String) {
      self.says = says
      self.text = text
    }

    /// A file with one step.
    init(_ says: String, step: String) {
      self.init(says, "line: a\nsummary: s\nsteps:\n  - \(step)\n")
    }

    /// `LINE:COLUMN`, both from 1.
    var place: String {
      let before = text.prefix { $0 != "«" }
      let column = before.reversed().prefix { $0 != "\n" }.count + 1
      return "\(before.count { $0 == "\n" } + 1):\(column)"
    }

    var testDescription: String { "\(place) \(says)" }
  }

  @Test(
    "An error names its file, line and column",
    arguments: [
      Case("\"line\" is missing", "\n«summary: s\nsteps: []\n"),
      Case("is not a valid name of a line", "line: «\"A B\"\nsummary: s\nsteps: []\n"),
      Case("is not a valid name of a line", "line: «Ab\nsummary: s\nsteps: []\n"),
      Case("is not a valid name of a line", "line: «\".a\"\nsummary: s\nsteps: []\n"),
      Case("\"more\" is unknown", "line: a\nsummary: s\nsteps: []\n«more: 1\n"),
      Case("line@version", "line: a\nsummary: s\nrequires: [«b]\nsteps: []\n"),
      Case("line@version", "line: a\nsummary: s\nrequires: [b@1, «b@0]\nsteps: []\n"),
      Case("unknown step \"forget\"", step: "«forget: { name: E }"),
      Case("one key, the verb", step: "«{ dropIndex: {}, createIndex: {} }"),
      Case("is not a valid name", step: "createEntity: { name: «_E, attributes: [] }"),
      Case("is not a valid name", step: "createEntity: { name: «\"E-1\", attributes: [] }"),
      Case("is not a valid name", step: "createEntity: { name: «é, attributes: [] }"),
      Case("is not a valid name", step: "createEntity: { name: «\"3d\", attributes: [] }"),
      Case(
        "is not a valid name",
        step: "createEntity: { name: «\(String(repeating: "a", count: 64)), attributes: [] }"),
      Case(
        "unknown type \"text\"",
        step: "createEntity: { name: E, attributes: [{ name: a, type: «text }] }"),
      Case(
        "two attributes named a",
        step:
          "createEntity: { name: E, attributes: [{ name: a, type: int64 }, «{ name: a, type: url }] }"
      ),
      Case("\"opt\" is unknown", step: "addAttribute: { to: E, name: a, type: int64, «opt: true }"),
      Case("true or false", step: "addAttribute: { to: E, name: a, type: int64, optional: «yes }"),
      Case("feed or local", step: "addAttribute: { to: E, name: a, type: bool, owner: «me }"),
      Case("a whole number", step: "addAttribute: { to: E, name: a, type: int64, default: «a }"),
      Case(
        "less than the minimum",
        step: "addAttribute: { to: E, name: a, type: int64, min: 3, default: «2 }"),
      Case("names its values", step: "addAttribute: { to: E, name: a, type: «enum }"),
      Case("only an enum", step: "addAttribute: { to: E, name: a, type: string, values: «[a] }"),
      Case("at least one value", step: "addAttribute: { to: E, name: a, type: enum, values: «[] }"),
      Case(
        "are the same",
        step: "addAttribute: { to: E, name: a, type: enum, values: «{ a: 1, b: 1 } }"),
      Case(
        "cannot be read",
        step: "addAttribute: { to: E, name: a, type: string, optional: true, pattern: «\"[a-\" }"),
      Case("from 0 to", step: "addAttribute: { to: E, name: a, type: string, maxLength: «-1 }"),
      Case("desc", step: "createIndex: { on: E, name: i, keys: [«a down] }"),
      Case("with a collation", step: "createIndex: { on: E, name: i, keys: [«a desc localized] }"),
      Case("with a collation", step: "createIndex: { on: E, name: i, keys: [a, «a localised] }"),
      Case(
        "no collation for the locale (locale: xx)",
        step: "createIndex: { on: E, name: i, keys: [a, «b localized(xx) desc] }"),
      Case("1 to 8 keys", step: "createIndex: «{ on: E, name: i, keys: [] }"),
    ])
  func errorsNameTheirPlace(wrong: Case) throws {
    let message = try #require(Self.message(wrong.text.replacing("«", with: "")))
    let place = message.split(separator: ":", maxSplits: 3).prefix(3).joined(separator: ":")
    #expect(message.contains(wrong.says), "\(message)")
    #expect(place == "dir/0001_x.yaml:\(wrong.place)", "\(message)")
  }

  @Test("A file name begins with its number", arguments: ["x", "0000_x", "-1_x", "", "x_0001"])
  func nameWithoutNumber(name: String) {
    let message = Self.message("line: a\nsummary: s\nsteps: []\n", name: name)
    #expect(message?.contains("NNNN_slug.yaml") == true)
  }

  @Test func everyStepAndOptionIsRead() throws {
    let text = """
      line: a.b-1
      summary: s
      requires: [homefeed@3, c@1]
      steps:
        - createEntity:
            name: E
            attributes:
              - { name: a, type: string, pattern: "[a-z]*", maxLength: 9, default: "null" }
              - { name: b, type: enum, values: { x: 5, y: 2 }, optional: true, owner: local }
              - { name: c, type: decimal, default: 1.50, min: -1, max: 2 }
              - { name: d, type: strings, default: [a, b] }
              - { name: e, type: date, default: 2001-01-01T00:00:01Z }
        - addAttribute: { to: E, name: f, type: data, default: AQI= }
        - createIndex: { on: E, name: i, keys: [a, b desc, c asc], unique: true, sparse: true }
        - dropIndex: { on: E, name: i }
        - createIndex:
            on: E
            name: j
            keys: [a localized, b localized(de@collation=phonebook) desc, c caseInsensitive asc]
      """
    let migration = try MigrationFile.read(Array(text.utf8), name: "0012_x", file: "f")
    #expect(migration.line == "a.b-1")
    #expect(migration.version == 12)
    #expect(
      migration.requires == [.init(line: "homefeed", version: 3), .init(line: "c", version: 1)])
    guard case .createEntity("E", let attributes, _) = migration.steps[0] else {
      Issue.record("the first step makes no entity")
      return
    }
    #expect(attributes.map(\.name) == ["a", "b", "c", "d", "e"])
    #expect(attributes[0].defaultValue == "null")
    #expect(attributes[0].validation == Validation(maxLength: 9, pattern: "[a-z]*"))
    #expect(attributes[1].owner == .local)
    #expect(
      attributes[1].type
        == .enumeration(
          Enumeration(cases: [.init(name: "y", rawValue: 2), .init(name: "x", rawValue: 5)])))
    #expect(attributes[2].defaultValue == .decimal(Decimal(string: "1.5")!))
    #expect(attributes[3].defaultValue == .strings(["a", "b"]))
    #expect(attributes[4].defaultValue == .date(Date(timeIntervalSinceReferenceDate: 1)))
    guard case .addAttribute("E", let added, false) = migration.steps[1] else {
      Issue.record("the second step adds no attribute")
      return
    }
    #expect(added.defaultValue == .data(Data([1, 2])))
    #expect(migration.steps.count == 5)
    guard case .createIndex("E", let index) = migration.steps[4] else {
      Issue.record("the last step makes no index")
      return
    }
    #expect(
      index.keys.map(\.collation) == [
        .localizedStandard, .localizedStandard("de@collation=phonebook"), .caseInsensitive,
      ])
    #expect(
      migration.steps[4].description
        == "create index E.j on a localized, b localized(de@collation=phonebook) desc, "
        + "c caseInsensitive")
  }

  @Test func theChecksumKnowsTheContentAndNotItsSpelling() throws {
    func checksum(_ text: String) throws -> String {
      try MigrationFile.read(Array(text.utf8), name: "0001_x", file: "f").checksum
    }
    let text = "line: a\nsummary: s\nsteps:\n  - dropIndex: { on: E, name: i }\n"
    let same =
      "# why\r\nsteps:\r\n- dropIndex:\r\n    name: 'i'\r\n    on: \"E\"\r\nsummary: s\r\nline: a\r\n"
    #expect(try checksum(text) == checksum(same))
    #expect(try checksum(text) != checksum(text.replacing("name: i", with: "name: j")))
    #expect(try checksum(text) != checksum(text.replacing("summary: s", with: "summary: t")))
  }

  private static func message(_ text: String, name: String = "0001_x") -> String? {
    do {
      _ = try MigrationFile.read(Array(text.utf8), name: name, file: "dir/\(name).yaml")
      return nil
    } catch {
      return "\(error)"
    }
  }
}
