public import EntityModel

/// The result of a request, by its result type.
public enum FetchResult: Sendable {
  case entities([Record])
  case count(Int)
  case rows([ResultRow])
  case identifiers([ObjectID])
}

extension ReadTransaction {
  /// Returns the result that the request's result type selects.
  ///
  /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidRequest`, `requiresIndex`, `damaged`,
  ///   a storage failure. There are no partial results.
  public func execute(_ request: FetchRequest) throws -> FetchResult {
    switch request.resultType {
    case .entities: .entities(try fetch(request))
    case .count: .count(try count(request))
    case .rows: .rows(try fetchRows(request))
    case .identifiers: .identifiers(try fetchIdentifiers(request))
    }
  }

  /// Returns the records of the request, filtered, sorted and windowed, for every result type.
  ///
  /// - Throws: As `execute`; `invalidRequest` for a grouped request, which has no records.
  public func fetch(_ request: FetchRequest) throws -> [Record] {
    try requireRecords(request)
    var records: [Record] = []
    var execution = try FetchExecution(request, in: self)
    let entity = execution.entity
    try execution.runRecords { id, view in
      records.append(try Record(view, id: id, of: entity))
      return true
    }
    return records
  }

  /// Calls the closure with each record in order, until it returns `false`. Memory is bounded by
  /// one record if an index gives the order.
  ///
  /// In a write transaction the closure may write. The identities are then read first, 8 bytes
  /// each; a record has its current values when its turn comes, even if it no longer matches, and
  /// one that has been deleted by then is left out.
  @discardableResult
  public func forEach(
    _ request: FetchRequest, _ body: (Record) throws -> Bool
  ) throws -> FetchStatistics {
    try requireRecords(request)
    var execution = try FetchExecution(request, in: self)
    let entity = execution.entity
    try execution.enumerateRecords { id, view in try body(try Record(view, id: id, of: entity)) }
    return execution.statistics
  }

  /// Returns the identities of the records, and reads no more of them than the filter needs.
  public func fetchIdentifiers(_ request: FetchRequest) throws -> [ObjectID] {
    try requireRecords(request)
    var identifiers: [ObjectID] = []
    var execution = try FetchExecution(request, in: self)
    try execution.run { row in
      identifiers.append(ObjectID(entity: request.entityName, number: row.id))
      return true
    }
    return identifiers
  }

  /// Returns the columns of the records or of the groups.
  public func fetchRows(_ request: FetchRequest) throws -> [ResultRow] {
    var rows: [ResultRow] = []
    _ = try runRows(request) { row in
      rows.append(row)
      return true
    }
    return rows
  }

  /// Calls the closure with each row in order, until it returns `false`. In a write transaction,
  /// where the closure may write, all rows are read first.
  @discardableResult
  public func forEachRow(
    _ request: FetchRequest, _ body: (ResultRow) throws -> Bool
  ) throws -> FetchStatistics {
    guard canWrite else { return try runRows(request, body) }
    var rows: [ResultRow] = []
    let statistics = try runRows(request) { row in
      rows.append(row)
      return true
    }
    for row in rows {
      guard try body(row) else { break }
    }
    return statistics
  }

  private func runRows(
    _ request: FetchRequest, _ body: (ResultRow) throws -> Bool
  ) throws -> FetchStatistics {
    if request.isGrouped {
      var groups = try GroupFetch(request, in: self)
      try groups.run(body)
      return groups.statistics
    }
    try refuseHaving(request)
    var columns = try ColumnFetch(request, in: self)
    try columns.run(body)
    return columns.execution.statistics
  }

  /// Returns the number of records or rows that the request would return.
  public func count(_ request: FetchRequest) throws -> Int {
    if request.countsRows {
      var count = 0
      _ = try runRows(request) { _ in
        count += 1
        return true
      }
      return count
    }
    try refuseHaving(request)
    var execution = try FetchExecution(request.bound(in: self).counted, in: self)
    return try execution.count()
  }

  /// Returns the plan of the request and what it has read: the request is run, and its result
  /// discarded.
  public func explain(_ request: FetchRequest) throws -> FetchPlan {
    if request.isGrouped { return try explainGroups(request) }
    try refuseHaving(request)
    let entity = try catalog.entity(request.entityName)
    if request.resultType == .rows || request.resultType == .count && request.countsRows {
      var columns = try ColumnFetch(request, in: self)
      try columns.run { _ in true }
      return plan(request, columns.execution, entity)
    }
    guard request.resultType == .count else {
      var execution = try FetchExecution(request.bound(in: self), in: self)
      try execution.run { _ in true }
      return plan(request, execution, entity)
    }
    var execution = try FetchExecution(request.bound(in: self).counted, in: self)
    let count = try execution.count()
    var plan = plan(request, execution, entity)
    plan.statistics?.rowsReturned = count
    if execution.countsOnly {
      plan.kinds.insert(.countOnly)
      plan.kinds.remove(.scan)
    }
    return plan
  }

  private func explainGroups(_ request: FetchRequest) throws -> FetchPlan {
    var groups = try GroupFetch(request, in: self)
    try groups.run { _ in true }
    var plan = FetchPlan(request, groups.plan, try catalog.entity(request.entityName))
    if groups.readsEnds { plan.kinds.insert(.endOfIndex) }
    if groups.countsOnly {
      plan.kinds.insert(.countOnly)
      plan.kinds.remove(.scan)
    }
    plan.statistics = groups.statistics
    return plan
  }

  private func plan(
    _ request: FetchRequest, _ execution: FetchExecution, _ entity: EntityLayout
  ) -> FetchPlan {
    var plan = FetchPlan(request, execution.plan, entity)
    plan.statistics = execution.statistics
    return plan
  }

  package func requireRecords(_ request: FetchRequest) throws {
    guard request.isGrouped else { return try refuseHaving(request) }
    throw StoreError(
      .invalidRequest, "a grouped request has rows and no records",
      [("entity", request.entityName)], advice: "fetch its rows")
  }

  private func refuseHaving(_ request: FetchRequest) throws {
    guard request.havingPredicate != nil, !request.isGrouped else { return }
    throw StoreError(
      .invalidRequest, "a having predicate needs group keys", [("entity", request.entityName)],
      advice: "use the predicate, or group by something")
  }
}

extension FetchRequest {
  /// True if the request's count is one of rows and not of records.
  package var countsRows: Bool {
    isGrouped || returnsDistinctResults && (resultType == .rows || !propertiesToFetch.isEmpty)
  }
}

extension FetchExecution {
  /// True if `count` reads only the number of entries.
  var countsOnly: Bool {
    guard plan.filter == nil else { return false }
    switch plan.access {
    case .nothing, .scan: return true
    case .index(let access): return !access.mayRepeat
    case .identifiers, .union: return false
    }
  }
}
