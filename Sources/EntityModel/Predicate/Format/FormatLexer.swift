/// Splits a format string into tokens, one at a time.
struct FormatLexer {
  let format: String
  private let scalars: String.UnicodeScalarView
  private var place: String.UnicodeScalarView.Index

  init(_ format: String) {
    // In a string of another encoding every offset would be computed by a walk from its start.
    var native = format
    native.makeContiguousUTF8()
    self.format = native
    scalars = native.unicodeScalars
    place = scalars.startIndex
  }

  mutating func next() throws(PredicateFormatError) -> FormatToken {
    while let scalar = peek, scalar.properties.isWhitespace { skip() }
    let start = offset
    let kind = try kind()
    return FormatToken(kind: kind, offset: start, end: offset)
  }

  private mutating func kind() throws(PredicateFormatError) -> FormatToken.Kind {
    guard let first = peek else { return .end }
    switch first {
    case "\"", "'": return .text(try text())
    case "#": return .name(try marked("an attribute name"))
    case "$": return .variable(try marked("the name of a variable"))
    case "@": return try collectionFunction()
    case "%": return try specifier()
    case "0"..."9": return .number(try number())
    case _ where first.startsFormatName: return .word(word())
    default: return try symbol()
    }
  }

  /// Reads a name or a quoted text after `#` or `$`.
  private mutating func marked(_ expected: String) throws(PredicateFormatError) -> String {
    let start = offset
    let mark = skip()
    if let first = peek, first.startsFormatName { return word() }
    if peek == "\"" || peek == "'" { return try text() }
    throw failure("after \(mark) expected \(expected), directly behind it", at: start)
  }

  private mutating func collectionFunction() throws(PredicateFormatError) -> FormatToken.Kind {
    let start = offset
    skip()
    guard let first = peek, first.startsFormatName else {
      throw failure("@ begins a function such as @count; an argument is written %@", at: start)
    }
    return .collectionFunction(word())
  }

  private mutating func specifier() throws(PredicateFormatError) -> FormatToken.Kind {
    let start = offset
    skip()
    for specifier in FormatSpecifier.allCases where skip(specifier.rawValue) {
      return .specifier(specifier)
    }
    if peek == "%" {
      throw failure("%% means nothing outside quotes; inside them write one %", at: start)
    }
    throw failure("unknown specifier; use %@ %K %i %d %ld %lld %lu %f or %s", at: start)
  }

  private mutating func word() -> String {
    let start = place
    while let scalar = peek, scalar.continuesFormatName { skip() }
    return String(scalars[start..<place])
  }

  private mutating func symbol() throws(PredicateFormatError) -> FormatToken.Kind {
    for symbol in FormatSymbol.allCases where skip(symbol.rawValue) { return .symbol(symbol) }
    switch peek {
    case "&": throw failure("a single & means nothing; write && or AND", at: offset)
    case "|": throw failure("a single | means nothing; write || or OR", at: offset)
    default:
      let end = scalars.index(after: place)
      let shown = PredicateFormatError.printable(scalars[place..<end])
      throw failure("unexpected \"\(shown)\"; texts stand in plain quotes", at: offset)
    }
  }

  // MARK: - Where the lexer stands

  var peek: Unicode.Scalar? { place < scalars.endIndex ? scalars[place] : nil }

  /// The position, in UTF-8 bytes from the start.
  var offset: Int { format.utf8.distance(from: format.startIndex, to: place) }

  @discardableResult
  mutating func skip() -> Unicode.Scalar {
    defer { scalars.formIndex(after: &place) }
    return scalars[place]
  }

  /// Consumes a text if it comes next. Returns true if it did.
  mutating func skip(_ expected: String) -> Bool {
    guard scalars[place...].starts(with: expected.unicodeScalars) else { return false }
    place = scalars.index(place, offsetBy: expected.unicodeScalars.count)
    return true
  }

  /// Returns the text from an offset to the position.
  func slice(from start: Int) -> String {
    String(scalars[format.utf8.index(format.startIndex, offsetBy: start)..<place])
  }

  func failure(_ message: String, at offset: Int) -> PredicateFormatError {
    PredicateFormatError(message: message, offset: offset, format: format)
  }
}

extension FormatLexer {
  /// Returns the text of a token.
  func text(_ token: FormatToken) -> String {
    let start = format.utf8.index(format.startIndex, offsetBy: token.offset)
    let end = format.utf8.index(start, offsetBy: token.end - token.offset)
    return PredicateFormatError.printable(format[start..<end].unicodeScalars)
  }

  /// Returns a token for a message, cut to a readable length.
  func excerpt(_ token: FormatToken) -> String {
    if token.kind == .end { return "the end" }
    let shown = text(token).unicodeScalars
    return "\"" + String(shown.prefix(24)) + (shown.count > 24 ? "…" : "") + "\""
  }
}
