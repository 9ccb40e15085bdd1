import EntityModel

/// Binding of ANY and ALL, over the records of a relationship or the elements of a list.
extension Binder {
  func bind(
    _ whole: FetchPredicate.Comparison, _ quantifier: FetchPredicate.Quantifier
  ) throws -> PredicateProgram {
    guard case .path(let path) = whole.left else {
      throw StoreError(
        .invalidRequest, "ANY and ALL need a path on their left side",
        [("predicate", whole.text)])
    }
    let resolved = try resolve(path)
    let hops = resolved.allHops
    guard let last = hops.lastIndex(where: { $0.relationship.isToMany }) else {
      return try elements(of: resolved, whole, quantifier)
    }
    let rest = path.split(separator: ".").dropFirst(last + 1).joined(separator: ".")
    var inner = whole
    inner.left = rest.isEmpty ? .itself : .path(rest)
    if resolved.listPosition == nil { inner.quantifier = nil }
    try requireConstant(whole)
    let binder = Binder(.entity(hops[last].destination), in: transaction)
    return .records(Array(hops[...last]), try binder.bind(.comparison(inner)), quantifier)
  }

  private func elements(
    of path: BoundPath, _ whole: FetchPredicate.Comparison, _ quantifier: FetchPredicate.Quantifier
  ) throws -> PredicateProgram {
    guard let position = path.listPosition else {
      throw StoreError(
        .invalidRequest, "ANY and ALL need a path that leads to many values",
        [("predicate", whole.text)], advice: "leave the word out")
    }
    try requireConstant(whole)
    let element = BoundExpression(program: .attribute(0), kind: .value(.string), position: 0)
    let test = try test(element, whole)
    return path.hops.reversed().reduce(.elements(position, test, quantifier)) { .linked($1, $0) }
  }

  private func requireConstant(_ whole: FetchPredicate.Comparison) throws {
    if whole.right.isConstant { return }
    throw StoreError(
      .invalidRequest, "the right side of ANY and ALL must be a constant",
      [("predicate", whole.text)],
      advice: "write it as ANY relationship SATISFIES (…) if both sides belong to that record")
  }
}

extension FetchExpression {
  /// True if the value is the same for every record.
  fileprivate var isConstant: Bool {
    switch self {
    case .value, .object: true
    case .list, .arithmetic, .negative: parts.allSatisfy(\.isConstant)
    case .path, .itself, .variable, .collection, .aggregate: false
    }
  }
}
