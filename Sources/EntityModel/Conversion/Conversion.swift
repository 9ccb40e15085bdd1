public import Foundation

/// How a value of one kind becomes a value of an attribute's type: a declaration, without code.
///
/// One vocabulary serves migrations that give an attribute another type, mappings of feeds, and
/// imports. Each member is one rule, and the rules apply in the order in which they stand here; a
/// conversion without rules does what the two kinds say by themselves (``value(from:to:)``).
///
/// A *word* is the text of a value: `0` is the number 0, whether whole, double or decimal, and the
/// text `0`; dates are words in RFC 3339. Data and lists are no words.
public struct Conversion: Codable, Hashable, Sendable {
  /// How data is text: that text is what the other rules see, and what is made of text.
  public var encoding: Encoding?
  /// Removes white space at both ends of a text.
  public var trims: Bool
  /// Brings texts into Unicode's normalization form C.
  public var normalizes: Bool
  /// Makes texts lower case, as Unicode does for no language in particular.
  public var lowercases: Bool
  /// Takes an empty text for null. Of a list, empty elements are left out.
  public var emptyIsNull: Bool
  /// The words that stand for null.
  public var nullValues: Set<String>
  /// The values that words become. If there are any, no other word is converted.
  public var cases: [String: Value]
  /// How a date is written where it is no date: in the value that comes, or in the one that is
  /// made.
  public var date: DateForm?
  /// Minutes that times of day are ahead of UTC, in texts that do not say it and in those made.
  public var zoneMinutes: Int?
  /// What numbers are multiplied by, exactly.
  public var scale: Decimal?
  /// How a number becomes one that the type can hold. Without it, no digit may be lost.
  public var round: Rounding?
  /// What lesser values become, of the type's kind.
  public var atLeast: Value
  /// What greater values become, of the type's kind.
  public var atMost: Value
  /// What stands between the elements of a list, in a text.
  public var separator: String?
  /// What a value becomes that cannot be converted.
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

  /// A rule that is not there is as `init` has it.
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

  /// What the two kinds say by themselves.
  public static let none = Conversion()

  public enum Encoding: String, Codable, Hashable, Sendable, CaseIterable {
    case base64, hex, utf8
  }

  /// The whole number that another one becomes.
  public enum Rounding: String, Codable, Hashable, Sendable, CaseIterable {
    /// The nearest; of two the even one.
    case halfEven
    /// The nearest; of two the one farther from zero.
    case halfUp
    /// The next greater one.
    case up
    /// The next smaller one.
    case down
    /// The next one toward zero.
    case truncate
  }

  public enum Fallback: Codable, Hashable, Sendable {
    case refuse, null
    /// A value of the type's kind.
    case value(Value)
  }
}
