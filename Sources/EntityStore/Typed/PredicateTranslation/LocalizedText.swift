import EntityModel
public import Foundation

// Foundation for Linux has no `localizedStandardContains`, `localizedCompare` and
// `caseInsensitiveCompare` in its predicates. The macro expands a call to a function named `build_`
// and the name of the call, so it is enough to declare those functions.

extension PredicateExpressions {
  /// Becomes `CONTAINS[cd]`.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static func build_localizedStandardContains<Whole, Part>(
    _ whole: Whole, _ part: Part
  ) -> LocalizedContains<Whole, Part> {
    LocalizedContains(whole: whole, part: part)
  }

  /// Becomes a comparison with `[l]`. Capture the result it is compared with in a variable first:
  /// the macro takes no enumeration cases.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static func build_localizedCompare<Left, Right>(
    _ left: Left, _ right: Right
  ) -> TextCompare<Left, Right> {
    TextCompare(left: left, right: right, isLocalized: true)
  }

  /// Becomes a comparison with `[c]`. Capture the result it is compared with in a variable first:
  /// the macro takes no enumeration cases.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  public static func build_caseInsensitiveCompare<Left, Right>(
    _ left: Left, _ right: Right
  ) -> TextCompare<Left, Right> {
    TextCompare(left: left, right: right, isLocalized: false)
  }

  /// The expression that is true if a text contains another one, without regard to case and
  /// accents.
  public struct LocalizedContains<Whole: PredicateExpression, Part: PredicateExpression>:
    PredicateExpression
  where Whole.Output == String, Part.Output == String {
    public let whole: Whole
    public let part: Part

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try whole.evaluate(bindings).localizedStandardContains(try part.evaluate(bindings))
    }
  }

  /// The order of two texts: that of the locale, or without regard to case.
  public struct TextCompare<Left: PredicateExpression, Right: PredicateExpression>:
    PredicateExpression
  where Left.Output == String, Right.Output == String {
    public let left: Left
    public let right: Right
    public let isLocalized: Bool

    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      let (left, right) = (try left.evaluate(bindings), try right.evaluate(bindings))
      return isLocalized ? left.localizedCompare(right) : left.caseInsensitiveCompare(right)
    }
  }
}

extension PredicateExpressions.LocalizedContains: Sendable where Whole: Sendable, Part: Sendable {}
extension PredicateExpressions.LocalizedContains: Codable where Whole: Codable, Part: Codable {}
extension PredicateExpressions.LocalizedContains: StandardPredicateExpression
where Whole: StandardPredicateExpression, Part: StandardPredicateExpression {}

extension PredicateExpressions.TextCompare: Sendable where Left: Sendable, Right: Sendable {}
extension PredicateExpressions.TextCompare: Codable where Left: Codable, Right: Codable {}
extension PredicateExpressions.TextCompare: StandardPredicateExpression
where Left: StandardPredicateExpression, Right: StandardPredicateExpression {}

extension PredicateExpressions.LocalizedContains: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: whole, part) {
      try Term.text($0, .contains, $1, options: [.caseInsensitive, .diacriticInsensitive]) {
        $0.localizedStandardContains($1)
      }
    }
  }
}

extension PredicateExpressions.TextCompare: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: left, right) { left, right in
      try .order(left, right, options: isLocalized ? .localized : .caseInsensitive) {
        isLocalized ? $0.localizedCompare($1) : $0.caseInsensitiveCompare($1)
      }
    }
  }
}

extension Cases {
  /// Returns the cases of the order of two texts.
  fileprivate static func order(
    _ left: Term, _ right: Term, options: ComparisonOptions,
    known: (String, String) -> ComparisonResult
  ) throws -> Cases {
    let results: [(ComparisonOperator, ComparisonResult)] = [
      (.less, .orderedAscending), (.equal, .orderedSame), (.greater, .orderedDescending),
    ]
    return Cases(
      try results.map { comparison, result in
        let holds = try Term.text(left, comparison, right, options: options) {
          known($0, $1) == result
        }
        return Branch(when: try holds.isTrue(), term: .constant(result))
      })
  }
}
