import EntityModel

/// The parts of a request that its plan depends on, but for the parameters, as a prepared statement
/// has them.
///
/// A parameter is the constant in a comparison of an attribute or a relationship by order, such as
/// `rank == 7`, that must hold for each record. Its kind belongs to the form. The window and what
/// is read of the records do not: a plan without costs is the same for all of them.
struct RequestForm {
  let hash: Int
  /// The values of the parameters, in the order of the predicate.
  let constants: [Value]

  fileprivate static let depthMax = 32
}

extension FetchRequest {
  /// The form; `nil` for a grouped request, and for one with a deep predicate: hashing and
  /// comparing it would exhaust a thread's stack.
  var form: RequestForm? {
    if isGrouped { return nil }
    var hasher = Hasher()
    var constants: [Value] = []
    hasher.combine(entityName)
    if let predicate {
      guard predicate.addForm(to: &hasher, &constants, depth: RequestForm.depthMax) else {
        return nil
      }
    }
    for key in sortBy { hasher.combine(key) }
    return RequestForm(hash: hasher.finalize(), constants: constants)
  }

  /// Returns true if the forms of two requests, which both have one, are equal.
  func hasForm(of other: FetchRequest) -> Bool {
    guard entityName == other.entityName, sortBy == other.sortBy else { return false }
    return switch (predicate, other.predicate) {
    case (let a?, let b?): a.hasForm(of: b)
    case (nil, nil): true
    default: false
    }
  }
}

extension FetchPredicate {
  /// Adds the predicate to a hash, and the values of its parameters to a list.
  ///
  /// - Returns: `false` if the predicate has more levels, expressions included.
  fileprivate func addForm(
    to hasher: inout Hasher, _ constants: inout [Value], depth: Int
  ) -> Bool {
    if case .and(let parts) = self {
      hasher.combine(parts.count)
      return depth > 0
        && parts.allSatisfy { $0.addForm(to: &hasher, &constants, depth: depth - 1) }
    }
    if let parameter {
      hasher.combine(parameter.path)
      hasher.combine(parameter.test)
      hasher.combine(parameter.value.kind)
      constants.append(parameter.value)
      return true
    }
    if isDeeper(than: depth) { return false }
    hasher.combine(self)
    return true
  }

  /// Returns true if the predicates differ in nothing but the values of their parameters.
  fileprivate func hasForm(of other: FetchPredicate) -> Bool {
    if case .and(let parts) = self {
      guard case .and(let others) = other, parts.count == others.count else { return false }
      return zip(parts, others).allSatisfy { $0.hasForm(of: $1) }
    }
    guard let parameter else { return self == other }
    return other.parameter?.hasForm(of: parameter) == true
  }

  /// A comparison with a parameter.
  struct Parameter {
    let path: String
    let test: OrderTest
    let value: Value
    /// The entity of the record that `value` identifies.
    let entity: String?

    fileprivate func hasForm(of other: Parameter) -> Bool {
      test == other.test && value.kind == other.value.kind && path == other.path
        && entity == other.entity
    }
  }

  /// The predicate as a comparison with a parameter; `nil` if it is another one.
  var parameter: Parameter? {
    guard case .comparison(let comparison) = self, comparison.quantifier == nil,
      comparison.options.isEmpty, case .path(let path) = comparison.left,
      let test = OrderTest(comparison.comparison), test != .notEqual
    else { return nil }
    switch comparison.right {
    case .value(.null), .value(.strings): return nil
    case .value(let value): return Parameter(path: path, test: test, value: value, entity: nil)
    case .object(let id):
      return Parameter(path: path, test: test, value: .int64(id.number), entity: id.entity)
    default: return nil
    }
  }

  /// Returns true if the predicate has more levels, expressions included.
  private func isDeeper(than depth: Int) -> Bool {
    switch self {
    case .always: false
    case .comparison(let comparison):
      comparison.left.isDeeper(than: depth) || comparison.right.isDeeper(than: depth)
    case .exists(_, let part), .not(let part): depth == 0 || part.isDeeper(than: depth - 1)
    case .and(let parts), .or(let parts):
      depth == 0 || parts.contains { $0.isDeeper(than: depth - 1) }
    }
  }
}

extension FetchExpression {
  fileprivate func isDeeper(than depth: Int) -> Bool {
    switch self {
    case .value, .object, .path, .itself, .variable, .collection, .aggregate(_, nil): false
    case .list(let parts): depth == 0 || parts.contains { $0.isDeeper(than: depth - 1) }
    case .aggregate(_, let part?), .negative(let part):
      depth == 0 || part.isDeeper(than: depth - 1)
    case .arithmetic(_, let left, let right):
      depth == 0 || left.isDeeper(than: depth - 1) || right.isDeeper(than: depth - 1)
    }
  }
}
