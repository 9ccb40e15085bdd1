public import EntityModel
import LMDB

/// Runs a plan on a transaction's snapshot.
///
/// Filter, order, then window. Records are handed on as views in the map: a row that the window
/// or the filter drops costs no allocation.
struct FetchExecution {
  let entity: EntityLayout
  let choice: Planner.Choice
  let transaction: ReadTransaction
  private(set) var statistics = FetchStatistics()

  init(_ request: FetchRequest, in transaction: ReadTransaction) throws {
    entity = try transaction.catalog.entity(request.entityName)
    choice = try Planner.plan(request, entity: entity)
    self.transaction = transaction
    try transaction.prepareToRead(entity)
    offset = request.fetchOffset
    limit = request.fetchLimit == 0 ? Int.max : request.fetchLimit
  }

  private let offset: Int
  private let limit: Int

  /// How many matches there are up to the end of the window, at most.
  private var windowEnd: Int {
    let (end, overflows) = offset.addingReportingOverflow(limit)
    return overflows ? Int.max : end
  }

  /// Calls the closure with each row of the window, in order, until it returns `false`.
  mutating func run(_ body: (Int64, RecordView) throws -> Bool) throws {
    if choice.matchesNothing { return }
    if choice.sortsInMemory { return try runSorted(body) }
    guard limit > 0 else { return }
    let (offset, limit) = (offset, limit)
    var skipped = 0
    var returned = 0
    try eachMatch { id, view in
      if skipped < offset {
        skipped += 1
        return true
      }
      returned += 1
      return try body(id, view) && returned < limit
    }
    statistics.rowsReturned = returned
  }

  /// The number of rows in the window, without looking at records where the range says it all.
  mutating func count() throws -> Int {
    if choice.matchesNothing { return 0 }
    var matches = 0
    let enough = windowEnd
    if choice.filter == nil {
      switch choice.access {
      case .scan: matches = try transaction.transaction.count(entity.tree)
      case .index(let index, let range, _):
        if range == .all, index.listPart == nil {
          matches = try transaction.transaction.count(index.tree)
        } else {
          matches = try countEntries(index, range, enough)
        }
      }
    } else {
      try eachMatch { _, _ in
        matches += 1
        return matches < enough
      }
    }
    return max(0, min(matches, enough) - offset)
  }

  private mutating func countEntries(
    _ index: IndexLayout, _ range: KeyRange, _ enough: Int
  ) throws -> Int {
    var matches = 0
    var cursor = try transaction.transaction.cursor(index.tree)
    var entry = try range.lower.withUnsafeBytes { lower in
      lower.isEmpty ? try cursor.first() : try cursor.seek(atLeast: lower)
    }
    while let found = entry, range.isBelowUpper(found.key), matches < enough {
      matches += 1
      entry = try cursor.next()
    }
    statistics.entriesRead += matches
    return matches
  }

  // MARK: Matches in the order of the access

  private mutating func eachMatch(_ body: (Int64, RecordView) throws -> Bool) throws {
    switch choice.access {
    case .scan: try eachRecord(body)
    case .index(let index, let range, let isReversed):
      var scan = try IndexScan(index, range, isReversed: isReversed, in: transaction, entity)
      defer { statistics.entriesRead += scan.entriesRead }
      let filter = choice.filter
      var read = 0
      defer { statistics.recordsRead += read }
      try scan.eachEntry { id in
        guard let view = try transaction.view(of: id, in: entity) else {
          // The caller has deleted it while it goes through these very entries.
          if transaction.hasChanged(entity) { return true }
          throw StoreError.damaged(
            "an index entry points at no record", entity: entity.name, id: id)
        }
        read += 1
        if let filter, try !filter.matchesRecord(view, entity, id) { return true }
        return try body(id, view)
      }
    }
  }

  private mutating func eachRecord(_ body: (Int64, RecordView) throws -> Bool) throws {
    var cursor = try transaction.transaction.cursor(entity.tree)
    var entry = try cursor.first()
    while let found = entry {
      guard let id = RecordKey.objectID(found.key), let view = entity.record.view(of: found.value)
      else { throw StoreError.damaged("a record is unreadable", entity: entity.name) }
      statistics.recordsRead += 1
      if try choice.filter?.matchesRecord(view, entity, id) ?? true {
        guard try body(id, view) else { return }
      }
      entry = try cursor.next()
    }
  }

  // MARK: Sorting in memory

  /// Sorts all matches, keeping no more than the window needs.
  private mutating func runSorted(_ body: (Int64, RecordView) throws -> Bool) throws {
    let window = windowEnd
    guard limit > 0 else { return }
    var rows: [SortedRow] = []
    let sort = choice.sort
    let entity = entity
    try eachMatch { id, view in
      rows.append(try SortedRow(id: id, view: view, sort: sort, entity: entity))
      // Cut back now and then, so memory is a multiple of the window and sorting stays cheap.
      if window < Int.max / 4, rows.count >= window * 2 + 1_000 {
        rows.sort { $0.precedes($1, sort) }
        rows.removeLast(rows.count - window)
      }
      return true
    }
    rows.sort { $0.precedes($1, sort) }
    for row in rows.dropFirst(offset).prefix(limit) {
      guard let view = try transaction.view(of: row.id, in: entity) else { continue }
      statistics.rowsReturned += 1
      guard try body(row.id, view) else { return }
    }
  }
}

/// A match that waits for its place: identity and sort values.
struct SortedRow {
  let id: Int64
  private let values: [Value]

  init(id: Int64, view: RecordView, sort: [Planner.SortPart], entity: EntityLayout) throws {
    self.id = id
    do {
      values = try sort.map { try view.value($0.position) }
    } catch {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
    }
  }

  func precedes(_ other: SortedRow, _ sort: [Planner.SortPart]) -> Bool {
    for (number, part) in sort.enumerated() {
      let order = values[number].compared(with: other.values[number]) ?? .same
      if order != .same { return (order == .ascending) != part.isDescending }
    }
    return id < other.id
  }
}

extension PredicateProgram {
  func matchesRecord(_ view: RecordView, _ entity: EntityLayout, _ id: Int64) throws -> Bool {
    do {
      return try matches(view)
    } catch {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
    }
  }
}

extension ReadTransaction {
  /// The records of the request, filtered, sorted and windowed.
  ///
  /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidRequest`, `requiresIndex`, `damaged`,
  ///   `storage`. Never a part of the answer.
  public func fetch(_ request: FetchRequest) throws -> [Record] {
    var records: [Record] = []
    var execution = try FetchExecution(request, in: self)
    let entity = execution.entity
    try execution.run { id, view in
      records.append(try record(view, id: id, in: entity))
      return true
    }
    return records
  }

  /// Calls the closure with each record in turn, until it returns `false`: memory is bounded by
  /// one record where an index gives the order.
  @discardableResult
  public func forEach(
    _ request: FetchRequest, _ body: (Record) throws -> Bool
  ) throws -> FetchStatistics {
    var execution = try FetchExecution(request, in: self)
    let entity = execution.entity
    try execution.run { id, view in try body(try record(view, id: id, in: entity)) }
    return execution.statistics
  }

  /// The identities of the records, without reading more of them than the filter needs.
  public func fetchIdentifiers(_ request: FetchRequest) throws -> [ObjectID] {
    var identifiers: [ObjectID] = []
    var execution = try FetchExecution(request, in: self)
    try execution.run { id, _ in
      identifiers.append(ObjectID(entity: request.entityName, number: id))
      return true
    }
    return identifiers
  }

  /// The number of records that the request would return.
  public func count(_ request: FetchRequest) throws -> Int {
    var execution = try FetchExecution(request, in: self)
    return try execution.count()
  }

  /// How the request would be answered; nothing is read but the catalog.
  public func explain(_ request: FetchRequest) throws -> FetchPlan {
    try Planner.explain(request, entity: try catalog.entity(request.entityName))
  }
}
