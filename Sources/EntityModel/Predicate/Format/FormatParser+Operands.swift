import Foundation

/// The parsing of operands, where a value or a condition is expected.
extension FormatParser {
  /// Reads a sign or an opening parenthesis before an operand, or a whole operand.
  ///
  /// - Returns: True if the operand is complete.
  mutating func readOperand() throws(PredicateFormatError) -> Bool {
    let first = try take()
    switch first.kind {
    case .symbol(.exclamation):
      return try readPrefix(.not, first)
    case .symbol(.minus):
      guard case .number(let digits) = token.kind else {
        return try readPrefix(.negative, first)
      }
      try push(.expression(.value(try number("-" + digits))), at: first.offset)
      try advance()
    case .symbol(.openParenthesis):
      try open(.parenthesis, at: first.offset)
      return false
    case .symbol(.openBrace):
      guard try skip(.closeBrace) else {
        try open(.list(0), at: first.offset)
        return false
      }
      try push(.expression(.list([])), at: first.offset)
    case .text(let text): try push(.expression(.value(.string(text))), at: first.offset)
    case .number(let digits):
      try push(.expression(.value(try number(digits, at: first.offset))), at: first.offset)
    case .variable(let name): try push(.expression(.variable(name)), at: first.offset)
    case .specifier(let specifier) where specifier != .keyPath:
      let value = try arguments.next(specifier) { (message) in
        lexer.failure(message, at: first.offset)
      }
      try push(.expression(value), at: first.offset)
    case .word(let word): return try readWord(word, first)
    case .specifier, .name, .collectionFunction:
      try push(.expression(try readPath(from: first)), at: first.offset)
    case .symbol, .end:
      throw failure("expected a value, found \(lexer.excerpt(first))", at: first.offset)
    }
    return true
  }

  private mutating func readWord(
    _ word: String, _ first: FormatToken
  ) throws(PredicateFormatError) -> Bool {
    if let reserved = ReservedWord(word) { return try readReserved(reserved, first) }
    switch token.kind {
    case .text(let text):
      guard let literal = TypedLiteral(rawValue: word.asciiLowercased) else { break }
      try push(.expression(try value(of: literal, text)), at: first.offset)
      try advance()
      return true
    case .symbol(.openBrace) where word.asciiLowercased == "strings":
      try push(.expression(.value(.strings(try readTexts()))), at: first.offset)
      return true
    case .symbol(.openParenthesis), .symbol(.colon):
      return try readFunction(word, first)
    default: break
    }
    try push(.expression(try readPath(from: first)), at: first.offset)
    return true
  }

  private mutating func readReserved(
    _ word: ReservedWord, _ first: FormatToken
  ) throws(PredicateFormatError) -> Bool {
    switch word {
    case .not: return try readPrefix(.not, first)
    case .any: return try readPrefix(.quantifier(.any), first)
    case .some: return try readPrefix(.quantifier(.some), first)
    case .all: return try readPrefix(.quantifier(.all), first)
    case .none: return try readPrefix(.quantifier(.notAny), first)
    case .null, .nilWord: try push(.expression(.value(.null)), at: first.offset)
    case .trueWord, .yes: try push(.expression(.value(.bool(true))), at: first.offset)
    case .falseWord, .no: try push(.expression(.value(.bool(false))), at: first.offset)
    case .truePredicate: try push(.predicate(.always(true)), at: first.offset)
    case .falsePredicate: try push(.predicate(.always(false)), at: first.offset)
    case .itself:
      let path = try skip(.dot) ? try readPath(from: try take()) : .itself
      try push(.expression(path), at: first.offset)
    case .and, .or:
      guard try skip(.openParenthesis) else {
        throw failure("expected a value, found \(lexer.excerpt(first))", at: first.offset)
      }
      guard try skip(.closeParenthesis) else {
        try open(.single(isAnd: word == .and), at: first.offset)
        return false
      }
      try push(.predicate(word == .and ? .and([]) : .or([])), at: first.offset)
    case .isIn, .between, .like, .matches, .contains, .beginsWith, .endsWith:
      throw failure(
        "expected a value, found the operator \(lexer.excerpt(first)); an attribute of that name "
          + "is written with a # before it", at: first.offset)
    }
    return true
  }

  /// Reads a prefix operator, whose operand still follows.
  private mutating func readPrefix(
    _ kind: Pending.Kind, _ first: FormatToken
  ) throws(PredicateFormatError) -> Bool {
    try wait(kind, at: first.offset)
    return false
  }

  // MARK: - Literals

  /// Reads a number, optionally negative.
  private func number(
    _ text: String, at offset: Int? = nil
  ) throws(PredicateFormatError) -> Value {
    let isHexadecimal = text.contains { $0 == "x" || $0 == "X" }
    if !isHexadecimal, text.contains(where: { ".eE".contains($0) }) {
      guard let number = Double(text), number.isFinite else {
        throw failure("this number is too large for a double", at: offset)
      }
      return .double(number)
    }
    let digits = isHexadecimal ? text.replacing(/0[xX]/, with: "", maxReplacements: 1) : text
    guard let number = Int64(digits, radix: isHexadecimal ? 16 : 10) else {
      throw failure(
        "this integer does not fit 64 bits; write it with a decimal point, or as DECIMAL \"…\"",
        at: offset)
    }
    return .int64(number)
  }

  /// Reads the texts of `STRINGS {"a", "b"}`, beginning at the brace.
  private mutating func readTexts() throws(PredicateFormatError) -> [String] {
    try advance()
    var texts: [String] = []
    if try skip(.closeBrace) { return texts }
    while true {
      guard case .text(let text) = token.kind else {
        throw failure("expected a text in quotes, found \(found)")
      }
      texts.append(text)
      try advance()
      if try skip(.closeBrace) { return texts }
      guard try skip(.comma) else { throw failure("expected , or }, found \(found)") }
    }
  }

  private func value(
    of literal: TypedLiteral, _ text: String
  ) throws(PredicateFormatError) -> FetchExpression {
    guard let value = literal.expression(of: text) else {
      throw failure("expected \(literal.expected)")
    }
    guard !value.hasNotANumber else { throw failure("NaN has no place in a predicate") }
    return value
  }
}
