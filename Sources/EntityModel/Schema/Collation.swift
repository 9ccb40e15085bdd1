/// The order and equality of texts.
public enum Collation: Hashable, Sendable {
  /// Compares UTF-8 bytes.
  case binary
  /// Compares the UTF-8 bytes of the texts after Unicode's full case folding.
  case caseInsensitive
  /// Compares texts as people sort them: by ICU's collation for the locale (an identifier such as
  /// `de` or `zh`; empty for the root locale), with numbers in numeric order.
  case localizedStandard(String)

  /// The localized collation of the root locale, which fits most languages in Latin, Greek or
  /// Cyrillic letters.
  public static let localizedStandard = Collation.localizedStandard("")

  /// The collation in requests and migration files: `binary`, `caseInsensitive`, `localized`,
  /// `localized(zh)`.
  /// `localized(zh)`.
  public var text: String {
    switch self {
    case .binary: "binary"
    case .caseInsensitive: "caseInsensitive"
    case .localizedStandard(""): "localized"
    case .localizedStandard(let locale): "localized(\(locale))"
    }
  }

  /// - Returns: `nil` if the text is not one that `text` writes.
  public init?(text: String) {
    switch text {
    case "binary": self = .binary
    case "caseInsensitive": self = .caseInsensitive
    case "localized": self = .localizedStandard
    default:
      guard text.hasPrefix("localized("), text.hasSuffix(")") else { return nil }
      let locale = text.dropFirst("localized(".count).dropLast()
      guard locale.wholeMatch(of: /[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*(@[a-z]+=[a-z]+)?/) != nil
      else { return nil }
      self = .localizedStandard(String(locale))
    }
  }
}

/// Stores a collation as its text.
extension Collation: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let collation = Collation(text: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no collation")
    }
    self = collation
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
