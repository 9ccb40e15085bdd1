import EntityModel

// Redundant parts are left out when conditions are combined, so that the planner sees the plain
// comparisons that an index can serve.

extension FetchPredicate {
  static func conjunction(_ parts: [FetchPredicate]) -> FetchPredicate {
    var kept: [FetchPredicate] = []
    for part in parts.flatMap(\.conjuncts) where part != .always(true) {
      if part == .always(false) { return part }
      if !kept.contains(part) { kept.append(part) }
    }
    // `title != nil AND title == "a"` is equivalent to `title == "a"`.
    let needed = kept.filter { part in
      guard case .comparison(let test) = part, test.isNotNullTest else { return true }
      return !kept.contains { $0 != part && $0.failsWhereNull(test.left) }
    }
    return needed.isEmpty ? .always(true) : needed.count == 1 ? needed[0] : .and(needed)
  }

  static func disjunction(_ parts: [FetchPredicate]) -> FetchPredicate {
    let disjuncts = parts.flatMap(\.disjuncts)
    // In `title == nil OR title != nil AND number == 1` the part `title != nil` is redundant.
    let nulls = disjuncts.compactMap { part in
      if case .comparison(let test) = part, test.isNullTest { test.left } else { nil }
    }
    var kept: [FetchPredicate] = []
    for part in disjuncts.flatMap({ $0.without(notNullTestsOf: nulls).disjuncts })
    where part != .always(false) {
      if part == .always(true) { return part }
      if !kept.contains(part) { kept.append(part) }
    }
    return kept.isEmpty ? .always(false) : kept.count == 1 ? kept[0] : .or(kept)
  }

  private func without(notNullTestsOf expressions: [FetchExpression]) -> FetchPredicate {
    guard case .and(let parts) = self, !expressions.isEmpty else { return self }
    return .conjunction(
      parts.filter { part in
        guard case .comparison(let test) = part, test.isNotNullTest else { return true }
        return !expressions.contains(test.left)
      })
  }

  /// The predicate that is true where this one is false; where this one is unknown, so is the
  /// result.
  var negated: FetchPredicate {
    switch self {
    case .always(let value): .always(!value)
    case .not(let part): part
    default: .not(self)
    }
  }

  private var disjuncts: [FetchPredicate] {
    if case .or(let parts) = self { parts.flatMap(\.disjuncts) } else { [self] }
  }

  /// Returns true if the predicate cannot be true where the expression is null, `false` if that is
  /// not known.
  private func failsWhereNull(_ expression: FetchExpression) -> Bool {
    switch self {
    case .comparison(let comparison): comparison.failsWhereNull(expression)
    case .not(.comparison(let comparison)):
      // A comparison with null is unknown, also when it is negated; one with a list can be false,
      // and true when it is negated.
      comparison.comparison != .isIn && comparison.comparison != .between
        && comparison.failsWhereNull(expression)
    case .and(let parts): parts.contains { $0.failsWhereNull(expression) }
    case .or(let parts): parts.allSatisfy { $0.failsWhereNull(expression) }
    case .always, .exists, .not: false
    }
  }
}

extension FetchPredicate.Comparison {
  fileprivate var isNotNullTest: Bool { comparison == .notEqual && right == .value(.null) }

  fileprivate var isNullTest: Bool { comparison == .equal && right == .value(.null) }

  fileprivate func failsWhereNull(_ expression: FetchExpression) -> Bool {
    if quantifier != nil || isNullTest { return false }
    if left.isNull(where: expression) { return true }
    // A list with a null element may still contain the value.
    return comparison != .isIn && right.isNull(where: expression)
  }
}

extension FetchExpression {
  /// Returns true if the expression is null wherever the other one is.
  fileprivate func isNull(where other: FetchExpression) -> Bool {
    if self == other { return true }
    switch self {
    case .path(let path):
      guard case .path(let other) = other else { return false }
      return path.hasPrefix(other + ".")
    case .arithmetic(_, let left, let right):
      return left.isNull(where: other) || right.isNull(where: other)
    case .negative(let part): return part.isNull(where: other)
    case .value, .object, .list, .itself, .variable, .collection, .aggregate: return false
    }
  }
}
