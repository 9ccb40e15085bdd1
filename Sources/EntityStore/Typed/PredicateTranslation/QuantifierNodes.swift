import EntityModel
import Foundation

// Conditions on some or on all elements: of a captured sequence, of a list, of the records of a
// to-many relationship.

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: sequence).flatMap {
      try translation.some($0, variable.key, test, is: true)
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: sequence).flatMap {
      let exception = try translation.some($0, variable.key, test, is: false)
      return Cases(yes: try exception.isFalse(), no: try exception.isTrue())
    }
  }
}

extension PredicateTranslation {
  /// Returns the cases of the condition that the test gives `outcome` for at least one element.
  fileprivate mutating func some<Test: PredicateExpression>(
    _ whole: Term, _ variable: PredicateExpressions.VariableID, _ test: Test, is outcome: Bool
  ) throws -> Cases {
    func meets(_ cases: Cases) throws -> FetchPredicate {
      try outcome ? cases.isTrue() : cases.isFalse()
    }
    switch whole {
    case .constant(let value as any Sequence):
      var (yes, no): ([FetchPredicate], [FetchPredicate]) = ([], [])
      let elements = [Term].elements(of: value)
      guard elements.count <= Limits.translatedPredicatePartsMax else {
        throw StoreError.predicateTooLarge
      }
      for element in elements {
        bind(variable, to: element)
        let cases = try cases(of: test)
        yes.append(try meets(cases))
        no.append(try outcome ? cases.isFalse() : cases.isTrue())
      }
      return Cases(yes: .disjunction(yes), no: .conjunction(no))
    case .records(let path):
      let about = try meets(inside(variable, .record(path: "", isOptional: false), test))
      if about == .always(false) { return Cases(false) }
      return Cases(yes: .exists(path, about), no: .not(.exists(path, about)))
    case .field(.path(let path), _):
      let about = try meets(inside(variable, .field(.itself, isOptional: false), test))
      let some = try about.ofSomeElement(path)
      return Cases(yes: some, no: some.negated)
    default: throw StoreError.untranslatable("a closure over a sequence that is computed")
    }
  }
}

extension [Term] {
  /// Returns the elements of a captured sequence.
  static func elements(of sequence: any Sequence) -> [Term] {
    func terms(_ sequence: some Sequence) -> [Term] { sequence.map { .captured($0) } }
    return terms(sequence)
  }
}

extension FetchPredicate {
  /// Returns a condition on SELF, an element, as a condition on some element of a list.
  fileprivate func ofSomeElement(_ path: String) throws -> FetchPredicate {
    switch self {
    case .always(false): return self
    case .always(true):
      return .comparison(.init(.collection(path, .count, nil), .greater, .value(.int64(0))))
    case .or(let parts): return .disjunction(try parts.map { try $0.ofSomeElement(path) })
    case .comparison(let part): return try part.about(path, .any)
    case .not(.comparison(let part)): return .not(try part.about(path, .all))
    case .and, .not, .exists:
      throw StoreError(
        .invalidRequest, "a #Predicate has several conditions on the same element of a list",
        [("attribute", path)],
        advice: "use one condition on an element, or fetch and filter in Swift")
    }
  }
}

extension FetchPredicate.Comparison {
  /// Returns the comparison for some or all elements.
  ///
  /// - Throws: `invalidRequest` unless the element is on one side only and can be moved to the
  ///   left.
  fileprivate func about(
    _ path: String, _ quantifier: FetchPredicate.Quantifier
  ) throws -> FetchPredicate {
    var part = self
    part.quantifier = quantifier
    part.left = .path(path)
    switch (left, right, OrderTest(comparison)?.mirrored.comparison) {
    case (.itself, let other, _) where other != .itself: break
    case (let other, .itself, let mirrored?) where other != .itself:
      part.comparison = mirrored
      part.right = other
    default: throw StoreError.untranslatable("a comparison that has an element on its right side")
    }
    return .comparison(part)
  }
}
