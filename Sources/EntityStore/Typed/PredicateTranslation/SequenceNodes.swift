import EntityModel
import Foundation

// Conditions on captured sequences, on lists, on to-many relationships and on texts.

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: sequence, element) { whole, part in
      switch whole {
      case .range(let lower, let upper, let isClosed):
        return try part.isWithin(lower: lower, upper: upper, isClosed: isClosed)
      case .field where LHS.Output.self == [String].self:
        // A list may be on the right of IN with any value on the left. For a constant CONTAINS is
        // better, because an index on the list serves it.
        if part.isConstant { return try .contains(whole, part) }
        let isIn = FetchPredicate.comparison(
          .init(try part.expression(), .isIn, try whole.expression()))
        return Cases(yes: isIn, no: isIn.negated)
      case .field, .constant(is String):
        return try .contains(whole, part)
      case .constant(let value as any Sequence):
        return try part.isElement(of: .elements(of: value))
      default: throw StoreError.untranslatable("contains(_:)")
      }
    }
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    guard Base.Output.Element.self == Character.self else {
      return try translation.constant(of: self)
    }
    return try translation.cases(of: base, other, Cases.contains)
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    guard Base.Output.Element.self == Character.self else {
      return try translation.constant(of: self)
    }
    return try translation.cases(of: base, prefix) {
      try Term.text($0, .beginsWith, $1) { $0.starts(with: $1) }
    }
  }
}

extension PredicateExpressions.Range: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: lower, upper) {
      Cases(.range(lower: $0, upper: $1, isClosed: false))
    }
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: lower, upper) {
      Cases(.range(lower: $0, upper: $1, isClosed: true))
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: range, element) { bounds, value in
      guard case .range(let lower, let upper, let isClosed) = bounds else {
        throw StoreError.untranslatable("RangeExpressionContains")
      }
      return try value.isWithin(lower: lower, upper: upper, isClosed: isClosed)
    }
  }
}

extension Cases {
  fileprivate static func contains(_ whole: Term, _ part: Term) throws -> Cases {
    try Term.text(whole, .contains, part) { $0.contains($1) }
  }
}
