package import EntityModel

extension FetchPredicate {
  /// Returns the predicate with its outermost expressions replaced, and those inside arithmetic and
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
  package var expressions: [FetchExpression] {
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

extension FetchPredicate {
  /// Returns true if the tree has at most this depth. It reads no deeper levels.
  func fits(levels: Int) -> Bool {
    guard levels > 0 else { return false }
    if case .comparison(let comparison) = self {
      return comparison.left.fits(levels: levels) && comparison.right.fits(levels: levels)
    }
    return parts.allSatisfy { $0.fits(levels: levels - 1) }
  }
}

extension FetchExpression {
  /// Returns true if the tree has at most this depth. It reads no deeper levels.
  func fits(levels: Int) -> Bool {
    levels > 0 && parts.allSatisfy { $0.fits(levels: levels - 1) }
  }
}
