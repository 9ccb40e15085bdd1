import EntityModel

extension FetchPredicate {
  /// The predicate with its outermost expressions replaced, and those inside of arithmetic and
  /// lists.
  func mapExpressions(_ change: (FetchExpression) -> FetchExpression) -> FetchPredicate {
    switch self {
    case .always, .exists: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.mapped(change)
      comparison.right = comparison.right.mapped(change)
      return .comparison(comparison)
    case .and(let parts): return .and(parts.map { $0.mapExpressions(change) })
    case .or(let parts): return .or(parts.map { $0.mapExpressions(change) })
    case .not(let part): return .not(part.mapExpressions(change))
    }
  }

  /// The sides of all comparisons.
  var expressions: [FetchExpression] {
    switch self {
    case .always, .exists: []
    case .comparison(let comparison): [comparison.left, comparison.right]
    case .and(let parts), .or(let parts): parts.flatMap(\.expressions)
    case .not(let part): part.expressions
    }
  }
}

extension FetchExpression {
  fileprivate func mapped(_ change: (FetchExpression) -> FetchExpression) -> FetchExpression {
    switch self {
    case .arithmetic(let sign, let left, let right):
      .arithmetic(sign, left.mapped(change), right.mapped(change))
    case .negative(let part): .negative(part.mapped(change))
    case .list(let parts): .list(parts.map { $0.mapped(change) })
    case .value, .object, .path, .itself, .variable, .collection, .aggregate: change(self)
    }
  }
}
