/// Parts of a JSON text.
package enum JSONLiteral {
  /// The characters of a string that are escaped in addition to quotes, backslashes and the
  /// characters below U+0020 (RFC 8259, section 7).
  package enum Escaping: Sendable {
    /// No further characters.
    case required
    /// No further characters; those below U+0020 are always written as `\u00xx`.
    case canonical
    /// U+007F to U+009F. Identities of imported rows and archived values are stored in this form.
    case stored
    /// All hidden characters: those that can change how the text around them is shown. One is
    /// U+FEFF, which Foundation loses otherwise.
    case hidden
    /// The characters of `hidden`, for a text that has its quotes or needs none: quotes and
    /// backslashes are not escaped.
    case unquotedHidden
  }

  /// Returns a number that reads back as the same double. JSON has no infinities and no NaN: these
  /// become `null`.
  package static func of(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }

  /// Returns a string with its quotes. O(length).
  package static func quoted(_ text: String, _ escaping: Escaping = .hidden) -> String {
    "\"" + escaped(text, escaping) + "\""
  }

  /// Returns the text of a string without its quotes. O(length).
  package static func escaped(_ text: String, _ escaping: Escaping) -> String {
    // A whole document has quotes, of which none is escaped.
    let isQuoted = escaping != .unquotedHidden
    let needsEscapes = text.utf8.contains { byte in
      byte < 0x20 || isQuoted && (byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\"))
        || Unicode.Scalar.beginsHidden(byte)
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
    case "\"" where escaping != .unquotedHidden: literal += "\\\""
    case "\\" where escaping != .unquotedHidden: literal += "\\\\"
    case "\n" where escaping != .canonical: literal += "\\n"
    case "\r" where escaping != .canonical: literal += "\\r"
    case "\t" where escaping != .canonical: literal += "\\t"
    case _ where isEscaped(scalar, escaping):
      // A character beyond U+FFFF takes two escapes.
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        literal += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      }
    default: literal.unicodeScalars.append(scalar)
    }
  }

  private static func isEscaped(_ scalar: Unicode.Scalar, _ escaping: Escaping) -> Bool {
    switch escaping {
    case .required, .canonical: scalar.value < 0x20
    case .stored: scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    case .hidden, .unquotedHidden: scalar.isHidden
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
      append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied..<position]))
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
    append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied...]))
    append(UInt8(ascii: "\""))
  }
}
