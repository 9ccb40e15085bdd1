/// Parts of a JSON text.
package enum JSONLiteral {
  /// The characters of a string that are escaped in addition to quotes, backslashes and the
  /// characters below U+0020 (RFC 8259, section 7).
  package enum Escaping: Sendable {
    /// No further characters.
    case required
    /// No further characters; those below U+0020 are always written as `\u00xx`.
    case canonical
    /// The control characters of terminals: U+007F to U+009F.
    case terminal
    /// The characters of `terminal`, and those that are invisible in a log: line separators, marks
    /// of direction, and U+FEFF, which Foundation loses otherwise.
    case log
    /// The characters of `log`, for a text without quotes around it: quotes and backslashes are not
    /// escaped.
    case unquotedLog
  }

  /// Returns a number that reads back as the same double. JSON has no infinities and no NaN: these
  /// become `null`.
  package static func of(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }

  /// Returns a string with its quotes. O(length).
  package static func quoted(_ text: String, _ escaping: Escaping = .terminal) -> String {
    "\"" + escaped(text, escaping) + "\""
  }

  /// Returns the text of a string without its quotes. O(length).
  package static func escaped(_ text: String, _ escaping: Escaping) -> String {
    let needsEscapes = text.utf8.contains { byte in
      // The characters that only some kinds escape begin with C2, E2 and EF.
      byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
        || byte == 0xC2 || byte == 0xE2 || byte == 0xEF
    }
    guard needsEscapes else { return text }
    var literal = ""
    for scalar in text.unicodeScalars { append(scalar, escaping, to: &literal) }
    return literal
  }

  /// Returns an object whose members are JSON already, in their order.
  ///
  /// - Parameter names: One name for each member.
  package static func object(_ names: [String], _ members: [String]) -> String {
    "{" + zip(names, members).map { "\(quoted($0)):\($1)" }.joined(separator: ",") + "}"
  }

  private static func append(
    _ scalar: Unicode.Scalar, _ escaping: Escaping, to literal: inout String
  ) {
    switch scalar {
    case "\"" where escaping != .unquotedLog: literal += "\\\""
    case "\\" where escaping != .unquotedLog: literal += "\\\\"
    case "\n" where escaping != .canonical: literal += "\\n"
    case "\r" where escaping != .canonical: literal += "\\r"
    case "\t" where escaping != .canonical: literal += "\\t"
    case _ where isEscaped(scalar, escaping):
      let digits = String(scalar.value, radix: 16)
      literal += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    default: literal.unicodeScalars.append(scalar)
    }
  }

  private static func isEscaped(_ scalar: Unicode.Scalar, _ escaping: Escaping) -> Bool {
    switch scalar.value {
    case 0x00...0x1F: true
    case 0x7F...0x9F: escaping != .required && escaping != .canonical
    case 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: escaping == .log || escaping == .unquotedLog
    default: false
    }
  }
}

extension [UInt8] {
  /// Appends a JSON string with its quotes and the fewest escapes.
  ///
  /// - Parameter text: UTF-8.
  @inlinable
  package mutating func appendJSONString(_ text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    var copied = 0
    for (position, byte) in text.enumerated()
    where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
      append(contentsOf: text[copied..<position])
      copied = position + 1
      append(UInt8(ascii: "\\"))
      switch byte {
      case 0x0A: append(UInt8(ascii: "n"))
      case 0x0D: append(UInt8(ascii: "r"))
      case 0x09: append(UInt8(ascii: "t"))
      case 0..<0x20:
        append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
        append(contentsOf: String(byte, radix: 16).utf8)
      default: append(byte)
      }
    }
    append(contentsOf: text[copied...])
    append(UInt8(ascii: "\""))
  }
}
