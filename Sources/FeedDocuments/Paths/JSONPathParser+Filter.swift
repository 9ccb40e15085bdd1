/// Reads filters: conditions, comparisons and functions, with the types of RFC 9535 section 2.4.3.
extension JSONPathParser {
  /// Reads `a || b && c`.
  mutating func condition() throws(JSONPathError) -> JSONPath.Condition {
    var alternatives = [try conjunction()]
    while try skipOperator("||") { alternatives.append(try conjunction()) }
    return alternatives.count == 1 ? alternatives[0] : .any(alternatives)
  }

  private mutating func conjunction() throws(JSONPathError) -> JSONPath.Condition {
    var conditions = [try basic()]
    while try skipOperator("&&") { conditions.append(try basic()) }
    return conditions.count == 1 ? conditions[0] : .all(conditions)
  }

  /// Skips the operator and the blanks around it; returns false and skips nothing if it is not
  /// next.
  private mutating func skipOperator(_ symbol: StaticString) throws(JSONPathError) -> Bool {
    let end = scanner.offset
    scanner.skipBlank()
    guard scanner.skip(symbol) else {
      scanner.rewind(to: end)
      return false
    }
    scanner.skipBlank()
    return true
  }

  private mutating func basic() throws(JSONPathError) -> JSONPath.Condition {
    if scanner.skip("!") {
      scanner.skipBlank()
      if scanner.peek() == UInt8(ascii: "(") { return .not(try parenthesized()) }
      let start = scanner.offset
      return .not(try test(try term(), from: start))
    }
    if scanner.peek() == UInt8(ascii: "(") { return try parenthesized() }
    let start = scanner.offset
    let left = try term()
    let end = scanner.offset
    scanner.skipBlank()
    guard let comparison = comparisonOperator() else {
      scanner.rewind(to: end)
      return try test(left, from: start)
    }
    let leftOperand = try operand(left, from: start)
    scanner.skipBlank()
    let rightStart = scanner.offset
    return .comparison(leftOperand, comparison, try operand(try term(), from: rightStart))
  }

  private mutating func parenthesized() throws(JSONPathError) -> JSONPath.Condition {
    try nested { parser throws(JSONPathError) in
      _ = parser.scanner.skip("(")
      parser.scanner.skipBlank()
      let condition = try parser.condition()
      parser.scanner.skipBlank()
      guard parser.scanner.skip(")") else { throw parser.scanner.expected("&&, || or )") }
      return condition
    }
  }

  private mutating func comparisonOperator() -> JSONPath.Comparison? {
    if scanner.skip("==") { return .equal }
    if scanner.skip("!=") { return .unequal }
    if scanner.skip("<=") { return .lessOrEqual }
    if scanner.skip(">=") { return .greaterOrEqual }
    if scanner.skip("<") { return .less }
    return scanner.skip(">") ? .greater : nil
  }

  /// A part of a filter: one side of an operator, a test, or an argument of a function. The caller
  /// checks that it fits the place.
  private enum Term {
    case literal(JSONPath.Literal)
    case query(JSONPath.Query, isStrict: Bool)
    /// `length`, `count` and `value`.
    case operand(JSONPath.Operand)
    /// `match` and `search`.
    case condition(JSONPath.Condition)
  }

  private mutating func term() throws(JSONPathError) -> Term {
    let start = scanner.offset
    switch scanner.peek() {
    case UInt8(ascii: "@"), UInt8(ascii: "$"):
      let isAbsolute = !scanner.skip("@") && scanner.skip("$")
      let (segments, areStrict) = try segments()
      return .query(
        JSONPath.Query(isAbsolute: isAbsolute, segments: segments), isStrict: areStrict)
    case let byte? where Ascii.isQuote(byte):
      return .literal(.string(try scanner.string()))
    case let byte? where byte == UInt8(ascii: "-") || Ascii.isDigit(byte):
      return .literal(try scanner.number())
    default:
      let word = scanner.word()
      if !word.isEmpty, scanner.peek() == UInt8(ascii: "(") {
        return try nested { parser throws(JSONPathError) in
          try parser.function(word, from: start)
        }
      }
      switch word {
      case "true": return .literal(.bool(true))
      case "false": return .literal(.bool(false))
      case "null": return .literal(.null)
      default:
        throw scanner.expected("a query (@ or $), a literal, a function, ! or (", at: start)
      }
    }
  }

  /// Converts a term without comparison to a condition: a query that selects something, or a
  /// function that is true or false.
  private func test(_ term: Term, from start: Int) throws(JSONPathError) -> JSONPath.Condition {
    switch term {
    case .query(let query, _): return .exists(query)
    case .condition(let condition): return condition
    case .literal:
      throw JSONPathError(.type, "a literal must be compared with something", at: start)
    case .operand:
      throw JSONPathError(.type, "the function's value must be compared with something", at: start)
    }
  }

  /// Converts a term to an operand of a comparison or of a function that takes a value.
  private func operand(_ term: Term, from start: Int) throws(JSONPathError) -> JSONPath.Operand {
    switch term {
    case .literal(let literal): return .literal(literal)
    case .operand(let operand): return operand
    case .query(let query, let isStrict):
      guard query.isSingular, isStrict else {
        throw JSONPathError(
          .type, "a value is needed, so the query may have only names and indexes: .name, [0]",
          at: start)
      }
      return .query(query)
    case .condition:
      throw JSONPathError(.type, "match and search are true or false and have no value", at: start)
    }
  }

  private mutating func function(
    _ name: String, from start: Int
  ) throws(JSONPathError) -> Term {
    switch name {
    case "length":
      let argument = try arguments(1, of: name, from: start)[0]
      return .operand(.length(try operand(argument.term, from: argument.start)))
    case "count":
      return .operand(.count(try query(try arguments(1, of: name, from: start)[0], for: name)))
    case "value":
      return .operand(.value(try query(try arguments(1, of: name, from: start)[0], for: name)))
    case "match", "search":
      let both = try arguments(2, of: name, from: start)
      let subject = try operand(both[0].term, from: both[0].start)
      let pattern = try pattern(both[1])
      return .condition(.match(subject, pattern, isWhole: name == "match"))
    default:
      throw JSONPathError(
        .type, "the functions are length, count, match, search and value", at: start)
    }
  }

  private typealias Argument = (term: Term, start: Int)

  private mutating func arguments(
    _ count: Int, of name: String, from start: Int
  ) throws(JSONPathError) -> [Argument] {
    _ = scanner.skip("(")
    scanner.skipBlank()
    var arguments: [Argument] = []
    if scanner.peek() != UInt8(ascii: ")") {
      repeat {
        scanner.skipBlank()
        let start = scanner.offset
        arguments.append((try term(), start))
        scanner.skipBlank()
      } while scanner.skip(",")
    }
    guard scanner.skip(")") else { throw scanner.expected(", or )") }
    guard arguments.count == count else {
      throw JSONPathError(
        .type, "\(name) takes \(count == 1 ? "one argument" : "\(count) arguments")", at: start)
    }
    return arguments
  }

  private func query(
    _ argument: Argument, for name: String
  ) throws(JSONPathError) -> JSONPath.Query {
    guard case .query(let query, _) = argument.term else {
      throw JSONPathError(.type, "\(name) takes a query (@ or $)", at: argument.start)
    }
    return query
  }

  private func pattern(_ argument: Argument) throws(JSONPathError) -> JSONPath.Pattern {
    guard case .literal(.string(let bytes)) = argument.term else {
      return .computed(try operand(argument.term, from: argument.start))
    }
    do throws(IRegexpError) {
      return .fixed(try IRegexp(String(decoding: bytes, as: UTF8.self)))
    } catch {
      // By the RFC a pattern that is no I-Regexp is no error: it never matches.
      guard error.isTooLarge else { return .fixed(nil) }
      throw JSONPathError(.tooComplex, error.description, at: argument.start)
    }
  }
}
