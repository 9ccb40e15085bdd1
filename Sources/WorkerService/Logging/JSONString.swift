/// Strings of JSON (RFC 8259, section 7).
enum JSONString {
  /// Returns the text with its quotes. Escapes also terminal control characters (U+007F to U+009F),
  /// invisible line breaks and direction marks, and U+FEFF, which Foundation would lose.
  static func of(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars { append(scalar, to: &literal, isQuoted: true) }
    return literal + "\""
  }

  /// - Parameter isQuoted: True to escape quotes and backslashes, too.
  static func append(_ scalar: Unicode.Scalar, to literal: inout String, isQuoted: Bool) {
    switch scalar {
    case "\"" where isQuoted: literal += "\\\""
    case "\\" where isQuoted: literal += "\\\\"
    case "\n": literal += "\\n"
    case "\r": literal += "\\r"
    case "\t": literal += "\\t"
    case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}",
      "\u{2066}"..."\u{2069}", "\u{FEFF}":
      let digits = String(scalar.value, radix: 16)
      literal += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    default: literal.unicodeScalars.append(scalar)
    }
  }
}
