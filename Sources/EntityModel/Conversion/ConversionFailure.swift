import Foundation

/// The reason why a value could not be converted.
public struct ConversionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure. The raw values are stable: programs may depend on them, and files of
  /// rejected records contain them.
  public enum Code: String, Codable, Hashable, Sendable, CaseIterable {
    /// No rule converts a value of this kind to that type.
    case typeMismatch = "type_mismatch"
    /// A value outside the range of the type, or of the calendar's years 1 to 9999.
    case outOfRange = "out_of_range"
    /// A number that would lose digits, while the conversion has no rounding.
    case inexact
    case badNumber = "bad_number"
    case badBool = "bad_bool"
    case badDate = "bad_date"
    case badUUID = "bad_uuid"
    case badURL = "bad_url"
    case badBase64 = "bad_base64"
    case badHex = "bad_hex"
    case badUTF8 = "bad_utf8"
    /// A list whose elements could not be distinguished in the joined text.
    case badList = "bad_list"
    /// A value that is none of the enumeration's cases.
    case enumUnknown = "enum_unknown"
  }

  public let code: Code
  /// The failure in one line: at most 60 characters of the value, and what is wrong with it.
  public let description: String

  /// - Parameter problem: The rest of the sentence that begins with the value: `is no date`.
  init(_ code: Code, _ value: Value, _ problem: String) {
    self.code = code
    description = "\(ConversionFailure.excerpt(value)) \(problem)"
  }

  /// Returns the beginning of the value's text, without reading more of the value than that.
  private static func excerpt(_ value: Value) -> String {
    switch value {
    case .string(let text): return quoted(text.unicodeScalars)
    case .url(let url): return quoted(url.absoluteString.unicodeScalars)
    case .strings(let list):
      let shown = list.prefix(60).lazy.map { $0.unicodeScalars.prefix(61) }.joined(separator: [","])
      return "the list " + quoted(shown)
    case .data(let data):
      let hex = data.prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
      return "the \(data.count) bytes \(hex.joined())\(data.count > 16 ? "…" : "")"
    default: return plain(value.text.unicodeScalars)
    }
  }

  private static func quoted(_ text: some Sequence<Unicode.Scalar>) -> String {
    "\"\(plain(text))\""
  }

  private static func plain(_ text: some Sequence<Unicode.Scalar>) -> String {
    var shown = String.UnicodeScalarView()
    for (count, scalar) in text.enumerated() {
      if count == 60 {
        shown.removeLast()
        shown.append("…")
        break
      }
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: shown.append("\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}
