/// The operator of a comparison, spelled as in a format string.
public enum ComparisonOperator: String, Codable, Hashable, Sendable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// Within a range: the right side is a list of two values, both included.
  case between = "BETWEEN"
  /// Contained in the right side, which is a list or an attribute that is one. False for an empty
  /// list.
  case isIn = "IN"
  /// True if a text contains another one, or a list an element.
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// Matches a pattern: `*` is any characters, `?` is one, a backslash makes the next one literal.
  case like = "LIKE"
  /// The whole text matches a regular expression of ICU.
  case matches = "MATCHES"
}

/// The way in which a comparison compares texts. Without options it compares UTF-8 bytes.
public struct ComparisonOptions: OptionSet, Codable, Hashable, Sendable {
  public let rawValue: UInt8

  /// Creates the options from bits. Bits without a meaning are ignored.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 0b1111 }

  /// `[c]`: upper and lower case are equal (full case folding of Unicode).
  public static let caseInsensitive = ComparisonOptions(rawValue: 1)
  /// `[d]`: letters are the same with and without their accents.
  public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
  /// `[n]`: the caller vouches that both texts are prepared; compares bytes, and `[c]` and `[d]`
  /// beside it have no effect.
  public static let normalized = ComparisonOptions(rawValue: 4)
  /// `[l]`: as people of the store's language would order them, numbers in number order.
  public static let localized = ComparisonOptions(rawValue: 8)
}
