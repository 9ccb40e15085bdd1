import Foundation

/// Why a value could not be converted.
public struct ConversionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The raw values are stable: programs may branch on them, and files of rejects hold them.
  public enum Code: String, Codable, Hashable, Sendable, CaseIterable {
    /// Nothing makes a value of that type of one of this kind.
    case typeMismatch = "type_mismatch"
    /// Beyond what the type, or the calendar from year 1 to 9999, can hold.
    case outOfRange = "out_of_range"
    /// Digits would be lost, and no rounding is asked for.
    case inexact
    case badNumber = "bad_number"
    case badBool = "bad_bool"
    case badDate = "bad_date"
    case badUUID = "bad_uuid"
    case badURL = "bad_url"
    case badBase64 = "bad_base64"
    case badHex = "bad_hex"
    case badUTF8 = "bad_utf8"
    /// The elements could not be told apart in the joined text.
    case badList = "bad_list"
    /// Not one of the cases.
    case enumUnknown = "enum_unknown"
  }

  public let code: Code
  /// One line: at most 60 characters of the value, and what is wrong with it.
  public let description: String

  /// - Parameter problem: What is wrong, as it goes on after the value: `is no date`.
  init(_ code: Code, _ value: Value, _ problem: String) {
    self.code = code
    description = "\(ConversionFailure.excerpt(value)) \(problem)"
  }

  /// Never reads more of a value than it shows.
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
