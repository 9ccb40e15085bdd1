import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Seeds with something wrong: one line that says where, and nothing is written.
@Suite struct SeedRefusalTests {
  /// A wrong file; `«` stands before the place that the error names.
  struct Case: CustomTestStringConvertible, Sendable {
    let code: StoreError.Code
    let says: String
    let text: String

    init(_ says: String, _ text: String, code: StoreError.Code = .seed) {
      self.says = says
      self.text = text
      self.code = code
    }

    /// `LINE:COLUMN`, both from 1.
    var place: String {
      let before = text.prefix { $0 != "«" }
      let column = before.reversed().prefix { $0 != "\n" }.count + 1
      return "\(before.count { $0 == "\n" } + 1):\(column)"
    }

    var testDescription: String { "\(place) \(says)" }
  }

  private static let vet = "Vet: [{ code: v1 }]\n"

  @Test(arguments: [
    Case("expected a mapping", "«[]"),
    Case("did you mean \"Dog\"", vet + "«Dgo: []\n"),
    Case("\"_Seed\" is unknown", "«_Seed: [{ name: first }]"),
    Case("expected a sequence", "Vet: «{ code: v1 }"),
    Case("expected a mapping", "Vet: [«v1]"),
    Case("did you mean \"code\"", "Vet: [{ «kode: v1 }]"),
    Case("\"_vet\" is unknown", vet + "Dog: [{ name: a, «_vet: 1 }]"),
    Case("\"code\" is already there", "Vet: [{ code: v1, «code: v2 }]"),
    Case("expected a whole number", vet + "Dog:\n  - name: a\n    age: «\"3\"\n"),
    Case("expected a whole number", vet + "Dog:\n  - name: a\n    size: «small\n"),
    Case("expected true or false", vet + "Dog: [{ isGood: «yes }]"),
    Case("expected a number", vet + "Walk: [{ kilometers: «.5 }]"),
    Case("this is not of type date", vet + "Walk: [{ date: «yesterday }]"),
    Case("this is not of type uuid", vet + "Dog: [{ token: «abc }]"),
    Case("this is not of type data", vet + "Dog: [{ photo: «\"?\" }]"),
    Case("this is not of type decimal", vet + "Dog: [{ price: «much }]"),
    Case("expected a sequence", vet + "Dog: [{ tags: «brown }]"),
    Case("\"v\" is there already", "Vet: [{ $label: v, code: a }, { $label: «v, code: b }]"),
    Case("expected text", "Vet: [{ $label: «[v], code: a }]"),
    Case("did you mean \"fido\"", "Dog: [{ $label: fido, vet: { $label: «fidoo } }]"),
    Case(
      "the label of a record of Dog; the relationship leads to Vet",
      "Dog: [{ $label: fido, vet: { $label: «fido } }]"),
    Case("expected a mapping", vet + "Dog: [{ name: a, vet: «v1 }]"),
    Case("expected a sequence", vet + "Dog: [{ name: a, friends: «{ name: b } }]"),
    Case("attributes of a unique index", vet + "Dog: [{ name: a, vet: «{} }]"),
    Case("\"cod\" is unknown", vet + "Dog: [{ name: a, vet: { «cod: v1 } }]"),
    Case("\"code\" is unknown", vet + "Dog: [{ vet: { $label: a, «code: v1 } }]"),
    Case("no record of Vet has code: v2", vet + "Dog: [{ name: a, vet: «{ code: v2 } }]"),
    Case(
      "no record of Dog has name: b",
      vet + "Dog: [{ name: a, vetCode: v1, friends: [{ name: a }, «{ name: b }] }]"),
    Case(
      "no unique index", vet + "Dog: [{ name: a, vetCode: v1, friends: [«{ age: 3 }] }]",
      code: .invalidRequest),
    Case("a value is required", vet + "Dog: [«{ vet: { code: v1 } }]", code: .validation),
    Case("a value is required", "Walk:\n  - «date: 2026-01-01T00:00:00Z\n", code: .validation),
    Case(
      "less than the minimum 0",
      vet + "Dog: [{ name: b, vetCode: v }, «{ name: a, vetCode: v, age: -1 }]",
      code: .validation),
    Case(
      "unique", vet + "Dog: [{ name: a, vetCode: v }, «{ name: A, vetCode: v }]",
      code: .uniqueViolation),
  ])
  func anErrorNamesFileLineAndColumnAndNothingIsWritten(_ wrong: Case) async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let text = wrong.text.replacing("«", with: "")
      let error = try await refusal(of: Data(text.utf8), "wrong.yaml", temporary)
      #expect(error.code == wrong.code)
      #expect(error.place == temporary.folder.path("wrong.yaml") + ":" + wrong.place)
      #expect(error.description.contains(wrong.says), "\(error)")
    }
  }

  @Test(arguments: [
    ("", "<array/>", "expected a dictionary"),
    ("", "<dict><key>Dgo</key><array/></dict>", "did you mean \"Dog\""),
    (": Vet", "<dict><key>Vet</key><dict/></dict>", "expected an array"),
    (
      ": Vet, item 1", "<dict><key>Vet</key><array><string>v</string></array></dict>",
      "a dictionary"
    ),
    (": Vet, item 2, code", vets("<integer>1</integer>"), "expected a string, found an integer"),
    (": Vet, item 2", vets("<string>v</string><key>kode</key><true/>"), "\"kode\" is unknown"),
    (": Dog, item 1, age", dog("age", "<true/>"), "expected an integer, found a boolean"),
    (": Dog, item 1, age", dog("age", "<real>3</real>"), "expected an integer, found a real"),
    (": Dog, item 1, isGood", dog("isGood", "<integer>1</integer>"), "expected true or false"),
    (": Dog, item 1, token", dog("token", "<string>x</string>"), "this is not of type uuid"),
    (": Dog, item 1, price", dog("price", "<date>2026-01-01T00:00:00Z</date>"), "found a date"),
    (": Dog, item 1, tags, item 1", dog("tags", "<array><data>aGk=</data></array>"), "found data"),
    (
      ": Dog, item 1, vet, $label", dog("vet", "<dict><key>$label</key><string>v</string></dict>"),
      "no object has the label \"v\""
    ),
    ("", dog("age", "<integer>18446744073709551615</integer>"), "does not fit 64 bits"),
    ("", "<dict>", "this is not a property list"),
    ("", String(repeating: "<array>", count: 100_000), "this is not a property list"),
  ])
  func anErrorInAPropertyListNamesEntityAndItem(
    _ place: String, _ text: String, _ says: String
  ) async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let error = try await refusal(of: Kennel.propertyList(of: text), "wrong.plist", temporary)
      #expect(error.code == .seed)
      #expect(error.place == temporary.folder.path("wrong.plist") + place)
      #expect(error.description.contains(says), "\(error)")
    }
  }

  @Test func aFileThatCannotBeReadIsAnErrorWithItsName() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let files: [(String, Data?, String)] = [
        ("missing.yaml", nil, "file"), ("seed.txt", Data("Vet: []".utf8), "extension"),
        ("large.json", Data(count: (64 << 20) + 1), "more than 67108864 bytes"),
        ("large.plist", Data(count: (64 << 20) + 1), "more than 67108864 bytes"),
        ("latin.yaml", Data([0x56, 0xE9]), "UTF-8"), ("empty.yaml", Data(), "empty"),
      ]
      for (name, data, says) in files {
        let error = try await refusal(of: data, name, temporary)
        #expect(error.code == .seed)
        #expect(error.description.contains(name) && error.description.contains(says), "\(error)")
      }
    }
  }

  @Test func aSeedOfMoreThanADocumentUsuallyHasIsRead() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let names = (0..<3).map { "\($0)" + String(repeating: "x", count: 2 << 20) }
      let text = "{\"Owner\": [\(names.map { "{\"name\": \"\($0)\"}" }.joined(separator: ","))]}"
      let outcome = try await temporary.seed(Data(text.utf8), "long.json")
      #expect(outcome == .applied(["Owner": 3]))
    }
  }

  @Test func aSeedHasAName() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      for name in ["", String(repeating: "n", count: 201)] {
        #expect(
          await code { try await temporary.store.seed(from: "a.yaml", named: name) }
            == .invalidRequest)
      }
      let path = temporary.folder.path("first.yaml")
      try Data(Kennel.yaml.utf8).write(to: URL(filePath: path))
      let name = String(repeating: "n", count: 200)
      #expect(
        try await temporary.store.seed(from: path, named: name) == .applied(Kennel.counts))
    }
  }

  // MARK: Parts

  /// The error of a seeding that writes nothing.
  private func refusal(
    of data: Data?, _ name: String, _ temporary: TemporaryStore
  ) async throws -> StoreError {
    let path = temporary.folder.path(name)
    try data?.write(to: URL(filePath: path))
    let error = try #require(
      await #expect(throws: StoreError.self) {
        _ = try await temporary.store.seed(from: path, named: "first")
      })
    #expect(!error.description.contains("\n"))
    #expect(try temporary.store.dump().isEmpty)
    #expect(try temporary.store.read { try $0.count(of: "_Seed") } == 0)
    return error
  }

  /// Two vets, of which the second has this code.
  private static func vets(_ code: String) -> String {
    "<dict><key>Vet</key><array><dict><key>code</key><string>v1</string></dict>"
      + "<dict><key>code</key>\(code)</dict></array></dict>"
  }

  private static func dog(_ key: String, _ value: String) -> String {
    "<dict><key>Dog</key><array><dict><key>\(key)</key>\(value)</dict></array></dict>"
  }
}

extension StoreError {
  /// The place in a seed file that it names.
  fileprivate var place: String? { context.first { $0.0 == "at" }?.1 }
}
