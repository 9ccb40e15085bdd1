/// Reads an expression by the grammar of RFC 9535: here queries, segments and selectors.
struct JSONPathParser {
  var scanner: JSONPathScanner
  private var nesting = 0

  init(_ text: String) throws(JSONPathError) {
    guard text.utf8.count <= JSONPath.textBytesMax else {
      throw JSONPathError(
        .tooComplex, "an expression has at most \(JSONPath.textBytesMax) bytes: shorten it",
        at: JSONPath.textBytesMax)
    }
    scanner = JSONPathScanner(text)
  }

  mutating func parse() throws(JSONPathError) -> JSONPath.Query {
    guard scanner.skip("$") else { throw scanner.expected("$ at the beginning") }
    let query = JSONPath.Query(isAbsolute: true, segments: try segments().all)
    guard scanner.isAtEnd else { throw scanner.expected("[, . or the end") }
    return query
  }

  /// Reads the segments that follow. `areStrict` is true if all are written as in a singular query.
  mutating func segments() throws(JSONPathError) -> (
    all: [JSONPath.Segment], areStrict: Bool
  ) {
    var segments: [JSONPath.Segment] = []
    var areStrict = true
    while true {
      let end = scanner.offset
      scanner.skipBlank()
      guard let byte = scanner.peek(), byte == UInt8(ascii: ".") || byte == UInt8(ascii: "[") else {
        scanner.rewind(to: end)
        return (segments, areStrict)
      }
      guard segments.count < JSONPath.segmentsMax else {
        throw JSONPathError(
          .tooComplex, "a query has at most \(JSONPath.segmentsMax) segments: shorten it",
          at: scanner.offset)
      }
      let start = scanner.offset
      segments.append(try segment())
      // The grammar of a singular query allows no blanks inside its brackets.
      if byte == UInt8(ascii: "["), scanner.hasBlankAtEdges(from: start) { areStrict = false }
    }
  }

  private mutating func segment() throws(JSONPathError) -> JSONPath.Segment {
    if scanner.skip("..") {
      let selectors = try scanner.peek() == UInt8(ascii: "[") ? brackets() : [shorthand()]
      return JSONPath.Segment(isDescendant: true, selectors: selectors)
    }
    if scanner.skip(".") { return JSONPath.Segment(selectors: [try shorthand()]) }
    return JSONPath.Segment(selectors: try brackets())
  }

  private mutating func shorthand() throws(JSONPathError) -> JSONPath.Selector {
    scanner.skip("*") ? .wildcard : .name(try scanner.shorthandName())
  }

  private mutating func brackets() throws(JSONPathError) -> [JSONPath.Selector] {
    guard scanner.skip("[") else { throw scanner.expected("[") }
    var selectors: [JSONPath.Selector] = []
    repeat {
      scanner.skipBlank()
      selectors.append(try selector())
      scanner.skipBlank()
    } while scanner.skip(",")
    guard scanner.skip("]") else { throw scanner.expected(", or ]") }
    return selectors
  }

  private mutating func selector() throws(JSONPathError) -> JSONPath.Selector {
    guard let byte = scanner.peek() else { throw scanner.expected("a selector") }
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      return .name(try scanner.string())
    case UInt8(ascii: "*"):
      _ = scanner.skip("*")
      return .wildcard
    case UInt8(ascii: "?"):
      _ = scanner.skip("?")
      scanner.skipBlank()
      return .filter(try nested { parser throws(JSONPathError) in try parser.condition() })
    case UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try indexOrSlice()
    default:
      throw scanner.expected("a selector: 'name', index, start:end:step, * or ?filter")
    }
  }

  private mutating func indexOrSlice() throws(JSONPathError) -> JSONPath.Selector {
    let start = try optionalInteger()
    let end = scanner.offset
    scanner.skipBlank()
    guard scanner.skip(":") else {
      scanner.rewind(to: end)
      guard let start else { throw scanner.expected("an index") }
      return .index(start)
    }
    var slice = JSONPath.Slice(start: start)
    scanner.skipBlank()
    slice.end = try optionalInteger()
    scanner.skipBlank()
    if scanner.skip(":") {
      scanner.skipBlank()
      slice.step = try optionalInteger() ?? 1
    }
    return .slice(slice)
  }

  private mutating func optionalInteger() throws(JSONPathError) -> Int? {
    guard let byte = scanner.peek(), byte == UInt8(ascii: "-") || Ascii.isDigit(byte) else {
      return nil
    }
    return try scanner.integer()
  }

  /// Calls `body` one nesting level deeper.
  mutating func nested<Value>(
    _ body: (inout JSONPathParser) throws(JSONPathError) -> Value
  ) throws(JSONPathError) -> Value {
    guard nesting < JSONPath.nestingMax else {
      throw JSONPathError(
        .tooComplex,
        "filters, parentheses and functions nest at most \(JSONPath.nestingMax) deep",
        at: scanner.offset)
    }
    nesting += 1
    defer { nesting -= 1 }
    return try body(&self)
  }
}

extension JSONPathScanner {
  /// Returns true if the brackets from `start` to here have blanks at their inner edges.
  fileprivate func hasBlankAtEdges(from start: Int) -> Bool {
    [start + 1, offset - 2].contains { place in
      peek(place - offset).map(Ascii.isSpace) ?? false
    }
  }
}
