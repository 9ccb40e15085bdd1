import EntityModel
import Foundation

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    let sign: ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw StoreError.untranslatable("\(op)")
      }
    return try translation.cases(of: lhs, rhs) { Cases(try .arithmetic(sign, $0, $1)) }
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: lhs, rhs) { Cases(try .arithmetic(.divide, $0, $1)) }
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: lhs, rhs) { Cases(try .arithmetic(.divide, $0, $1)) }
  }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases {
    try translation.cases(of: wrapped).flatMap { term in
      if term.isConstant { return Cases(try .arithmetic(.subtract, .constant(Int64(0)), term)) }
      return Cases(.field(.negative(try term.expression()), isOptional: false))
    }
  }
}

extension Term {
  /// Returns the result of an operation. Constants are computed here, so that an index can be
  /// searched for the result.
  fileprivate static func arithmetic(
    _ sign: ArithmeticOperator, _ left: Term, _ right: Term
  ) throws -> Term {
    let (a, b) = (try left.expression(), try right.expression())
    guard case (.value(let a), .value(let b)) = (a, b) else {
      return .field(.arithmetic(sign, a, b), isOptional: false)
    }
    guard let result = sign.result(a, b) else {
      throw StoreError(
        .invalidRequest, "arithmetic of a #Predicate on captured values has no result",
        [("left", a.text), ("operator", sign.rawValue), ("right", b.text)],
        advice: "compute it outside and capture the result")
    }
    return result
  }
}

extension ArithmeticOperator {
  /// Returns the result for two constants.
  ///
  /// - Returns: `nil` for an overflow, a division by zero, and for operands that are not two
  ///   numbers of one kind.
  fileprivate func result(_ left: Value, _ right: Value) -> Term? {
    switch (left, right) {
    case (.int64(let a), .int64(let b)): result(a, b).map { .constant($0) }
    case (.double(let a), .double(let b)): result(a, b).map { .constant($0) }
    case (.decimal(let a), .decimal(let b)): result(a, b).map { .constant($0) }
    // A negative constant is subtracted from zero.
    case (.int64(0), .double(let b)): result(0, b).map { .constant($0) }
    case (.int64(0), .decimal(let b)): result(0, b).map { .constant($0) }
    default: nil
    }
  }

  private func result(_ a: Int64, _ b: Int64) -> Int64? {
    let (value, overflows) =
      switch self {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide: a.dividedReportingOverflow(by: b)
      case .power: (0, true)
      }
    return overflows ? nil : value
  }

  private func result(_ a: Double, _ b: Double) -> Double? {
    switch self {
    case .add: a + b
    case .subtract: a - b
    case .multiply: a * b
    case .divide: a / b
    case .power: nil
    }
  }

  private func result(_ a: Decimal, _ b: Decimal) -> Decimal? {
    let value: Decimal? =
      switch self {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: b.isZero ? nil : a / b
      case .power: nil
      }
    return value.flatMap { $0.isNaN ? nil : $0 }
  }
}
