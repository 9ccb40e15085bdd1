import TextFormats

/// The ASCII bytes that markup and expressions are made of.
enum Ascii {
  static let less = UInt8(ascii: "<")
  static let greater = UInt8(ascii: ">")
  static let ampersand = UInt8(ascii: "&")
  static let quote = UInt8(ascii: "\"")
  static let apostrophe = UInt8(ascii: "'")
  static let slash = UInt8(ascii: "/")
  static let equals = UInt8(ascii: "=")

  /// Returns true for the white space of XML, JSON and JSONPath.
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isQuote(_ byte: UInt8) -> Bool { byte == quote || byte == apostrophe }

  /// Returns true if the name of an element may begin with the byte; all bytes beyond ASCII pass.
  static func beginsName(_ byte: UInt8) -> Bool {
    isLetter(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
  }

  static func continuesName(_ byte: UInt8) -> Bool {
    beginsName(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
  }

  /// Returns the value of a digit; nil for other bytes.
  ///
  /// - Parameter radix: The base of the number, at most 16.
  static func digit(_ byte: UInt8, _ radix: UInt32) -> UInt32? {
    let value: UInt32
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): value = UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): value = UInt32(byte - UInt8(ascii: "A")) + 10
    default: return nil
    }
    return value < radix ? value : nil
  }
}

extension String {
  /// The text without white space at its ends, no-break spaces included.
  var trimmed: String {
    let scalars = unicodeScalars
    if let first = utf8.first, let last = utf8.last, 0x21...0x7E ~= first, 0x21...0x7E ~= last {
      return self
    }
    guard let first = scalars.first, let last = scalars.last,
      first.properties.isWhitespace || last.properties.isWhitespace
    else { return self }
    let start = scalars.drop { $0.properties.isWhitespace }
    guard let end = start.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
    return String(start[...end])
  }
}

extension StringProtocol {
  /// Returns the beginning of the text, with spaces in place of hidden characters and line breaks.
  func excerpt(_ charactersMax: Int = 60) -> String {
    // A character may have any number of marks.
    let scalars = prefix(charactersMax).unicodeScalars.prefix(charactersMax * 2)
    var text = String.UnicodeScalarView()
    for scalar in scalars { text.append(scalar.isHidden ? " " : scalar) }
    return String(text)
  }
}
