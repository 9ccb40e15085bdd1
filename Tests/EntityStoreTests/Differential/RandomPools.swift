import EntityModel
import Foundation
import TestSupport

extension SeededRandom {
  /// A few values for an attribute, not null.
  ///
  /// - Parameter summable: Names of attributes whose numbers are small, and dyadic as doubles, so
  ///   that sums are the same in every order.
  mutating func pool(of attribute: AttributeDescription, summable: Set<String>) -> [Value] {
    if ["code", "otherCode"].contains(attribute.name) {
      return (0..<60).map { .string("c\($0)") }
    }
    if case .enumeration(let enumeration) = attribute.type {
      // One raw value has no name.
      return enumeration.cases.map(\.rawValue) + [enumeration.kind == .int64 ? 7 : "lost"]
    }
    let isSmall = summable.contains(attribute.name)
    let all: [Value] =
      switch attribute.type.kind {
      case .int64: isSmall ? Self.smallIntegers : Self.extremeIntegers
      case .double: isSmall ? Self.smallDoubles : Self.extremeDoubles
      case .decimal: Self.decimals
      case .bool: [true, false]
      case .string: Self.texts.map(Value.string)
      case .date: Self.dates
      case .uuid: Self.tokens
      case .data: Self.blobs
      case .url: Self.links
      case .strings: (0..<6).map { _ in .strings(elements()) }
      }
    return Array(all.shuffled(using: &self).prefix(number(4...9)))
  }

  private mutating func elements() -> [String] {
    (0..<number(0...3)).map { _ in pick(["a", "A", "b", "é", "e\u{301}", "", "x10", "x9"]) }
  }

  static let smallIntegers: [Value] = [-3, -1, 0, 1, 2, 3, 4, 5, 12]

  /// Among them neighbors that the same double is nearest to.
  static let extremeIntegers: [Value] = [
    .int64(.min), .int64(.min + 1), .int64(.max), .int64(.max - 1), 9_007_199_254_740_992,
    9_007_199_254_740_993, -9_007_199_254_740_993, 0, 1, -1,
  ]

  static let smallDoubles: [Value] = [
    -2.5, -1.0, .double(-0.0), 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0,
  ]

  static let extremeDoubles: [Value] = [
    9_007_199_254_740_992.0, 9_007_199_254_740_994.0, 0x1p63, -0x1p63, 1e-300, -1e-300, 0.0, 1.5,
    .double(.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude), .double(.infinity),
    .double(-.infinity), .double(.leastNonzeroMagnitude),
  ]

  static let decimals: [Value] = ["0", "0.5", "-0.25", "9.99", "1", "2", "10.5", "-3", "0.1"]
    .compactMap { Decimal(string: $0).map(Value.decimal) }

  static let dates: [Value] = [0, 0.5, 86_400, -86_400, 700_000_000.25, 700_000_001, -3e10]
    .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }

  static let tokens: [Value] = (0..<4).map {
    .uuid(UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)))
  }

  static let blobs: [Value] = [[], [0], [0, 0], [0, 1], [255], [97], [97, 0]]
    .map { .data(Data($0)) }

  static let links: [Value] = [
    "https://a.example/", "https://a.example/1", "https://a.example/10", "https://B.example/",
    "https://b.example/?q=" + String(repeating: "y", count: 520),
    "https://b.example/?q=" + String(repeating: "y", count: 520) + "z",
  ].compactMap { URL(string: $0).map(Value.url) }

  /// Texts that some wrong way of comparing would take for others.
  static let texts: [String] =
    [
      "", "a", "A", "b", "ab", "aB", "abc", "ABC", "x2", "x10", "X9", " ", "%", "_", "*", "?", "\\",
      "a*c", "caf\u{e9}", "cafe\u{301}", "CAF\u{c9}", "cafe", "stra\u{df}e", "STRASSE", "strasse",
      "\u{3c3}\u{3b1}\u{3c2}", "\u{3a3}\u{391}\u{3a3}", "\u{fb01}n", "fin", "\u{130}", "i\u{307}",
      "\u{212a}", "k", "\u{212b}", "\u{e5}", "a\u{30a}", "a\u{308}\u{323}", "a\u{323}\u{308}",
      "😀", "👨‍👩‍👧", "\u{ffff}", "\u{10ffff}", "日本語", "\0", "a\0", "a\0b", "\u{7f}",
    ] + ["", "a", "b", "A", "\u{e9}"].map { String(repeating: "x", count: 600) + $0 }
}
