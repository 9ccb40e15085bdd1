import EntityModel
import Foundation
import TestSupport
import Testing

@Suite struct ConversionTests {
  @Test("Types convert to each other where nothing is lost", arguments: ConversionTable.kinds)
  func kindsBecomeEachOther(row: ConversionRow) { row.check() }

  @Test("Rules", arguments: ConversionTable.rules)
  func rulesApply(row: ConversionRow) { row.check() }

  @Test("Texts of numbers are rounded by their digits")
  func roundingAgreesWithDecimal() throws {
    let seed = testSeed(44)
    var random = SeededRandom(seed: seed)
    let modes: [(Conversion.Rounding, FloatingPointRoundingRule)] = [
      (.halfEven, .toNearestOrEven), (.halfUp, .toNearestOrAwayFromZero), (.up, .up),
      (.down, .down), (.truncate, .towardZero),
    ]
    for _ in 0..<3_000 {
      let number = Double(random.number(-40_000...40_000)) / 8
      let text = Value.string("\(number)")
      for (rounding, rule) in modes {
        let found = try Conversion(round: rounding).value(from: text, to: .int64)
        try #require(found == .int64(Int64(number.rounded(rule))), "seed \(seed): \(number)")
      }
    }
  }

  @Test("A converted value converts back", arguments: ValueKind.allCases)
  func kindsRoundTrip(kind: ValueKind) throws {
    let seed = testSeed(45)
    var random = SeededRandom(seed: seed)
    let source = ConversionTable.type(kind)
    for round in 0..<400 {
      let value = random.value(kind)
      // A URL escapes what it may not hold.
      for other in ValueKind.allCases where other != .url || kind == .url {
        let conversion = Conversion(separator: "|")
        guard let written = try? conversion.value(from: value, to: ConversionTable.type(other))
        else {
          continue
        }
        // Texts of infinities and of dates beyond the calendar are for people only.
        guard let back = try? conversion.value(from: written, to: source) else { continue }
        let isSame =
          kind == .date
          && abs(ConversionTable.seconds(back) - ConversionTable.seconds(value)) < 0.000_001
          || kind == .url || back == value
        try #require(isSame, "seed \(seed), round \(round): \(value) by \(written) is \(back)")
      }
    }
  }

  @Test("A text of any number or identity is read back", arguments: ValueKind.allCases)
  func textsRoundTrip(kind: ValueKind) throws {
    guard [.int64, .double, .decimal, .bool, .uuid, .data].contains(kind) else { return }
    let seed = testSeed(46)
    var random = SeededRandom(seed: seed)
    for _ in 0..<1_000 {
      let value = random.value(kind)
      if case .double(let number) = value, number.isInfinite { continue }
      let text = try Conversion.none.value(from: value, to: .string)
      let back = try Conversion.none.value(from: text, to: ConversionTable.type(kind))
      try #require(back == value, "seed \(seed): \(text)")
    }
  }

  @Test func conversionsAreCodable() throws {
    let conversion = Conversion(
      encoding: .hex, trims: true, nullValues: ["0", ""], cases: ["a": 1, "b": nil],
      date: .ticks, zoneMinutes: -60, scale: Decimal(string: "0.001")!, round: .up, atLeast: 0,
      separator: ",", orElse: .value(-1))
    let data = try JSONEncoder().encode(conversion)
    #expect(try JSONDecoder().decode(Conversion.self, from: data) == conversion)
    #expect(try JSONDecoder().decode(Conversion.self, from: Data("{}".utf8)) == .none)
  }

  @Test func plansReadAsWords() {
    #expect(Conversion.none.text == "as the kinds say")
    #expect(
      Conversion(nullValues: ["0"], date: .unixMilliseconds).text
        == "dates as unix milliseconds; 0 is null")
    #expect(
      Conversion(
        trims: true, nullValues: ["", "-1"], cases: ["0": "new"], orElse: .value("old")
      ).text == "trimmed; \"\", -1 are null; 0 is new; otherwise old")
    #expect(
      Conversion(date: .iso8601, zoneMinutes: 480).text == "dates as ISO 8601 of UTC+08:00")
    #expect(
      Conversion(scale: 1000, round: .halfUp, atLeast: 0, separator: ",").text
        == "times 1000; rounded to the nearest, halves away from zero; at least 0; "
        + "elements between \",\"")
  }

  @Test func aFailureQuotesTheBeginningOnOneLine() {
    let failure = #expect(throws: ConversionFailure.self) {
      try Conversion.none.value(
        from: .string("a\nb" + String(repeating: "x", count: 1_000_000)), to: .int64)
    }
    let quoted = "a\u{FFFD}b" + String(repeating: "x", count: 56) + "…"
    #expect(failure?.description == "\"\(quoted)\" is no number")
    #expect(failure?.code.rawValue == "bad_number")
  }
}
