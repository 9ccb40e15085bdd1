public import Foundation

/// The rules by which a value of one kind becomes a value of an attribute's type, without code.
///
/// Migrations that change the type of an attribute, mappings of feeds, and imports use the same
/// rules. Each member is one rule; the rules apply in the order in which they are declared here. A
/// conversion without rules does what ``value(from:to:)`` describes for the two kinds.
///
/// A *word* is the text of a value: `0` is the number 0, whether whole, double or decimal, and the
/// text `0`; dates are words in RFC 3339. Data and lists are no words.
public struct Conversion: Codable, Hashable, Sendable {
  /// The encoding of data as text. The other rules see that text; a text that is converted to data
  /// is decoded by it.
  public var encoding: Encoding?
  /// Removes white space at both ends of a text.
  public var trims: Bool
  /// Brings texts into Unicode's normalization form C.
  public var normalizes: Bool
  /// Makes texts lower case, independently of any language.
  public var lowercases: Bool
  /// Converts an empty text to null, and leaves out empty elements of a list.
  public var emptyIsNull: Bool
  /// The words that stand for null.
  public var nullValues: Set<String>
  /// The value for each word. If there are any, a word that is not among them cannot be converted.
  public var cases: [String: Value]
  /// The form of dates that are stored as numbers or texts, in the source or in the target.
  public var date: DateForm?
  /// The offset from UTC, in minutes, of texts that give none and of texts that are written.
  public var zoneMinutes: Int?
  /// The exact factor that numbers are multiplied by.
  public var scale: Decimal?
  /// The rounding of a number that the type cannot hold exactly. Without it such a number is
  /// refused.
  public var round: Rounding?
  /// The lower bound, of the type's kind, that replaces every lesser value.
  public var atLeast: Value
  /// The upper bound, of the type's kind, that replaces every greater value.
  public var atMost: Value
  /// The text between two elements of a list that is written as a text.
  public var separator: String?
  /// The replacement for a value that cannot be converted.
  public var orElse: Fallback

  public init(
    encoding: Encoding? = nil, trims: Bool = false, normalizes: Bool = false,
    lowercases: Bool = false, emptyIsNull: Bool = false, nullValues: Set<String> = [],
    cases: [String: Value] = [:], date: DateForm? = nil, zoneMinutes: Int? = nil,
    scale: Decimal? = nil, round: Rounding? = nil, atLeast: Value = .null, atMost: Value = .null,
    separator: String? = nil, orElse: Fallback = .refuse
  ) {
    self.encoding = encoding
    self.trims = trims
    self.normalizes = normalizes
    self.lowercases = lowercases
    self.emptyIsNull = emptyIsNull
    self.nullValues = nullValues
    self.cases = cases
    self.date = date
    self.zoneMinutes = zoneMinutes
    self.scale = scale
    self.round = round
    self.atLeast = atLeast
    self.atMost = atMost
    self.separator = separator
    self.orElse = orElse
  }

  /// Reads a conversion. A missing rule has the default of `init`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func flag(_ key: CodingKeys) throws -> Bool {
      try container.decodeIfPresent(Bool.self, forKey: key) ?? false
    }
    self.init(
      encoding: try container.decodeIfPresent(Encoding.self, forKey: .encoding),
      trims: try flag(.trims), normalizes: try flag(.normalizes),
      lowercases: try flag(.lowercases), emptyIsNull: try flag(.emptyIsNull),
      nullValues: try container.decodeIfPresent(Set<String>.self, forKey: .nullValues) ?? [],
      cases: try container.decodeIfPresent([String: Value].self, forKey: .cases) ?? [:],
      date: try container.decodeIfPresent(DateForm.self, forKey: .date),
      zoneMinutes: try container.decodeIfPresent(Int.self, forKey: .zoneMinutes),
      scale: try container.decodeIfPresent(Decimal.self, forKey: .scale),
      round: try container.decodeIfPresent(Rounding.self, forKey: .round),
      atLeast: try container.decodeIfPresent(Value.self, forKey: .atLeast) ?? .null,
      atMost: try container.decodeIfPresent(Value.self, forKey: .atMost) ?? .null,
      separator: try container.decodeIfPresent(String.self, forKey: .separator),
      orElse: try container.decodeIfPresent(Fallback.self, forKey: .orElse) ?? .refuse)
  }

  /// The conversion without rules.
  public static let none = Conversion()

  /// The encoding of bytes that become a text.
  public enum Encoding: String, Codable, Hashable, Sendable, CaseIterable {
    case base64, hex, utf8
  }

  /// The whole number that a number with a fraction is rounded to.
  public enum Rounding: String, Codable, Hashable, Sendable, CaseIterable {
    /// The nearest; if two are equally near, the even one.
    case halfEven
    /// The nearest; if two are equally near, the one farther from zero.
    case halfUp
    /// The next greater one.
    case up
    /// The next smaller one.
    case down
    /// The next one toward zero.
    case truncate
  }

  /// The result for a value that cannot be converted.
  public enum Fallback: Codable, Hashable, Sendable {
    case refuse, null
    /// A value of the type's kind.
    case value(Value)
  }
}
