import EntityModel
import Foundation
import StrictYAML
import TestSupport
import Testing

@testable import EntityStore
@testable import SchemaFiles

private let states = AttributeType.enumeration(
  Enumeration(cases: [.init(name: "new", rawValue: 0), .init(name: "played", rawValue: 1)]))

@Suite struct ConversionFileTests {
  /// An invalid conversion; `«` marks the place that the error names.
  struct Case: CustomTestStringConvertible, Sendable {
    let type: AttributeType
    let says: String
    let text: String

    init(_ type: AttributeType, _ says: String, _ text: String) {
      (self.type, self.says, self.text) = (type, says, text)
    }

    var column: Int { text.prefix { $0 != "«" }.count + 1 }
    var testDescription: String { "\(text) to \(type.name)" }
  }

  @Test(
    "An error names its place and says what to do",
    arguments: [
      Case(.int64, "a mapping", "«[]"), Case(.int64, "did you mean \"trim\"", "{ «trims: true }"),
      Case(.int64, "known keys", "{ «frobnicate: true }"),
      Case(.int64, "true or false", "{ trim: «yes }"),
      Case(.int64, "true or false", "{ lowercase: «1 }"),
      Case(.data, "known are base64, hex, utf8", "{ encoding: «rot13 }"),
      Case(.int64, "a sequence", "{ nullValues: «0 }"),
      Case(.int64, "at least one", "{ nullValues: «[] }"),
      Case(.int64, "without being told", "{ nullValues: [0, «null] }"),
      Case(.int64, "expected text", "{ nullValues: [0, «[1]] }"),
      Case(.date, "did you mean \"unixSeconds\"", "{ date: «unixSecond }"),
      Case(.date, "known are unixSeconds", "{ date: «unix }"),
      Case(.int64, "must be date or string", "{ date: «rfc3339 }"),
      Case(.bool, "the type is bool", "{ date: «unixSeconds }"),
      Case(.date, "use date: iso8601 or rfc822", "{ date: unixSeconds, zone: «Z }"),
      Case(.date, "use date: iso8601 or rfc822", "{ zone: «Z }"),
      Case(.date, "as Z or as an offset", "{ date: iso8601, zone: «Europe/Berlin }"),
      Case(.date, "as Z or as an offset", "{ date: iso8601, zone: «\"+25:00\" }"),
      Case(.date, "a scale is for", "{ scale: «2 }"),
      Case(.int64, "has its unit", "{ date: unixSeconds, scale: «2 }"),
      Case(.int64, "other than 0", "{ scale: «0 }"),
      Case(.int64, "a decimal number", "{ scale: «1e3 }"),
      Case(.bool, "the type is bool", "{ round: «up }"),
      Case(.string, "the type is string", "{ round: «up }"),
      Case(.double, "another rounding", "{ round: «up }"),
      Case(.int64, "known are halfEven", "{ round: «nearest }"),
      Case(.string, "the type is string", "{ atLeast: «a }"),
      Case(.int64, "a whole number", "{ atLeast: «0.5 }"),
      Case(.int64, "leave the key out", "{ atMost: «null }"),
      Case(.int64, "less than atLeast", "{ atLeast: 5, atMost: «4 }"),
      Case(.date, "2026-11-20T10:00:00Z", "{ atLeast: «now }"),
      Case(.bool, "true or false", "{ cases: { a: «yes } }"),
      Case(.bool, "at least one", "{ cases: «{} }"),
      Case(states, "its cases are new, played", "{ cases: { 0: «old } }"),
      Case(states, "did you mean \"played\"", "{ cases: { 0: «playd } }"),
      Case(.int64, "remove date, zone, scale", "{ cases: «{ a: 1 }, scale: 2 }"),
      Case(.bool, "for strings", "{ separator: «\",\" }"),
      Case(.strings, "at least one character", "{ separator: «\"\" }"),
      Case(.int64, "a whole number", "{ orElse: «refuse }"),
      Case(.reference("A"), "createRelationship", "«{}"),
    ])
  func errorsNameTheirPlace(wrong: Case) throws {
    let error = try #require(throws: YAMLError.self) {
      try Self.read(wrong.text.replacing("«", with: ""), wrong.type)
    }
    #expect(error.summary.contains(wrong.says), "\(error)")
    #expect(error.line == 2 && error.column == wrong.column, "\(error)")
  }

  /// Each is written in the canonical form.
  @Test(
    "What is written is read",
    arguments: [
      ("{}", .int64, .none),
      (
        "{ nullValues: [0], date: unixMilliseconds }", .date,
        .init(nullValues: ["0"], date: .unixMilliseconds)
      ),
      (
        "{ trim: true, normalize: true, lowercase: true, emptyIsNull: true }", .string,
        .init(trims: true, normalizes: true, lowercases: true, emptyIsNull: true)
      ),
      (
        "{ nullValues: [\"\", -1, \"0.0\", 0.5, \"007\", \"1e3\", \"n/a\", none, \"null\"] }",
        .string,
        .init(nullValues: ["", "-1", "0.0", "0.5", "007", "1e3", "n/a", "none", "null"])
      ),
      (
        "{ date: iso8601, zone: \"+08:00\", orElse: \"2001-01-01T00:00:00Z\" }", .date,
        .init(
          date: .iso8601, zoneMinutes: 480,
          orElse: .value(.date(Date(timeIntervalSinceReferenceDate: 0))))
      ),
      (
        "{ date: rfc822, zone: Z, orElse: null }", .date,
        .init(date: .rfc822, zoneMinutes: 0, orElse: .null)
      ),
      (
        "{ scale: 0.001, round: halfUp, atLeast: 0, atMost: 100, orElse: -1 }", .int64,
        .init(
          scale: Decimal(string: "0.001")!, round: .halfUp, atLeast: 0, atMost: 100,
          orElse: .value(-1))
      ),
      ("{ round: halfEven }", .double, .init(round: .halfEven)),
      (
        "{ cases: { \"\": null, 0: new, 1: played }, orElse: new }", states,
        .init(cases: ["0": 0, "1": 1, "": nil], orElse: .value(0))
      ),
      (
        "{ cases: { N: false, Y: true, yes: true } }", .bool,
        .init(cases: ["Y": true, "yes": true, "N": false])
      ),
      ("{ encoding: hex }", .data, .init(encoding: .hex)),
      (
        "{ separator: \", \\u0000\\\"\\\\\", orElse: [a, \"b c\", \"null\"] }", .strings,
        .init(separator: ", \0\"\\", orElse: .value(.strings(["a", "b c", "null"])))
      ),
      ("{ orElse: \"null\" }", .string, .init(orElse: .value("null"))),
      ("{ orElse: 1.50 }", .decimal, .init(orElse: .value(.decimal(Decimal(string: "1.5")!)))),
    ] as [(String, AttributeType, Conversion)])
  func readsAndWrites(text: String, type: AttributeType, conversion: Conversion) throws {
    #expect(try Self.read(text, type) == conversion)
    let written = ConversionFile.text(conversion, to: type)
    #expect(written == text.replacing("1.50", with: "1.5"))
  }

  @Test func aPlainNumberIsTheNumber() throws {
    let conversion = try Self.read("{ nullValues: [0.0, 1e3, -0, 9007199254740993, 010] }", .int64)
    #expect(conversion.nullValues == ["0", "1000", "9007199254740993", "010"])
  }

  @Test("Random conversions are read as they were written", arguments: ValueKind.allCases)
  func randomRoundTrip(kind: ValueKind) throws {
    let seed = testSeed(49)
    var random = SeededRandom(seed: seed)
    let type = try #require(Self.types[kind])
    for round in 0..<300 {
      var conversion = Conversion(
        encoding: random.oneIn(3) ? random.pick(Conversion.Encoding.allCases) : nil,
        trims: random.oneIn(3), normalizes: random.oneIn(3), lowercases: random.oneIn(3),
        emptyIsNull: random.oneIn(3))
      for _ in 0..<random.number(0...3) {
        let value = random.value(random.pick([.string, .int64, .double, .uuid]))
        conversion.nullValues.insert(Conversion.word(of: value) ?? "")
      }
      // Keys end at 1,024 characters, by the dialect.
      for _ in 0..<random.number(0...3) {
        conversion.cases[String(random.text().prefix(100))] = value(&random, kind)
      }
      if random.oneIn(2) { conversion.orElse = .value(value(&random, kind)) }
      let text = ConversionFile.text(conversion, to: type)
      let back = try Self.read(text, type)
      try #require(back == conversion, "seed \(seed), round \(round): \(text)")
    }
  }

  private func value(_ random: inout SeededRandom, _ kind: ValueKind) -> Value {
    if kind == .date {
      return .date(Date(timeIntervalSinceReferenceDate: Double(random.number(-9_999...9_999))))
    }
    let value = random.value(kind)
    if case .double(let number) = value, number.isInfinite { return 0.5 }
    return value
  }

  static let types: [ValueKind: AttributeType] = [
    .int64: .int64, .double: .double, .decimal: .decimal, .bool: .bool, .string: .string,
    .date: .date, .uuid: .uuid, .data: .data, .url: .url, .strings: .strings,
  ]

  private static func read(_ text: String, _ type: AttributeType) throws -> Conversion {
    try ConversionFile.conversion(
      try YAMLDocument.parse("\n" + text + "\n", file: "f"), to: type)
  }
}
