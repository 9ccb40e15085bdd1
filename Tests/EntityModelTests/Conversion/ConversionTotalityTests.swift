import EntityModel
import Foundation
import TestSupport
import Testing

/// Every value to every type by many conversions: there is an answer, and it is of the type's kind.
@Suite struct ConversionTotalityTests {
  @Test("No conversion traps on any input", arguments: ValueKind.allCases)
  func everyConversionEnds(kind: ValueKind) throws {
    let seed = testSeed(47)
    var random = SeededRandom(seed: seed)
    let values = Self.extremes(kind) + (0..<20).map { _ in random.value(kind) }
    for conversion in Self.conversions(&random) {
      for type in Self.types {
        for value in values {
          do throws(ConversionFailure) {
            let found = try conversion.value(from: value, to: type)
            let isFitting = found.isNull || found.kind == type.kind
            try? #require(isFitting, "seed \(seed): \(conversion.text)")
          } catch {
            #expect(error.description.unicodeScalars.count < 250, "\(error)")
          }
        }
      }
    }
  }

  @Test("Enormous texts are converted or refused, too", arguments: types)
  func enormousTexts(type: AttributeType) {
    for letter in ["9", "f", " ", "\u{301}", "(", "a,", "\0", "0."] {
      let text = Value.string(String(repeating: letter, count: 200_000))
      let rules = Conversion(trims: true, separator: ",", orElse: .null)
      for conversion in [rules, Conversion(date: .iso8601, orElse: .null)] {
        #expect(throws: Never.self) { try conversion.value(from: text, to: type) }
      }
    }
  }

  @Test("A conversion that is declared total refuses nothing", arguments: ValueKind.allCases)
  func totalConversionsRefuseNothing(kind: ValueKind) throws {
    let seed = testSeed(48)
    var random = SeededRandom(seed: seed)
    let values =
      Self.extremes(kind).filter { !$0.isNotANumber } + (0..<20).map { _ in random.value(kind) }
    var pairs = 0
    for conversion in Self.conversions(&random) {
      for type in Self.types
      where conversion.isTotal(from: ConversionTable.type(kind), to: type) {
        pairs += 1
        for value in values {
          #expect(throws: Never.self, "seed \(seed): \(value) to \(type.name), \(conversion.text)")
          {
            try conversion.value(from: value, to: type)
          }
        }
      }
    }
    #expect(pairs > 20)
  }

  @Test(
    "Plain conversions that depend on no data",
    arguments: [
      (.int64, .string, true), (.int64, .decimal, true), (.int64, .double, false),
      (.double, .int64, false), (.bool, .int64, true), (.string, .int64, false),
      (.uuid, .data, true), (.data, .uuid, false), (.date, .string, true),
      (.int64, ConversionTable.states, true), (.string, ConversionTable.states, false),
      (.int64, .reference("A"), false), (.strings, .string, true), (.string, .strings, false),
    ] as [(AttributeType, AttributeType, Bool)])
  func plainTotality(from: AttributeType, to: AttributeType, isTotal: Bool) {
    #expect(Conversion.none.isTotal(from: from, to: to) == isTotal)
    #expect(Conversion(orElse: .null).isTotal(from: from, to: to))
  }

  static let types: [AttributeType] =
    ValueKind.allCases.map(ConversionTable.type)
    + [ConversionTable.states, ConversionTable.letters, .reference("A")]

  /// Each rule by itself, and random mixtures, also of rules that no file may have.
  static func conversions(_ random: inout SeededRandom) -> [Conversion] {
    var all: [Conversion] = [
      .none, .init(trims: true, normalizes: true, lowercases: true, emptyIsNull: true),
      .init(nullValues: ["0", "", "1e+300"]), .init(separator: ","), .init(separator: ""),
      .init(scale: 1000), .init(scale: Decimal(string: "1e-100")!), .init(scale: .nan),
      .init(scale: 0),
      .init(atLeast: 0, atMost: 10), .init(atLeast: 0.5), .init(cases: ["true": 1, "false": nil]),
      .init(cases: ["a": "b"], orElse: .value("c")), .init(orElse: .null), .init(orElse: .value(5)),
    ]
    all += Conversion.Encoding.allCases.map { .init(encoding: $0) }
    all += Conversion.Rounding.allCases.map { .init(round: $0) }
    for form in Conversion.DateForm.allCases {
      all.append(.init(date: form))
      all.append(
        .init(date: form, zoneMinutes: random.pick([0, 480, .max, .min]), round: .halfEven))
    }
    for _ in 0..<40 {
      all.append(
        Conversion(
          encoding: random.oneIn(3) ? random.pick(Conversion.Encoding.allCases) : nil,
          trims: random.oneIn(3), normalizes: random.oneIn(3), lowercases: random.oneIn(3),
          emptyIsNull: random.oneIn(3), nullValues: random.oneIn(3) ? ["0"] : [],
          cases: random.oneIn(4) ? ["0": random.value(random.pick(ValueKind.allCases))] : [:],
          date: random.oneIn(3) ? random.pick(Conversion.DateForm.allCases) : nil,
          zoneMinutes: random.oneIn(2) ? random.number(-2_000...2_000) : nil,
          scale: random.oneIn(3) ? random.decimal() : nil,
          round: random.oneIn(2) ? random.pick(Conversion.Rounding.allCases) : nil,
          atLeast: random.oneIn(4) ? random.value(random.pick(ValueKind.allCases)) : .null,
          atMost: random.oneIn(4) ? random.value(random.pick(ValueKind.allCases)) : .null,
          separator: random.oneIn(3) ? random.pick([",", "\u{301}", "\0"]) : nil,
          orElse: random.oneIn(4) ? .value(random.value(random.pick(ValueKind.allCases))) : .refuse)
      )
    }
    return all
  }

  static func extremes(_ kind: ValueKind) -> [Value] {
    switch kind {
    case .int64:
      return [.min, .max, .min + 1, 0, -1, 4_294_967_296, 253_402_300_800].map(Value.int64)
    case .double:
      return [
        .nan, .signalingNaN, .infinity, -.infinity, .greatestFiniteMagnitude,
        .leastNonzeroMagnitude, -0.0, 0.5,
        9_223_372_036_854_775_808, -9_223_372_036_854_775_808, 1e18, 1e19, -1e19,
      ].map(Value.double)
    case .decimal:
      return [
        .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 0,
        Decimal(string: "0.1")!,
      ].map(Value.decimal)
    case .date:
      return [
        .nan, .infinity, -.infinity, 1e300, -63_113_904_000, 252_423_993_600.0.nextDown,
        .leastNonzeroMagnitude,
        (-63_113_904_000.0).nextDown, 252_423_993_599.999_9, 1e11,
      ].map { Value.date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .string:
      let long = String(repeating: "9", count: 500)
      return [
        "", " ", "\0", long, "0." + long, "1e" + long, "-1e-" + long, long + "e-" + long,
        "\u{feff}5", "2026-11-20T10:00:00+99:99", "9999-12-31T23:59:60-23:59", "a\r\n",
        "0000-01-01T00:00:00+23:59", "Fri, 99 Nov 9999 99:99:99 +9999", "e\u{301}\u{301}",
        String(repeating: "\u{301}", count: 500), "http://[::1", "%", "://", "😀,😀", "null",
        String(repeating: "f", count: 32), String(repeating: "é", count: 18), "NaN", "١",
        String(repeating: "https://a", count: 50), String(repeating: "(", count: 500),
      ].map(Value.string)
    case .data:
      return [[], [0], [0xff, 0xfe], [UInt8](repeating: 0xc0, count: 16)].map { .data(Data($0)) }
        + [.data(Data(repeating: 65, count: 2_000)[500...])]
    case .strings: return [[], [""], ["\0", ","], ["1"], [",", ""]].map(Value.strings)
    case .bool: return [true, false]
    case .uuid, .url: return []
    }
  }
}
