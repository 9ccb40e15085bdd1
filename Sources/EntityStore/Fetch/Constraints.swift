import EntityModel

/// What the conjuncts of a predicate say about single attributes, in the form an index can use.
struct Constraints {
  struct Bound {
    var value: Value
    var isInclusive: Bool
  }

  /// About one attribute. `equal` includes a required null.
  struct Constraint {
    var equal: Value?
    var lower: Bound?
    var upper: Bound?
    var isNotNull = false
    /// Which conjuncts this covers, by number.
    var sources: [Int] = []
  }

  private(set) var byPosition: [Int: Constraint] = [:]
  /// All conjuncts, in order; those that no constraint covers are filters.
  let conjuncts: [FetchPredicate]

  init(_ predicate: FetchPredicate?, entity: EntityLayout) throws(StoreError) {
    conjuncts = predicate?.conjuncts ?? []
    for (number, conjunct) in conjuncts.enumerated() {
      guard case .comparison(let whole) = conjunct, case .path(let name) = whole.left,
        case .value(let constant) = whole.right
      else { continue }
      let position = try entity.position(of: name)
      let value = try entity.description.attributes[position]
        .constant(constant, entity: entity.name)
      add(whole.comparison, value, position, number)
    }
  }

  /// Whether the predicate cannot hold for a record that has null there.
  func excludesNull(_ position: Int) -> Bool {
    guard let constraint = byPosition[position] else { return false }
    if let equal = constraint.equal { return !equal.isNull }
    return constraint.isNotNull
  }

  private mutating func add(
    _ comparison: ComparisonOperator, _ value: Value, _ position: Int, _ number: Int
  ) {
    switch (comparison, value) {
    case (.equal, _): setEqual(value, position, number)
    case (.notEqual, .null): setNotNull(position, number)
    case (_, .null), (.notEqual, _), (_, .strings): return
    case (.between, _), (.isIn, _), (.contains, _), (.beginsWith, _), (.endsWith, _), (.like, _),
      (.matches, _):
      return
    case (.less, _): setUpper(Bound(value: value, isInclusive: false), position, number)
    case (.lessOrEqual, _): setUpper(Bound(value: value, isInclusive: true), position, number)
    case (.greater, _): setLower(Bound(value: value, isInclusive: false), position, number)
    case (.greaterOrEqual, _): setLower(Bound(value: value, isInclusive: true), position, number)
    }
  }

  // The first constraint of a kind is taken; a second one stays a filter.

  private mutating func setEqual(_ value: Value, _ position: Int, _ number: Int) {
    if case .strings = value { return }
    var constraint = byPosition[position] ?? Constraint()
    guard constraint.equal == nil else { return }
    constraint.equal = value
    // The ranges found so far are no longer used for the key, so their conjuncts become filters.
    constraint.sources = [number]
    constraint.lower = nil
    constraint.upper = nil
    byPosition[position] = constraint
  }

  private mutating func setNotNull(_ position: Int, _ number: Int) {
    narrow(position, number) { _ in true }
  }

  private mutating func setLower(_ bound: Bound, _ position: Int, _ number: Int) {
    narrow(position, number) { constraint in
      if constraint.lower != nil { return false }
      constraint.lower = bound
      return true
    }
  }

  private mutating func setUpper(_ bound: Bound, _ position: Int, _ number: Int) {
    narrow(position, number) { constraint in
      if constraint.upper != nil { return false }
      constraint.upper = bound
      return true
    }
  }

  /// Any comparison, and `!= nil` itself, excludes null.
  private mutating func narrow(
    _ position: Int, _ number: Int, _ change: (inout Constraint) -> Bool
  ) {
    var constraint = byPosition[position] ?? Constraint()
    guard constraint.equal == nil, change(&constraint) else { return }
    constraint.isNotNull = true
    constraint.sources.append(number)
    byPosition[position] = constraint
  }
}
