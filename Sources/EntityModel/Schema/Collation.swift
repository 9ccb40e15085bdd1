/// How texts are put in order.
public enum Collation: Hashable, Sendable {
  /// By UTF-8 bytes.
  case binary
  /// By the UTF-8 bytes of the texts after Unicode's full case folding.
  case caseInsensitive
  /// As people order them: by the collation of ICU for the locale (an identifier such as `de` or
  /// `zh`; empty is the root locale), numbers in number order.
  case localizedStandard(String)

  /// Of the root locale, which serves most languages in Latin, Greek or Cyrillic letters.
  public static let localizedStandard = Collation.localizedStandard("")

  /// As requests and migration files write it: `binary`, `caseInsensitive`, `localized`,
  /// `localized(zh)`.
  public var text: String {
    switch self {
    case .binary: "binary"
    case .caseInsensitive: "caseInsensitive"
    case .localizedStandard(""): "localized"
    case .localizedStandard(let locale): "localized(\(locale))"
    }
  }

  /// - Returns: `nil` if the text is none of what `text` writes.
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

/// A collation is its text.
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
