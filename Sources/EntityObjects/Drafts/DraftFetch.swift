import EntityModel
import EntityStore

/// A fetch in a draft: the records of the store and those that the draft has changed are combined,
/// then sorted, then windowed.
///
/// The store's part is an ordinary fetch without the pending records. Those are tested with the
/// same predicate and are placed by the same sort keys.
struct DraftFetch {
  let entity: EntityLayout
  private let request: BoundRequest
  private let transaction: DraftTransaction
  private let pending: [Int64: PendingObject]
  /// True if the pending changes influence which records are returned and in which order.
  private let isOverlaid: Bool

  /// Prepares the fetch.
  ///
  /// - Throws: The errors of `ReadTransaction.fetch`.
  init(_ request: FetchRequest, in transaction: DraftTransaction) throws {
    try transaction.requireRecords(request)
    entity = try transaction.catalog.entity(request.entityName)
    isOverlaid = request.includesPendingChanges
    self.transaction = transaction
    self.request = try BoundRequest(request, entity, in: transaction)
    pending = transaction.overlay.entities[entity.name]?.objects ?? [:]
  }

  /// Calls the closure with each record of the window, in order, with the draft's values.
  func run(_ body: (Int64, RecordView) throws -> Void) throws {
    for id in try identifiers() {
      var view = try transaction.view(of: id, in: entity)
      // Without the pending changes, a record is returned even if the draft has deleted it.
      if view == nil, !isOverlaid { view = try transaction.storedView(of: id, in: entity) }
      guard let view else { continue }
      try entity.reading(id) { try body(id, view) }
    }
  }

  func identifiers() throws -> [Int64] {
    if isOverlaid, !pending.isEmpty { return try mergedIdentifiers() }
    var ids: [Int64] = []
    var execution = try FetchExecution(request, in: isOverlaid ? transaction : transaction.stored)
    try execution.run { row in
      ids.append(row.id)
      return true
    }
    return ids
  }

  private func mergedIdentifiers() throws -> [Int64] {
    guard request.limit > 0 else { return [] }
    var rows: [SortedRow] = []
    var execution = try FetchExecution(request.first(storedWindow), in: transaction)
    try execution.run { row in
      if pending[row.id] != nil { return true }
      rows.append(try SortedRow(row, sort: request.sort, in: transaction))
      return rows.count < request.windowEnd
    }
    try eachPendingMatch { row in
      rows.append(try SortedRow(row, sort: request.sort, in: transaction))
    }
    rows.sort { $0.precedes($1, request.sort) }
    return rows.dropFirst(request.offset).prefix(request.limit).map(\.id)
  }

  /// Returns the number of records in the window.
  ///
  /// - Complexity: That of an ordinary count, and O(*p*) for *p* pending records of the entity.
  func count() throws -> Int {
    guard isOverlaid, !pending.isEmpty else {
      var execution = try FetchExecution(
        request.counted, in: isOverlaid ? transaction : transaction.stored)
      return try execution.count()
    }
    var execution = try FetchExecution(request.counted.first(storedWindow), in: transaction)
    var matches = try execution.count()
    for id in pending.keys {
      guard let view = try transaction.storedView(of: id, in: entity) else { continue }
      try entity.reading(id) {
        if try isMatch(FetchRow(id: id, view: view)) { matches -= 1 }
      }
    }
    try eachPendingMatch { _ in matches += 1 }
    return max(0, min(matches, request.windowEnd) - request.offset)
  }

  /// The number of stored matches that fill the window even if all pending records drop out.
  private var storedWindow: Int {
    let (count, overflows) = request.windowEnd.addingReportingOverflow(pending.count)
    return overflows ? .max : count
  }

  private func eachPendingMatch(_ body: (FetchRow) throws -> Void) throws {
    for id in pending.keys {
      guard let view = try transaction.view(of: id, in: entity) else { continue }
      let row = FetchRow(id: id, view: view)
      try entity.reading(id) {
        if try isMatch(row) { try body(row) }
      }
    }
  }

  private func isMatch(_ row: FetchRow) throws -> Bool {
    try request.conjuncts.allSatisfy { try $0.program.matches(row, in: transaction) }
  }
}
