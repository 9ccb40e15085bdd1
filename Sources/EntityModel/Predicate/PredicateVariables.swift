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
    func replaced(_ part: FetchPredicate) throws(PredicateVariableError) -> FetchPredicate {
      try part.substituting(variables)
    }
    switch self {
    case .always: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.substituting(variables)
      comparison.right = try comparison.right.substituting(variables)
      return .comparison(comparison)
    case .exists(let path, let part): return .exists(path, try replaced(part))
    case .and(let parts): return .and(try parts.map(replaced))
    case .or(let parts): return .or(try parts.map(replaced))
    case .not(let part): return .not(try replaced(part))
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
    func replaced(_ part: FetchExpression) throws(PredicateVariableError) -> FetchExpression {
      try part.substituting(variables)
    }
    switch self {
    case .variable(let name): return try FetchExpression.value(of: name, variables)
    case .list(let parts): return .list(try parts.map(replaced))
    case .aggregate(let function, let part?): return .aggregate(function, try replaced(part))
    case .arithmetic(let sign, let left, let right):
      return .arithmetic(sign, try replaced(left), try replaced(right))
    case .negative(let part): return .negative(try replaced(part))
    case .value, .object, .path, .itself, .collection, .aggregate(_, nil): return self
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
