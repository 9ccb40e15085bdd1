extension FormatLexer {
  /// Reads a number: digits, `0x` and hexadecimal digits, or digits with a fraction or an exponent.
  mutating func number() throws(PredicateFormatError) -> String {
    let start = offset
    if skip("0x") || skip("0X") {
      try digits(\.properties.isASCIIHexDigit, "a hexadecimal digit")
    } else {
      try digits(\.isDecimalDigit, "a digit")
      if skip(".") { try digits(\.isDecimalDigit, "a digit after the decimal point") }
      if skip("e") || skip("E") {
        _ = skip("-") || skip("+")
        try digits(\.isDecimalDigit, "a digit of the exponent")
      }
    }
    if let scalar = peek, scalar.continuesFormatName {
      throw failure("expected the end of the number; write a space before a word", at: offset)
    }
    return slice(from: start)
  }

  private mutating func digits(
    _ isDigit: (Unicode.Scalar) -> Bool, _ expected: String
  ) throws(PredicateFormatError) {
    guard let first = peek, isDigit(first) else {
      throw failure("expected \(expected)", at: offset)
    }
    while let scalar = peek, isDigit(scalar) { skip() }
  }

  /// Reads a quoted text and replaces its escapes. Specifiers such as `%@` have no meaning within
  /// quotes.
  mutating func text() throws(PredicateFormatError) -> String {
    let start = offset
    let quote = skip()
    var text = String.UnicodeScalarView()
    while let scalar = peek {
      let place = offset
      skip()
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escape(at: place) : scalar)
    }
    throw failure("this text has no end; close it with \(quote)", at: start)
  }

  private mutating func escape(at start: Int) throws(PredicateFormatError) -> Unicode.Scalar {
    guard peek != nil else { throw failure("expected a character after the backslash", at: start) }
    switch skip() {
    case "\\": return "\\"
    case "\"": return "\""
    case "'": return "'"
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "u": return try unicodeEscape(at: start)
    default:
      throw failure(
        #"unknown escape; use \\ \" \' \n \t \r or \uXXXX (a backslash itself is \\)"#, at: start)
    }
  }

  /// Reads `\uXXXX`, or two of them for a character above U+FFFF.
  private mutating func unicodeEscape(at start: Int) throws(PredicateFormatError) -> Unicode.Scalar
  {
    let first = try hexadecimal(at: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let second = first < 0xDC00 && skip("\\u") ? try hexadecimal(at: start) : 0
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure("half of a surrogate pair; write both halves", at: start) }
    return scalar
  }

  private mutating func hexadecimal(at start: Int) throws(PredicateFormatError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let scalar = peek, let digit = Character(scalar).hexDigitValue, scalar.isASCII else {
        throw failure(#"expected four hexadecimal digits after \u"#, at: start)
      }
      skip()
      value = value << 4 + UInt32(digit)
    }
    return value
  }
}

extension Unicode.Scalar {
  fileprivate var isDecimalDigit: Bool { ("0"..."9").contains(self) }
}
