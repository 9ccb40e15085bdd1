import EntityModel
import Foundation

/// JSON that scripts can rely on: keys in order, dates as RFC 3339 in UTC.
public enum JSONText {
  /// - Throws: `EncodingError`.
  public static func of(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(Value.date(date).text)
    }
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// A number that reads back as the same double; JSON has no infinities and no NaN, so these
  /// become `null`.
  static func of(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }

  /// A JSON string with its quotes (RFC 8259, section 7).
  ///
  /// Escaped are quotes, backslashes and the characters below U+0020, as must be, and those that
  /// steer a terminal as well: U+007F to U+009F.
  static func quoted(_ text: String) -> String {
    let needsEscapes = text.utf8.contains { byte in
      // U+0080 to U+009F begin with C2.
      byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
        || byte == 0xC2
    }
    guard needsEscapes else { return "\"" + text + "\"" }
    var literal = "\""
    for scalar in text.unicodeScalars { appendEscaped(scalar, to: &literal) }
    return literal + "\""
  }

  private static func appendEscaped(_ scalar: Unicode.Scalar, to literal: inout String) {
    switch scalar {
    case "\"": literal += "\\\""
    case "\\": literal += "\\\\"
    case "\n": literal += "\\n"
    case "\r": literal += "\\r"
    case "\t": literal += "\\t"
    case "\u{00}"..."\u{0F}": literal += "\\u000" + String(scalar.value, radix: 16)
    case "\u{10}"..."\u{1F}", "\u{7F}"..."\u{9F}":
      literal += "\\u00" + String(scalar.value, radix: 16)
    default: literal.unicodeScalars.append(scalar)
    }
  }
}

extension Value {
  /// An attribute's value: numbers and flags as JSON has them, a list as an array, null as `null`,
  /// and all else as the text that people read (dates as RFC 3339, data as base64). A decimal is
  /// text, because readers make a double of a number.
  var json: String {
    switch self {
    case .null: "null"
    case .int64(let number): String(number)
    case .double(let number): JSONText.of(number)
    case .bool(let flag): flag ? "true" : "false"
    case .strings(let list): "[" + list.map(JSONText.quoted).joined(separator: ",") + "]"
    case .decimal, .string, .date, .uuid, .data, .url: JSONText.quoted(text)
    }
  }
}
