/// The parts of a JSON document, as text that scripts can rely on.
public enum JSONLiteral {
  /// A number that reads back as the same double; JSON has no infinities and no NaN, so these
  /// become `null`.
  public static func of(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }

  /// A JSON string with its quotes (RFC 8259, section 7).
  ///
  /// Escaped are quotes, backslashes and the characters below U+0020, as must be, and those that
  /// steer a terminal as well: U+007F to U+009F.
  public static func quoted(_ text: String) -> String {
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

  /// An object of members that are JSON already, in their order.
  ///
  /// - Parameter names: One for each member.
  public static func object(_ names: [String], _ members: [String]) -> String {
    "{" + zip(names, members).map { "\(quoted($0)):\($1)" }.joined(separator: ",") + "}"
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
