import EntityModel
import Foundation
import TestSupport

extension SeededRandom {
  /// A constant as people may write it, too: another kind of number, a text, the name of a case.
  mutating func respelled(_ value: Value, _ attribute: AttributeDescription) -> Value {
    if case .enumeration(let enumeration) = attribute.type, oneIn(2),
      let name = enumeration.name(of: value)
    {
      return .string(name)
    }
    guard oneIn(4) else { return value }
    switch value {
    case .int64: return .double(pick([-0.5, 0.5, 1, 2, 2.5, 0x1p53, 0x1p63]))
    case .double: return pick([-1, 0, 1, 2, 9_007_199_254_740_993])
    case .decimal(let number):
      return pick([.string("\(number)"), .double(9.99), .double(0.5), .int64(2)])
    case .bool(let flag): return .int64(flag ? 1 : 0)
    case .date(let date): return .string("\(date.timeIntervalSinceReferenceDate)s")
    case .uuid, .url: return .string(value.text)
    default: return value
    }
  }

  mutating func part(of text: String, _ comparison: ComparisonOperator) -> String {
    if oneIn(8) { return "" }
    if oneIn(6) { return pick(["a", "B", "é", "x", "e\u{301}", "\u{301}", "ss", "\0", "example"]) }
    let scalars = Array(text.unicodeScalars)
    if scalars.isEmpty { return "" }
    let (a, b) = (number(0...scalars.count), number(0...scalars.count))
    let range: ArraySlice<Unicode.Scalar> =
      switch comparison {
      case .beginsWith: scalars[..<a]
      case .endsWith: scalars[a...]
      default: scalars[min(a, b)..<max(a, b)]
      }
    return String(String.UnicodeScalarView(range))
  }

  /// Returns a pattern with some characters of the text after wildcards.
  mutating func likePattern(_ text: String) -> String {
    var pattern = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(8) {
      switch number(0...5) {
      case 0: pattern.append("?")
      case 1: pattern.append("*")
      case 2: if pattern.last != "*" { pattern.append("*") }
      default:
        if ["*", "?", "\\"].contains(scalar) { pattern.append("\\") }
        pattern.append(scalar)
      }
    }
    if oneIn(2) { pattern.append("*") }
    return String(pattern)
  }
}
