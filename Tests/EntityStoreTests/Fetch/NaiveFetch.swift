import EntityModel

/// Fetches by brute force: what the store's answers are held against.
struct NaiveFetch {
  let attributes: [AttributeDescription]
  let records: [Int64: [Value]]

  /// The identities that a request gives, in order.
  func run(_ request: FetchRequest) -> [Int64] {
    let matches = records.keys.sorted().filter { id in
      request.predicate.map { holds($0, records[id]!) == true } ?? true
    }
    let ordered = matches.sorted { precedes($0, $1, request.sortBy) }
    let rest = ordered.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit == 0 ? rest : rest.prefix(request.fetchLimit))
  }

  func value(_ name: String, of row: [Value]) -> Value {
    row[attributes.firstIndex { $0.name == name }!]
  }

  /// Three-valued: `nil` is neither true nor false.
  private func holds(_ predicate: FetchPredicate, _ row: [Value]) -> Bool? {
    switch predicate {
    case .always(let value): return value
    case .comparison(let whole):
      guard case .path(let name) = whole.left, case .value(let constant) = whole.right else {
        preconditionFailure("not made here")
      }
      return compare(value(name, of: row), whole, constant)
    case .exists: preconditionFailure("not made here")
    case .not(let part): return holds(part, row).map { !$0 }
    case .and(let parts):
      let results = parts.map { holds($0, row) }
      if results.contains(false) { return false }
      return results.contains(nil) ? nil : true
    case .or(let parts):
      let results = parts.map { holds($0, row) }
      if results.contains(true) { return true }
      return results.contains(nil) ? nil : false
    }
  }

  private func compare(
    _ left: Value, _ whole: FetchPredicate.Comparison, _ right: Value
  ) -> Bool? {
    let comparison = whole.comparison
    if right == .null {
      switch comparison {
      case .equal: return left == .null
      case .notEqual: return left != .null
      default: return nil
      }
    }
    guard left != .null else { return nil }
    let order =
      switch whole.options {
      case .caseInsensitive: NaiveCollation.order(left, right, .caseInsensitive)
      case .localized: NaiveCollation.order(left, right, .localizedStandard)
      default: NaiveCollation.order(left, right, .binary)
      }
    switch (comparison, order) {
    case (.equal, .same), (.lessOrEqual, .same), (.greaterOrEqual, .same): return true
    case (.less, .ascending), (.lessOrEqual, .ascending), (.notEqual, .ascending): return true
    case (.greater, .descending), (.greaterOrEqual, .descending), (.notEqual, .descending):
      return true
    default: return false
    }
  }

  private func precedes(_ a: Int64, _ b: Int64, _ sort: [SortKey]) -> Bool {
    for key in sort {
      let order = NaiveCollation.order(
        value(key.path, of: records[a]!), value(key.path, of: records[b]!), key.collation)
      if order != .same { return (order == .ascending) != key.isDescending }
    }
    return a < b
  }
}
