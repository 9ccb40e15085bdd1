import EntityModel
import TestSupport

/// Any valid tree without NaN.
extension SeededRandom {
  mutating func predicate(depth: Int) -> FetchPredicate {
    switch number(depth > 0 ? 0...8 : 0...2) {
    case 0: .always(oneIn(2))
    case 1, 2, 3: .comparison(comparison(depth: depth - 1))
    case 4: .exists(formatPath(), predicate(depth: depth - 1))
    case 5, 6: .and((0..<number(0...3)).map { _ in predicate(depth: depth - 1) })
    case 7: .or((0..<number(0...3)).map { _ in predicate(depth: depth - 1) })
    default: .not(predicate(depth: depth - 1))
    }
  }

  private mutating func comparison(depth: Int) -> FetchPredicate.Comparison {
    FetchPredicate.Comparison(
      expression(depth: depth), pick(ComparisonOperator.allCases), expression(depth: depth),
      options: ComparisonOptions(rawValue: oneIn(2) ? 0 : UInt8(number(0...255))),
      quantifier: pick([nil, nil, .any, .all]))
  }

  mutating func expression(depth: Int) -> FetchExpression {
    switch number(depth > 0 ? 0...13 : 0...8) {
    case 0, 1: .path(formatPath())
    case 2: .itself
    case 3: .variable(formatText())
    case 4: .object(ObjectID(entity: formatText(), number: int64()))
    case 5:
      .collection(
        formatPath(), pick(CollectionFunction.allCases), oneIn(2) ? nil : formatPath())
    case 6: .value(pick([.null, .string(formatText()), .strings([formatText(), formatText()])]))
    case 7, 8: .value(value(pick(ValueKind.allCases)))
    case 9: .list((0..<number(0...3)).map { _ in expression(depth: depth - 1) })
    case 10:
      .aggregate(
        pick(AggregateFunction.allCases), oneIn(3) ? nil : expression(depth: depth - 1))
    case 11, 12:
      .arithmetic(
        pick(ArithmeticOperator.allCases), expression(depth: depth - 1),
        expression(depth: depth - 1))
    default: .negative(expression(depth: depth - 1))
    }
  }

  private mutating func formatPath() -> String {
    (0..<number(1...3)).map { _ in formatText() }.joined(separator: ".")
  }

  /// Names, keywords of the format, and texts that try to end their quotation.
  private mutating func formatText() -> String {
    switch number(0...5) {
    case 0, 1: pick(["title", "a", "progress", "größe", "_x1", "e\u{301}t", "日本"])
    case 2:
      pick([
        "AND", "or", "Not", "ANY", "self", "SELF", "in", "nil", "TRUE", "date", "DATE", "sum",
        "count", "STRINGS", "satisfies", "TRUEPREDICATE", "ſelf", "liKe", "size", "infinity",
      ])
    case 3:
      pick([
        "", "\"", "'", "\\", "\\\"", "\n", "\r\n", "\0", "%@", "%", "%%", "#", "@count", "$x", " ",
        "1a", "a b", "a.", ".", "..", "\u{301}", "😀", "👨‍👩‍👧", "\u{feff}", "\u{85}", "\u{2028}",
        "\u{202e}", "\\u0041", "a/b", "/", "\u{10ffff}", "(", "])}",
      ])
    case 4: text()
    default:
      String(
        String.UnicodeScalarView(
          (0..<number(0...6)).map { _ in
            Unicode.Scalar(UInt32(number(0...0x11_0000))) ?? "\u{fffd}"
          }))
    }
  }
}
