import EntityModel
import Foundation
import TestSupport
import Testing

@Suite struct ValueTests {
  @Test("Every value goes through JSON unchanged", arguments: ValueKind.allCases)
  func jsonRoundTrip(kind: ValueKind) throws {
    let seed = testSeed(1)
    var random = SeededRandom(seed: seed)
    var values = (0..<300).map { _ in random.value(kind) }
    values += [.null, .string("null"), .data(Data([0x9e, 0xe9, 0x65])), .strings([])]
    for value in values where !Self.isInfinite(value) {
      let data = try JSONEncoder().encode([value])
      let back = try JSONDecoder().decode([Value].self, from: data)
      try #require(back == [value], "seed \(seed): \(String(decoding: data, as: UTF8.self))")
    }
  }

  @Test("The text of a dump reads back as the same value", arguments: ValueKind.allCases)
  func exactTextsRoundTrip(kind: ValueKind) throws {
    let seed = testSeed(2)
    var random = SeededRandom(seed: seed)
    var values = (0..<500).map { _ in random.value(kind) }
    if kind == .date {
      values += [801.0000001, 801.25, -1e-9, 801_234_567.123_456_7, .infinity].map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    }
    for value in values {
      let json = Data("[\(value.exactJSON)]".utf8)
      let back: Value?
      switch try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed) as? [Any] {
      case .some(let list) where list.first is String:
        back = Value(exactText: try #require(list.first as? String), as: kind)
      default: back = try Self.number(in: json, kind)
      }
      try #require(back == value, "seed \(seed): \(value.exactJSON)")
    }
    #expect(Value(exactText: "nan", as: .double) == nil)
    #expect(Value(exactText: "now", as: .date) == nil)
    #expect(Value(exactText: "2026-02-30T00:00:00Z", as: .date) == nil)
  }

  /// Returns the value of a list of one number, flag or list.
  private static func number(in json: Data, _ kind: ValueKind) throws -> Value? {
    let decoder = JSONDecoder()
    return switch kind {
    case .int64: try decoder.decode([Int64].self, from: json).first.map(Value.int64)
    case .double: try decoder.decode([Double].self, from: json).first.map(Value.double)
    case .bool: try decoder.decode([Bool].self, from: json).first.map(Value.bool)
    case .strings: try decoder.decode([[String]].self, from: json).first.map(Value.strings)
    default: nil
    }
  }

  @Test func aTextIsEqualOnlyToTheSameBytes() {
    let composed = Value.string("caf\u{e9}")
    let decomposed = Value.string("cafe\u{301}")
    #expect(composed != decomposed)
    #expect(composed.compared(with: decomposed) != .same)
    #expect(Value.strings(["\u{e5}"]) != Value.strings(["a\u{30a}"]))
    #expect(composed == Value.string("caf\u{e9}"))
  }

  @Test("Equality agrees with the order", arguments: ValueKind.allCases)
  func equalityAgreesWithOrder(kind: ValueKind) throws {
    let seed = testSeed(2)
    var random = SeededRandom(seed: seed)
    let values = (0..<150).map { _ in random.value(kind) }
    for a in values {
      for b in values {
        try #require((a == b) == (a.compared(with: b) == .same), "seed \(seed): \(a) and \(b)")
        if a == b { try #require(a.hashValue == b.hashValue) }
        try #require(a.compared(with: b) == b.compared(with: a)?.reversed)
      }
    }
  }

  @Test func valuesOfDifferentKindsHaveNoOrder() {
    #expect(Value.int64(1).compared(with: .double(1)) == nil)
    #expect(Value.null.compared(with: .double(1)) == .ascending)
    #expect(Value.string("a").compared(with: .null) == .descending)
  }

  @Test(
    "The text form of a value reads back",
    arguments: [
      .int64(-5), .double(0.1), .double(-1e300), .bool(true), .string("a, b"), .null,
      .date(Date(timeIntervalSinceReferenceDate: 785_000_000)),
      .date(Date(timeIntervalSinceReferenceDate: 785_000_000.5)),
      .date(Date(timeIntervalSinceReferenceDate: 785_000_000.125)),
      .date(Date(timeIntervalSinceReferenceDate: -1)),
      .date(Date(timeIntervalSinceReferenceDate: 1e18)), .decimal(Decimal(string: "-12.50")!),
      .uuid(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!), .data(Data([1, 2, 3])),
      .url(URL(string: "https://a.example/b?c=d")!), .strings(["a", "b"]),
    ] as [Value])
  func textRoundTrip(value: Value) {
    #expect(Value(text: value.text, as: value.kind ?? .int64, now: .distantPast) == value)
  }

  @Test func theWordNullIsATextWhereTextsAreExpected() {
    #expect(Value(text: "null", as: .string, now: .distantPast) == .string("null"))
    #expect(Value(text: "null", as: .url, now: .distantPast) == .url(URL(string: "null")!))
    #expect(Value(text: "null", as: .int64, now: .distantPast) == .null)
  }

  @Test(
    "A text of another kind is refused",
    arguments: [
      ("1.5", .int64), ("9223372036854775808", .int64), ("nan", .double), ("inf", .double),
      ("1x", .decimal), ("1e5", .decimal), ("", .decimal), ("yes", .bool), ("2024-13-01", .date),
      ("today", .date), ("6BA7", .uuid), ("***", .data),
    ] as [(String, ValueKind)])
  func refusedText(text: String, kind: ValueKind) {
    #expect(Value(text: text, as: kind, now: .distantPast) == nil)
  }

  @Test func nowIsTheTimeThatIsPassedIn() {
    let now = Date(timeIntervalSinceReferenceDate: 5)
    #expect(Value(text: "now", as: .date, now: now) == .date(now))
  }

  private static func isInfinite(_ value: Value) -> Bool {
    switch value {
    case .double(let number): number.isInfinite
    case .date(let date): date.timeIntervalSinceReferenceDate.isInfinite
    default: false
    }
  }
}
