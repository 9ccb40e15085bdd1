/// Reads the characters and the tokens of an expression.
struct JSONPathScanner {
  private(set) var offset = 0
  private let bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  var isAtEnd: Bool { offset == bytes.count }

  /// Returns the next byte, or the one at that distance after it.
  func peek(_ distance: Int = 0) -> UInt8? {
    offset + distance < bytes.count ? bytes[offset + distance] : nil
  }

  /// Skips `token` and returns true if it comes next.
  mutating func skip(_ token: StaticString) -> Bool {
    let count = token.utf8CodeUnitCount
    guard bytes.count - offset >= count else { return false }
    // SAFETY: a static string has `utf8CodeUnitCount` bytes.
    let wanted = UnsafeBufferPointer(start: token.utf8Start, count: count)
    guard bytes[offset..<offset + count].elementsEqual(wanted) else { return false }
    offset += count
    return true
  }

  mutating func skipBlank() {
    while let byte = peek(), Ascii.isSpace(byte) { offset += 1 }
  }

  mutating func rewind(to earlier: Int) {
    offset = min(offset, earlier)
  }

  func expected(_ what: String, at place: Int? = nil) -> JSONPathError {
    JSONPathError(.syntax, "expected \(what)", at: place ?? offset)
  }

  /// Reads a member name after a dot: letters, digits, `_` and all characters beyond ASCII.
  mutating func shorthandName() throws(JSONPathError) -> [UInt8] {
    let start = offset
    while let byte = peek(), isNameByte(byte), offset > start || !Ascii.isDigit(byte) {
      offset += 1
    }
    guard offset > start else {
      throw expected("a name; others are written ['like this']")
    }
    return Array(bytes[start..<offset])
  }

  /// Reads letters, digits and `_`: the name of a function or a literal.
  mutating func word() -> String {
    let start = offset
    while let byte = peek(), isNameByte(byte), byte < 0x80 { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  /// Reads an integer without leading zeros, up to 2^53 - 1.
  mutating func integer() throws(JSONPathError) -> Int {
    let start = offset
    let isNegative = skip("-")
    var magnitude = 0
    let digits = offset
    while let byte = peek(), Ascii.isDigit(byte) {
      offset += 1
      guard magnitude <= Self.integerMax / 10 else { throw tooLarge(at: start) }
      magnitude = magnitude * 10 + Int(byte - 0x30)
    }
    guard offset > digits else { throw expected("an integer", at: start) }
    guard magnitude <= Self.integerMax else { throw tooLarge(at: start) }
    guard bytes[digits] != 0x30 || (offset - digits == 1 && !isNegative) else {
      throw expected("an integer without leading zeros", at: start)
    }
    return isNegative ? -magnitude : magnitude
  }

  private static let integerMax = 1 << 53 - 1

  private func tooLarge(at start: Int) -> JSONPathError {
    expected("an integer of at most \(Self.integerMax)", at: start)
  }

  /// Reads a JSON number.
  mutating func number() throws(JSONPathError) -> JSONPath.Literal {
    let start = offset
    _ = skip("-")
    let digits = offset
    try skipDigits()
    guard bytes[digits] != 0x30 || offset - digits == 1 else {
      throw expected("a number without leading zeros", at: start)
    }
    var isInteger = true
    if skip(".") {
      isInteger = false
      try skipDigits()
    }
    if skip("e") || skip("E") {
      isInteger = false
      if !skip("-") { _ = skip("+") }
      try skipDigits()
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isInteger, let value = Int64(text) { return .integer(value) }
    let nearest = Double(text).flatMap { $0.isFinite ? $0 : nil }
    return .number(Array(text.utf8), nearest)
  }

  private mutating func skipDigits() throws(JSONPathError) {
    let start = offset
    while let byte = peek(), Ascii.isDigit(byte) { offset += 1 }
    guard offset > start else { throw expected("a digit") }
  }

  /// Reads a string in single or double quotes; returns it unescaped, in UTF-8.
  mutating func string() throws(JSONPathError) -> [UInt8] {
    let start = offset
    guard let quote = peek(), Ascii.isQuote(quote) else { throw expected("a string in quotes") }
    offset += 1
    var content: [UInt8] = []
    while let byte = peek() {
      offset += 1
      switch byte {
      case quote: return content
      case 0..<0x20: throw expected("an escape for a control character", at: offset - 1)
      case UInt8(ascii: "\\"): content.append(contentsOf: try escaped(in: quote).utf8)
      default: content.append(byte)
      }
    }
    throw expected("the end of this string", at: start)
  }

  private mutating func escaped(in quote: UInt8) throws(JSONPathError) -> String {
    let start = offset - 1
    guard let byte = peek() else { throw expected("an escaped character", at: start) }
    offset += 1
    switch byte {
    case quote, UInt8(ascii: "/"), UInt8(ascii: "\\"): return String(UnicodeScalar(byte))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(from: start)
    default: throw expected("an escape such as \\n, \\\\ or \\u263A", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(JSONPathError) -> String {
    let first = try hexadecimal(from: start)
    if let scalar = Unicode.Scalar(first) { return String(Character(scalar)) }
    if first < 0xDC00, skip("\\u") {
      let second = try hexadecimal(from: start)
      if second >= 0xDC00, second < 0xE000,
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return String(Character(scalar))
      }
    }
    throw expected("a whole surrogate pair", at: start)
  }

  private mutating func hexadecimal(from start: Int) throws(JSONPathError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = peek().flatMap({ Ascii.digit($0, 16) }) else {
        throw expected("four hexadecimal digits", at: start)
      }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }
}

private func isNameByte(_ byte: UInt8) -> Bool {
  byte >= 0x80 || byte == UInt8(ascii: "_") || Ascii.isLetter(byte) || Ascii.isDigit(byte)
}
