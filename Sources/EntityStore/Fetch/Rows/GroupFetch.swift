import EntityModel

/// Answers a request for aggregates: filter, group, having, order, window. There is one row for
/// each distinct combination of the group keys; without keys exactly one.
///
/// Memory is bounded by the number of groups.
struct GroupFetch {
  let columns: ResultColumns
  private let request: FetchRequest
  private let bound: BoundRequest
  private let transaction: ReadTransaction
  private let keys: [ExpressionProgram]
  /// The positions of the keys if all are attributes of the record itself; else `nil`.
  private let keyPositions: [Int]?
  private let aggregates: [Aggregate]
  /// The columns, as expressions on the group keys and the aggregates.
  private let outputs: [ExpressionProgram]
  private let having: PredicateProgram?
  private let sort: [BoundSort]
  /// The execution that reads all matching records, used if no index has the result at its ends.
  private var execution: FetchExecution
  private(set) var plan: AccessPlan
  private(set) var statistics = FetchStatistics()
  private(set) var readsEnds = false
  private(set) var countsOnly = false

  private struct Aggregate {
    let function: AggregateFunction
    /// The aggregated expression; `nil` for `count(*)`.
    let argument: ExpressionProgram?
    /// The position of the argument if it is an attribute of the record itself.
    let position: Int?

    /// True if some index could have the result as its first or last entry, or as its number of
    /// entries.
    var mayBeAtEnd: Bool {
      argument == nil || position != nil && [.minimum, .maximum].contains(function)
    }

    @inline(__always)
    func take(
      _ row: FetchRow, into accumulator: inout Accumulator, _ transaction: ReadTransaction
    ) throws {
      if let position, case .record(let view) = row.fields {
        try accumulator.add(view.field(position))
      } else if let argument {
        try accumulator.add(try argument.evaluate(row, in: transaction))
      } else {
        accumulator.addRows()
      }
    }
  }

  private struct Group {
    var keys: [Value]
    var accumulators: [Accumulator]
  }

  /// Binds and plans a request.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`, `requiresIndex`.
  init(_ request: FetchRequest, in transaction: ReadTransaction) throws {
    let entity = try transaction.catalog.entity(request.entityName)
    try transaction.prepareToRead(entity)
    self.request = request
    self.transaction = transaction
    let binding = try GroupBinding(request, entity, in: transaction)
    columns = try ResultColumns(binding.properties.map(\.name))
    keys = binding.keys.map(\.program)
    let positions = binding.keys.compactMap { $0.hops.isEmpty ? $0.position : nil }
    keyPositions = positions.count == keys.count ? positions : nil
    aggregates = binding.aggregates.map {
      Aggregate(
        function: $0.function, argument: $0.argument?.program,
        position: $0.argument.flatMap { $0.hops.isEmpty ? $0.position : nil })
    }
    outputs = binding.outputs
    having = binding.having
    sort = binding.sort
    bound = try BoundRequest(request, entity, in: transaction)
    execution = try FetchExecution(
      bound.unordered(attributes: binding.attributes), in: transaction)
    plan = execution.plan
  }

  mutating func run(_ body: (ResultRow) throws -> Bool) throws {
    var rows = try groups().map { group in
      let values = try group.keys + group.accumulators.map { try $0.result() }
      return FetchRow(id: 0, fields: .values(values))
    }
    if let having { rows = try rows.filter { try having.matches($0, in: transaction) } }
    var results = try ordered(rows).map { row in
      try outputs.map { try $0.evaluate(row, in: transaction) }
    }
    if request.returnsDistinctResults {
      var seen: Set<[Value]> = []
      results.removeAll { !seen.insert($0).inserted }
    }
    for values in results.dropFirst(bound.offset).prefix(bound.limit) {
      statistics.rowsReturned += 1
      guard try body(ResultRow(columns, values)) else { return }
    }
  }

  // MARK: Groups

  private mutating func groups() throws -> [Group] {
    if let ends = try ends() { return [ends] }
    if let counted = try countedEntries() { return counted }
    defer { statistics.add(execution.statistics) }
    if keys.isEmpty { return [Group(keys: [], accumulators: try accumulated())] }
    let (keys, aggregates, transaction) = (keys, aggregates, transaction)
    let empty = aggregates.map { Accumulator($0.function) }
    var groups: [Group] = []
    var numbers: [[Value]: Int] = [:]
    // Records of one group are often adjacent.
    var last = 0
    try execution.run { row in
      let values = try keys.map { try $0.evaluate(row, in: transaction) }
      if last >= groups.count || groups[last].keys != values {
        if let known = numbers[values] {
          last = known
        } else {
          last = groups.count
          numbers[values] = last
          groups.append(Group(keys: values, accumulators: empty))
        }
      }
      for (number, aggregate) in aggregates.enumerated() {
        try aggregate.take(row, into: &groups[last].accumulators[number], transaction)
      }
      return true
    }
    return groups
  }

  /// Returns the aggregates of all rows.
  private mutating func accumulated() throws -> [Accumulator] {
    let (aggregates, transaction) = (aggregates, transaction)
    var accumulators = aggregates.map { Accumulator($0.function) }
    let positions = aggregates.compactMap(\.position)
    if positions.count == 1, aggregates.count == 1 {
      // Not in the array, whose uniqueness would be checked for each row.
      var accumulator = accumulators[0]
      let isDone = try execution.runScan { view in
        try accumulator.add(view.field(positions[0]))
        return true
      }
      if isDone { return [accumulator] }
    } else if positions.count == aggregates.count {
      let isDone = try execution.runScan { view in
        for number in positions.indices {
          try accumulators[number].add(view.field(positions[number]))
        }
        return true
      }
      if isDone { return accumulators }
    }
    try execution.run { row in
      for (number, aggregate) in aggregates.enumerated() {
        try aggregate.take(row, into: &accumulators[number], transaction)
      }
      return true
    }
    return accumulators
  }

  // MARK: From the entries of an index

  /// Returns the groups of a request that counts all records by their values, if an index begins
  /// with those values: its entries are counted, and no record is read. Returns `nil` otherwise.
  private mutating func countedEntries() throws -> [Group]? {
    guard let keyPositions, !keyPositions.isEmpty, bound.conjuncts.isEmpty,
      aggregates.allSatisfy({ $0.argument == nil }),
      let index = bound.entity.indexes.first(where: { $0.begins(with: keyPositions) }),
      let counts = try PrefixCounts(of: keyPositions, in: index, transaction)
    else { return nil }
    statistics.entriesRead += counts.entriesRead
    if bound.observed != nil { index.countUse() }
    plan = AccessPlan(
      access: .index(IndexAccess(index: index, ranges: [.all], prefixCounts: [0])),
      isIndexOnly: true)
    return counts.groups.map { group in
      var accumulators = aggregates.map { Accumulator($0.function) }
      for number in accumulators.indices { accumulators[number].addRows(group.count) }
      return Group(keys: group.values, accumulators: accumulators)
    }
  }

  // MARK: From the ends of an index

  /// Returns the one row of a request for only minima, maxima and the count of rows, if indexes
  /// have them at their ends. Returns `nil` otherwise.
  private mutating func ends() throws -> Group? {
    guard keys.isEmpty, !aggregates.isEmpty, aggregates.allSatisfy(\.mayBeAtEnd) else { return nil }
    var group = Group(keys: [], accumulators: [])
    var read = FetchStatistics()
    var ends: [AccessPlan] = []
    for aggregate in aggregates {
      var accumulator = Accumulator(aggregate.function)
      if aggregate.argument == nil {
        var execution = try FetchExecution(bound.unordered(attributes: []), in: transaction)
        guard execution.plan.filter == nil else { return nil }
        accumulator.addRows(try execution.count())
        read.add(execution.statistics)
      } else {
        guard let position = aggregate.position,
          let end = try end(position, isMaximum: aggregate.function == .maximum)
        else { return nil }
        try accumulator.add(end.value)
        read.add(end.statistics)
        ends.append(end.plan)
      }
      group.accumulators.append(accumulator)
    }
    statistics.add(read)
    if let first = ends.first {
      readsEnds = true
      plan = first
    } else {
      countsOnly = true
    }
    return group
  }

  private func end(
    _ position: Int, isMaximum: Bool
  ) throws -> (value: Value, statistics: FetchStatistics, plan: AccessPlan)? {
    let key = BoundSort(
      program: .attribute(position), position: position, key: nil, isDescending: isMaximum)
    var request = bound
    let name = FetchPredicate.isNotNull(bound.entity.description.attributes[position].name)
    request.conjuncts.append((name, .attribute(position, .isNotNull)))
    var execution = try FetchExecution(request.first(by: key, of: position), in: transaction)
    guard execution.plan.filter == nil, execution.plan.sort.isEmpty,
      case .index(let access) = execution.plan.access, !access.mayRepeat,
      case .keys = access.order, !access.index.parts.contains(where: \.isText)
    else {
      if case .nothing = execution.plan.access { return (.null, FetchStatistics(), execution.plan) }
      return nil
    }
    let row = try execution.firstEntry(access)
    return (try row?.value(position) ?? .null, execution.statistics, execution.plan)
  }

  // MARK: Order

  private func ordered(_ rows: [FetchRow]) throws -> [FetchRow] {
    // Sorted by the keys if no sort is requested, so that the order is always the same.
    let byKeys = keys.indices.map {
      BoundSort(program: .attribute($0), position: $0, key: nil, isDescending: false)
    }
    let sort = sort + byKeys
    if sort.isEmpty { return rows }
    var sorted = try rows.enumerated().map { number, row in
      try SortedRow(FetchRow(id: Int64(number), fields: row.fields), sort: sort, in: transaction)
    }
    sorted.sort { $0.precedes($1, sort) }
    return sorted.map { rows[Int($0.id)] }
  }
}
