/// The parsing of functions over rows: `sum(duration)`, `count(*)`.
extension FormatParser {
  /// Reads a function whose name has been consumed.
  ///
  /// - Returns: True if the operand is complete, as `count(*)` is.
  mutating func readFunction(
    _ name: String, _ first: FormatToken
  ) throws(PredicateFormatError) -> Bool {
    guard let function = AggregateFunction(name: name) else {
      throw failure(FormatParser.advice(onFunction: name), at: first.offset)
    }
    // Apple's form is sum:(duration).
    _ = try skip(.colon)
    guard try skip(.openParenthesis) else {
      throw failure("expected ( after the function \(name), found \(found)")
    }
    guard try skip(.asterisk) else {
      try open(.aggregate(function), at: first.offset)
      return false
    }
    guard try skip(.closeParenthesis) else { throw failure("expected ) after *, found \(found)") }
    try push(.expression(.aggregate(function, nil)), at: first.offset)
    return true
  }

  private static func advice(onFunction name: String) -> String {
    let instead =
      switch name.asciiLowercased {
      case "subquery": "write ANY episodes SATISFIES (progress == 0 AND type == 1)"
      case "cast": "write a typed literal such as DATE \"2026-11-21T04:00:00Z\" or DECIMAL \"9.99\""
      case "ternary": "write (a AND b) OR (NOT a AND c)"
      case "now": "pass a Date as the argument of %@"
      case "lowercase", "uppercase": "compare with [c]: title ==[c] \"x\""
      case "canonical": "compare with [cd]: title ==[cd] \"x\""
      case "avg": "write average(x)"
      default:
        "the functions are sum, average, min, max, count and countDistinct, and an attribute of "
          + "that name is written with a # before it"
      }
    return "the function \(name) is not supported; \(instead)"
  }
}

extension AggregateFunction {
  /// Finds the function with a name, in upper or lower case.
  fileprivate init?(name: String) {
    let name = name.asciiLowercased
    guard let found = Self.allCases.first(where: { $0.rawValue.asciiLowercased == name }) else {
      return nil
    }
    self = found
  }
}
