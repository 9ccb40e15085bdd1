import EntityModel
import Foundation

// Constants, variables, conditions and optionals.

extension PredicateExpressions.Value: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) -> Cases { Cases(.captured(value)) }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) -> Cases { Cases(.null) }
}

extension PredicateExpressions.Variable: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    Cases(try translation.term(key))
  }
}

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let (left, right) = (try translation.cases(of: lhs), try translation.cases(of: rhs))
    return Cases(
      yes: .conjunction([try left.isTrue(), try right.isTrue()]),
      no: .disjunction([try left.isFalse(), try right.isFalse()]))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let (left, right) = (try translation.cases(of: lhs), try translation.cases(of: rhs))
    return Cases(
      yes: .disjunction([try left.isTrue(), try right.isTrue()]),
      no: .conjunction([try left.isFalse(), try right.isFalse()]))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let whole = try translation.cases(of: wrapped)
    return Cases(yes: try whole.isFalse(), no: try whole.isTrue())
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: lhs, rhs, Term.equal)
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let equal = try translation.cases(of: lhs, rhs, Term.equal)
    return Cases(yes: try equal.isFalse(), no: try equal.isTrue())
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let test: OrderTest =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw StoreError.untranslatable("\(op)")
      }
    return try translation.cases(of: lhs, rhs) { try Term.ordered($0, test, $1) }
  }
}

/// `test ? a : b`, also as `if`.
extension PredicateExpressions.Conditional: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let condition = try translation.cases(of: test)
    let otherwise = try translation.cases(of: falseBranch)
    return try translation.cases(of: trueBranch).chosen(by: condition, otherwise: otherwise)
  }
}

/// `a ?? b`.
extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let (value, otherwise) = (try translation.cases(of: lhs), try translation.cases(of: rhs))
    return value.unwrapping({ Cases($0) }, null: otherwise)
  }
}

/// `a?.b`, `a.flatMap { … }` and `if let`.
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let value = try translation.cases(of: wrapped)
    return try value.unwrapping(
      {
        translation.bind(variable.key, to: $0)
        return try translation.cases(of: transform)
      }, null: Cases(.null))
  }
}

/// `a!`: where it is null Swift traps, so no case holds.
extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: inner).unwrapping({ Cases($0) }, null: .none)
  }
}
