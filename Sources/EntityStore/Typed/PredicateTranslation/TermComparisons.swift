import EntityModel

// Comparisons of two terms. Each gives a predicate for true and one for false, because with null
// neither of them is true.

extension Term {
  var isNull: FetchPredicate { test(.equal) }
  var isNotNull: FetchPredicate { test(.notEqual) }

  private func test(_ comparison: ComparisonOperator) -> FetchPredicate {
    switch self {
    case .field(let expression, isOptional: true):
      .comparison(.init(expression, comparison, .value(.null)))
    case .record(let path, isOptional: true): .comparison(path, comparison, .null)
    case .null: .always(comparison == .equal)
    default: .always(comparison == .notEqual)
    }
  }

  /// Returns the predicate for the condition being equal to `flag`.
  func equals(_ flag: Bool) throws -> FetchPredicate {
    switch self {
    case .null: return .always(false)
    case .constant(let value as Bool): return .always(value == flag)
    case .field(let expression, _):
      return .comparison(.init(expression, .equal, .value(.bool(flag))))
    default: throw StoreError.untranslatable("a value that is no condition")
    }
  }

  /// Returns the cases of Swift's `==`: two nulls are equal, and a null and a value are not.
  static func equal(_ left: Term, _ right: Term) throws -> Cases {
    if case .null = left { return Cases(yes: right.isNull, no: right.isNotNull) }
    if case .null = right { return Cases(yes: left.isNull, no: left.isNotNull) }
    let (a, b) = (try left.expression(), try right.expression())
    if left.isConstant, right.isConstant { return Cases(a == b) }
    if a.isNotANumber || b.isNotANumber { return Cases(false) }
    return Cases(
      yes: .disjunction([
        .comparison(.init(a, .equal, b)), .conjunction([left.isNull, right.isNull]),
      ]),
      no: .disjunction([
        .conjunction([left.isNull, right.isNotNull]), .conjunction([left.isNotNull, right.isNull]),
        .comparison(.init(a, .notEqual, b)),
      ]))
  }

  /// Returns the cases of `<`, `<=`, `>` or `>=`. No case holds if one side is null, where Swift
  /// would trap.
  static func ordered(
    _ left: Term, _ test: OrderTest, _ right: Term
  ) throws -> Cases {
    let (a, b) = (try left.expression(), try right.expression())
    if a.isNotANumber || b.isNotANumber { return Cases(false) }
    if case (.value(let a), .value(let b)) = (a, b) {
      guard let order = a.compared(with: b) else { return .none }
      return Cases(test.holds(order))
    }
    return Cases(
      yes: .comparison(.init(a, test.comparison, b)),
      no: .comparison(.init(a, test.negated.comparison, b)))
  }

  /// Returns the cases of a comparison of texts.
  ///
  /// - Parameter known: Returns the result for two constants.
  static func text(
    _ left: Term, _ comparison: ComparisonOperator, _ right: Term,
    options: ComparisonOptions = [], known: (String, String) -> Bool
  ) throws -> Cases {
    let (a, b) = (try left.expression(), try right.expression())
    if case (.value(.string(let a)), .value(.string(let b))) = (a, b) { return Cases(known(a, b)) }
    let holds = FetchPredicate.comparison(.init(a, comparison, b, options: options))
    return Cases(yes: holds, no: holds.negated)
  }

  /// Returns the cases of being equal to one of the constants, some of which may be null.
  func isElement(of constants: [Term]) throws -> Cases {
    if isConstant {
      return Cases(try constants.contains { try Term.equal(self, $0).isTrue() == .always(true) })
    }
    let hasNull = constants.contains(where: \.isOptional)
    let values = try constants.filter { !$0.isOptional }.map { try $0.expression() }
      .filter { !$0.isNotANumber }
    let known: FetchPredicate =
      values.isEmpty
      ? .always(false) : .comparison(.init(try expression(), .isIn, .list(values)))
    return Cases(
      yes: .disjunction([known, hasNull ? isNull : .always(false)]),
      no: hasNull
        ? .conjunction([isNotNull, known.negated]) : .disjunction([isNull, known.negated]))
  }

  func isWithin(lower: Term?, upper: Term?, isClosed: Bool) throws -> Cases {
    let fromLower = try lower.map { try Term.ordered(self, .greaterOrEqual, $0) } ?? Cases(true)
    let toUpper =
      try upper.map { try Term.ordered(self, isClosed ? .lessOrEqual : .less, $0) } ?? Cases(true)
    var holds = FetchPredicate.conjunction([try fromLower.isTrue(), try toUpper.isTrue()])
    if isClosed, !isConstant, let lower, let upper {
      holds = .comparison(
        .init(
          try expression(), .between, .list([try lower.expression(), try upper.expression()])))
    }
    return Cases(yes: holds, no: .disjunction([try fromLower.isFalse(), try toUpper.isFalse()]))
  }
}

extension FetchExpression {
  fileprivate var isNotANumber: Bool {
    if case .value(let value) = self { value.isNotANumber } else { false }
  }
}
