/// What a comparison says of its two sides, spelled as a format string has it.
public enum ComparisonOperator: String, Codable, Hashable, Sendable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// The right side is a list of two: from the first to the second, both included.
  case between = "BETWEEN"
  /// The right side is a list, or an attribute that is one. Nothing is in an empty list.
  case isIn = "IN"
  /// A text contains another one, or a list an element.
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// `*` stands for any characters, `?` for one, a backslash takes the next one literally.
  case like = "LIKE"
  /// The whole text matches a regular expression of ICU.
  case matches = "MATCHES"
}

/// How a comparison takes texts: without options by their UTF-8 bytes.
public struct ComparisonOptions: OptionSet, Codable, Hashable, Sendable {
  public let rawValue: UInt8

  /// Bits that stand for no option are left out.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 0b1111 }

  /// `[c]`: capital and small letters are the same (full case folding of Unicode).
  public static let caseInsensitive = ComparisonOptions(rawValue: 1)
  /// `[d]`: letters are the same with and without their accents.
  public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
  /// `[n]`: the caller vouches that both texts are prepared; compares bytes, and `[c]` and `[d]`
  /// beside it have no effect.
  public static let normalized = ComparisonOptions(rawValue: 4)
  /// `[l]`: as people of the store's language would order them, numbers in number order.
  public static let localized = ComparisonOptions(rawValue: 8)
}
