/// The reason why the variables of a predicate cannot be replaced.
public struct PredicateVariableError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The variable, without its `$`.
  public let variable: String
  /// The mistake and the remedy, in one line.
  public let message: String

  public var description: String { "$\(variable): \(message)" }
}

extension FetchPredicate {
  /// The names of the predicate's variables, without `$`.
  public var variables: Set<String> {
    if case .comparison(let comparison) = self {
      return comparison.left.variables.union(comparison.right.variables)
    }
    return parts.reduce(into: []) { $0.formUnion($1.variables) }
  }

  /// The predicate with values in place of its variables.
  ///
  /// - Parameter variables: The values by variable name, without `$`. Names that do not occur are
  ///   ignored.
  /// - Throws: `PredicateVariableError` for a variable without a value, and for a value that is NaN
  ///   or cannot be a part of a predicate.
  public func substituting(
    _ variables: [String: any PredicateArgument]
  ) throws(PredicateVariableError) -> FetchPredicate {
    try mapLeaves { (leaf) throws(PredicateVariableError) in try leaf.substituting(variables) }
  }

  /// Returns the predicate with those parts of its expressions replaced that have no parts.
  package func mapLeaves<E: Error>(
    _ change: (FetchExpression) throws(E) -> FetchExpression
  ) throws(E) -> FetchPredicate {
    func changed(_ part: FetchPredicate) throws(E) -> FetchPredicate { try part.mapLeaves(change) }
    switch self {
    case .always: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.mapLeaves(change)
      comparison.right = try comparison.right.mapLeaves(change)
      return .comparison(comparison)
    case .exists(let path, let part): return .exists(path, try changed(part))
    case .and(let parts): return .and(try parts.map(changed))
    case .or(let parts): return .or(try parts.map(changed))
    case .not(let part): return .not(try changed(part))
    }
  }
}

extension FetchExpression {
  /// The names of the expression's variables, without `$`.
  public var variables: Set<String> {
    if case .variable(let name) = self { return [name] }
    return parts.reduce(into: []) { $0.formUnion($1.variables) }
  }

  /// The expression with values in place of its variables. Parameters and errors are those of
  /// `FetchPredicate.substituting(_:)`.
  public func substituting(
    _ variables: [String: any PredicateArgument]
  ) throws(PredicateVariableError) -> FetchExpression {
    try mapLeaves { (leaf) throws(PredicateVariableError) in
      guard case .variable(let name) = leaf else { return leaf }
      return try FetchExpression.value(of: name, variables)
    }
  }

  /// Returns the expression with those parts replaced that have no parts.
  package func mapLeaves<E: Error>(
    _ change: (FetchExpression) throws(E) -> FetchExpression
  ) throws(E) -> FetchExpression {
    func changed(_ part: FetchExpression) throws(E) -> FetchExpression {
      try part.mapLeaves(change)
    }
    switch self {
    case .list(let parts): return .list(try parts.map(changed))
    case .aggregate(let function, let part?): return .aggregate(function, try changed(part))
    case .arithmetic(let sign, let left, let right):
      return .arithmetic(sign, try changed(left), try changed(right))
    case .negative(let part): return .negative(try changed(part))
    case .value, .object, .path, .itself, .variable, .collection, .aggregate(_, nil):
      return try change(self)
    }
  }

  private static func value(
    of name: String, _ variables: [String: any PredicateArgument]
  ) throws(PredicateVariableError) -> FetchExpression {
    guard let argument = variables[name] else {
      throw PredicateVariableError(variable: name, message: "no value is given; pass one")
    }
    let expression: FetchExpression
    do {
      expression = try argument.predicateExpression()
    } catch {
      throw PredicateVariableError(variable: name, message: "\(error)")
    }
    guard !expression.hasNotANumber else {
      throw PredicateVariableError(
        variable: name, message: "the value is NaN, which has no place in a predicate")
    }
    return expression
  }
}
