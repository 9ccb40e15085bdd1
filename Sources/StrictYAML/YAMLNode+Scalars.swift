/// Scalars are read by the type the caller expects. Numbers and booleans must be plain: quotes say
/// that text is meant.
extension YAMLNode {
  /// The text of any scalar, exactly as written, without its quotes: `no`, `010` and `1e3` stay
  /// what they are, and a plain `null` is the text "null" (ask ``isNull`` first where it matters).
  ///
  /// - Throws: ``YAMLError`` if this is a sequence or a mapping.
  public func string() throws(YAMLError) -> String {
    guard case .scalar(let text, _) = content else { throw expected("text") }
    return text
  }

  /// A whole number: an optional minus sign and digits, without leading zeros.
  ///
  /// - Throws: ``YAMLError`` for anything else, and for a number outside of 64 bits.
  public func int() throws(YAMLError) -> Int64 {
    let expectation = "a whole number such as 42"
    guard let text = plainText else { throw expected(expectation) }
    var number = NumberGrammar(text)
    guard number.takeInteger(), number.isAtEnd else { throw expected(expectation) }
    guard let value = Int64(text) else { throw expected("a whole number of at most 64 bits") }
    return value
  }

  /// A finite number in the grammar of JSON (RFC 8259, section 6).
  ///
  /// - Throws: ``YAMLError`` for anything else, and for a number too large for a double.
  public func double() throws(YAMLError) -> Double {
    let expectation = "a number such as 0.5"
    guard let text = plainText else { throw expected(expectation) }
    var number = NumberGrammar(text)
    guard number.takeInteger(), number.takeFraction(), number.takeExponent(), number.isAtEnd,
      let value = Double(text)
    else { throw expected(expectation) }
    guard value.isFinite else { throw expected("a number that a double can hold") }
    return value
  }

  /// `true` or `false`, and no other spelling.
  ///
  /// - Throws: ``YAMLError`` for anything else.
  public func bool() throws(YAMLError) -> Bool {
    switch plainText {
    case "true": return true
    case "false": return false
    default: throw expected("true or false")
    }
  }

  private var plainText: String? {
    guard case .scalar(let text, isPlain: true) = content else { return nil }
    return text
  }
}

/// The number grammar of JSON, one part at a time. Each part is taken or the answer is false.
private struct NumberGrammar {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func takeInteger() -> Bool {
    _ = take("-")
    if take("0") { return true }
    return takeDigits()
  }

  /// Nothing, or a point and digits.
  mutating func takeFraction() -> Bool {
    take(".") ? takeDigits() : true
  }

  /// Nothing, or an exponent.
  mutating func takeExponent() -> Bool {
    guard take("e") || take("E") else { return true }
    _ = take("+") || take("-")
    return takeDigits()
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func takeDigits() -> Bool {
    let after = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    defer { rest = after }
    return after.count < rest.count
  }
}
