import EntityModel
import Foundation

/// A comparison of two values, with its options for texts.
struct ValueTest {
  private let options: ComparisonOptions
  private let folds: Bool

  init(_ options: ComparisonOptions) {
    self.options = options
    folds =
      !options.contains(.normalized)
      && !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
  }

  /// - Returns: `nil` if a side is null.
  func holds(_ left: Value, _ comparison: ComparisonOperator, _ right: Value) throws -> Bool? {
    if left.isNull || right.isNull { return nil }
    if let a = left.characters, let b = right.characters {
      return try holds(a, comparison, b)
    }
    return left.order(with: right).flatMap { comparison.holds($0) }
  }

  private func holds(
    _ left: String, _ comparison: ComparisonOperator, _ right: String
  ) throws -> Bool? {
    switch comparison {
    case .matches: return matches(left, right)
    case .like:
      return NaiveText.isLike(Array(prepared(left).unicodeScalars), pattern: prepared(right))
    default: break
    }
    if options.contains(.localized), !options.contains(.normalized) {
      switch comparison {
      case .contains, .beginsWith, .endsWith: break
      default: return comparison.holds(try NaiveText.localizedOrder(left, right, options))
      }
    }
    let (a, b) = (Array(prepared(left).utf8), Array(prepared(right).utf8))
    switch comparison {
    case .beginsWith: return a.starts(with: b)
    case .endsWith: return a.reversed().starts(with: b.reversed())
    case .contains:
      if b.count > a.count { return false }
      return (0...(a.count - b.count)).contains { a[$0...].starts(with: b) }
    default: return comparison.holds(NaiveText.order(a, b))
    }
  }

  private func prepared(_ text: String) -> String {
    guard folds else { return text }
    var text = text
    if options.contains(.diacriticInsensitive) { text = NaiveText.withoutMarks(text) }
    if options.contains(.caseInsensitive) { text = NaiveText.folded(text) }
    return text
  }

  private func matches(_ text: String, _ pattern: String) -> Bool? {
    let isFree = options.contains(.normalized)
    var text = text
    if !isFree, options.contains(.diacriticInsensitive) { text = NaiveText.withoutMarks(text) }
    let ignoresCase = !isFree && options.contains(.caseInsensitive)
    guard
      let expression = try? NSRegularExpression(  // because the generator makes good ones only
        pattern: "\\A(?:\(pattern))\\z", options: ignoresCase ? [.caseInsensitive] : [])
    else { return nil }
    return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }
}

extension Value {
  /// The characters of a text or a URL; nil for other values.
  fileprivate var characters: String? {
    switch self {
    case .string(let text): text
    case .url(let url): url.absoluteString
    default: nil
    }
  }
}

/// Texts by brute force.
enum NaiveText {
  static func order(_ a: [UInt8], _ b: [UInt8]) -> Ordering {
    if a == b { return .same }
    return a.lexicographicallyPrecedes(b) ? .ascending : .descending
  }

  /// Full case folding. The small letters of the capital ones are that for every character but a
  /// few (among them the Cherokee ones and the dotless i) which the tests do without.
  static func folded(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        let isCapital = scalar.value >= 65 && scalar.value <= 90
        result.append(isCapital ? Unicode.Scalar(UInt8(scalar.value + 32)) : scalar)
        continue
      }
      for capital in scalar.properties.uppercaseMapping.unicodeScalars {
        result.append(contentsOf: capital.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return String(result)
  }

  static func withoutMarks(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars
    where scalar.properties.generalCategory != .nonspacingMark {
      result.append(scalar)
    }
    return String(result)
  }

  /// Follows all matches of the pattern at once: `reached[i]` is true if the pattern so far matches
  /// the first `i` characters.
  static func isLike(_ text: [Unicode.Scalar], pattern: String) -> Bool {
    var reached = [true] + [Bool](repeating: false, count: text.count)
    var isLiteral = false
    for character in pattern.unicodeScalars {
      if character == "\\", !isLiteral {
        isLiteral = true
        continue
      }
      if character == "*", !isLiteral {
        for place in text.indices where reached[place] { reached[place + 1] = true }
        continue
      }
      let isAny = character == "?" && !isLiteral
      for place in text.indices.reversed() {
        reached[place + 1] = reached[place] && (isAny || text[place] == character)
      }
      reached[0] = false
      isLiteral = false
    }
    return reached[text.count]
  }
}
