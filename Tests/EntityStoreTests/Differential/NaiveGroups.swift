import EntityModel

/// The evaluation of names and aggregates for groups of records.
struct NaiveGroups {
  typealias Operand = NaiveOperand<Group>

  /// Records that have the same values of the group keys.
  struct Group {
    var keys: [Value]
    var members: [Int64]
  }

  let records: NaiveRecords
  let request: FetchRequest

  /// - Returns: The rows, in order, before the window.
  func rows(of members: [Int64]) throws -> [[Value]] {
    var groups = try self.groups(of: members)
    if let having = request.havingPredicate {
      let logic = try named.bind(having)
      groups = try groups.filter { try logic($0) == true }
    }
    groups = try sorted(groups)
    let columns = try self.columns.map { try plain.operand($0.expression) }
    return try groups.map { group in try columns.map { try $0.value(group) } }
  }

  private var columns: [FetchProperty] {
    request.propertiesToFetch.isEmpty
      ? request.propertiesToGroupBy.map(FetchProperty.path) : request.propertiesToFetch
  }

  private func groups(of members: [Int64]) throws -> [Group] {
    let keys = try request.propertiesToGroupBy.map(records.path)
    if keys.isEmpty { return [Group(keys: [], members: members)] }
    var groups: [[Value]: Group] = [:]
    for id in members {
      let values = try keys.map { try $0.value(id) }
      groups[values, default: Group(keys: values, members: [])].members.append(id)
    }
    return groups.values.sorted { Self.order($0.keys, $1.keys) == .ascending }
  }

  private static func order(_ left: [Value], _ right: [Value]) -> Ordering {
    for (a, b) in zip(left, right) {
      let order = a.compared(with: b) ?? .same
      if order != .same { return order }
    }
    return .same
  }

  private func sorted(_ groups: [Group]) throws -> [Group] {
    let keys = try request.sortBy.map { ($0, try named.operand(.path($0.path))) }
    let rows = try groups.map { group in (group, try keys.map { try $0.1.value(group) }) }
    return try rows.enumerated().sorted { left, right in
      for (position, key) in keys.enumerated() {
        let order = try NaiveSort.order(left.element.1[position], right.element.1[position], key.0)
        if order != .same { return order == .ascending }
      }
      return left.offset < right.offset
    }.map(\.element.0)
  }

  // MARK: Names

  /// Paths are group keys.
  private var plain: NaivePredicate<Group> {
    NaivePredicate(
      leaf: { expression in
        switch expression {
        case .path(let path):
          guard let place = request.propertiesToGroupBy.firstIndex(of: path) else {
            throw NaiveError.meaningless("\(path) is no group key")
          }
          return Operand(kind: try records.path(path).kind) { [$0.keys[place]] }
        case .aggregate(let function, let argument): return try aggregate(function, argument)
        default: throw NaiveError.meaningless("\(expression) about a group")
        }
      }, exists: { path, _ in throw NaiveError.meaningless("exists \(path) about a group") })
  }

  /// Paths are columns or group keys.
  private var named: NaivePredicate<Group> {
    let plain = self.plain
    return NaivePredicate(
      leaf: { expression in
        if case .path(let name) = expression,
          let column = request.propertiesToFetch.first(where: { $0.name == name })
        {
          return try plain.operand(column.expression)
        }
        return try plain.leaf(expression)
      }, exists: plain.exists)
  }

  private func aggregate(
    _ function: AggregateFunction, _ argument: FetchExpression?
  ) throws -> Operand {
    guard let argument else {
      return Operand(kind: .attribute(.int64)) { [.int64(Int64($0.members.count))] }
    }
    let inner = try records.predicates.operand(argument)
    let kind = inner.kind.valueKind ?? .int64
    let values = { (group: Group) in
      try group.members.map { try inner.value($0) }.filter { !$0.isNull }
    }
    switch function {
    case .count:
      return Operand(kind: .attribute(.int64)) { [.int64(Int64(try values($0).count))] }
    case .countDistinct:
      return Operand(kind: .attribute(.int64)) { [.int64(Int64(Set(try values($0)).count))] }
    case .sum:
      return Operand(kind: .attribute(AttributeType(kind))) { group in
        let values = try values(group)
        return [values.isEmpty ? .null : try NaiveAggregates.sum(values, kind)]
      }
    case .average:
      return Operand(kind: .attribute(kind == .decimal ? .decimal : .double)) {
        [try NaiveAggregates.average(try values($0), kind)]
      }
    case .minimum: return Operand(kind: inner.kind) { [NaiveAggregates.least(try values($0))] }
    case .maximum: return Operand(kind: inner.kind) { [NaiveAggregates.greatest(try values($0))] }
    }
  }
}
