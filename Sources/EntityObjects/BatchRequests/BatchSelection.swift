import EntityModel
import EntityStore
import SystemSupport

/// The ids of the records that an update or a deletion scans, 8 bytes each.
struct BatchSelection: Sendable {
  let entityName: String
  let predicate: FetchPredicate?
  /// The ids in ascending order.
  let ids: [Int64]

  /// Selects the records after `last` that match in a new snapshot.
  init(
    _ entityName: String, _ predicate: FetchPredicate?, beyond last: Int64, in store: Store
  ) throws {
    self.entityName = entityName
    self.predicate = predicate
    ids = try store.read { transaction in
      var ids: [Int64] = []
      let request = FetchRequest(entityName: entityName, predicate: predicate)
      var execution = try FetchExecution(request, in: transaction)
      try execution.run { row in
        if row.id > last { ids.append(row.id) }
        return true
      }
      return ids
    }
  }

  /// Selects the given records after `last`.
  init(_ entityName: String, _ records: [ObjectID], beyond last: Int64) {
    self.entityName = entityName
    predicate = nil
    ids = Set(records.map(\.number)).filter { $0 > last }.sorted()
  }

  /// Returns the position of the first id greater than the given one.
  ///
  /// - Complexity: O(log *n*).
  func index(beyond id: Int64) -> Int {
    var (low, high) = (0, ids.count)
    while low < high {
      let middle = low + (high - low) / 2
      if ids[middle] > id { high = middle } else { low = middle + 1 }
    }
    return low
  }

  func contains(_ id: Int64) -> Bool {
    let index = index(beyond: id)
    return index > 0 && ids[index - 1] == id
  }
}

/// A selection bound to one transaction.
struct BoundSelection {
  let entity: EntityLayout
  private let filter: PredicateProgram?
  private let selection: BatchSelection
  private let transaction: WriteTransaction

  init(_ selection: BatchSelection, in transaction: WriteTransaction) throws {
    self.selection = selection
    self.transaction = transaction
    let entity = try transaction.catalog.entity(selection.entityName)
    let binder = Binder(.entity(entity), in: transaction)
    filter = try selection.predicate.map { try binder.bind($0) }
    self.entity = entity
  }

  /// Returns the record as this transaction sees it.
  ///
  /// - Returns: `nil` if the record is gone or no longer matches.
  func row(_ id: Int64) throws -> FetchRow? {
    guard let view = try transaction.view(of: id, in: entity) else { return nil }
    let row = FetchRow(id: id, view: view)
    do {
      if let filter, try !filter.matches(row, in: transaction) { return nil }
    } catch is RecordDamage {
      throw entity.unreadable(id)
    }
    return row
  }

  /// Returns true if a record belongs to the selection and still matches.
  func contains(_ id: Int64, of entity: String) throws -> Bool {
    guard entity == self.entity.name, selection.contains(id) else { return false }
    return try row(id) != nil
  }
}

extension BatchRun {
  /// Changes one record, and appends the ids of the selected records that were changed by it.
  typealias RecordChange = (FetchRow, inout BatchResult.Counts, inout [Int64]) throws -> Void

  /// Scans the records of a selection in chunks.
  ///
  /// - Parameter prepare: Called in the transaction of each chunk; returns the closure that changes
  ///   a record.
  func run(
    over selection: BatchSelection, _ resultType: BatchResultType,
    without options: Set<BatchOption>, progress: (@Sendable (BatchProgress) -> Void)?,
    prepare: @escaping @Sendable (BoundSelection, WriteTransaction) throws -> RecordChange
  ) async throws -> BatchResult {
    let changed = Locked<[ObjectID]>([])
    let total = start.done + Int64(selection.ids.count)
    let end = try await write.run(on: store, from: start) { committed in
      progress?(BatchProgress(done: committed.position.done, total: total))
    } step: { transaction, checkpoint, chunk in
      transaction.leaveOut(options)
      let bound = try BoundSelection(selection, in: transaction)
      let change = try prepare(bound, transaction)
      // The records of a chunk are mostly neighbors.
      return try store.readingAhead {
        var ids: [Int64] = []
        for id in selection.ids[selection.index(beyond: checkpoint.last)...] {
          if let row = try bound.row(id) {
            ids.removeAll(keepingCapacity: true)
            try change(row, &checkpoint.counts, &ids)
            chunk.add(rows: ids.count)
            if resultType == .identifiers {
              changed.withLock { changed in
                changed += ids.map { ObjectID(entity: bound.entity.name, number: $0) }
              }
            }
          }
          checkpoint.last = id
          checkpoint.done += 1
          // Checked after the record: however long the preparation took, each chunk changes at
          // least one.
          if !chunk.hasRoom { return true }
        }
        return false
      }
    }
    return BatchResult(
      resultType, end.position.counts, changed.withLock { $0 }, isResumed: isResumed)
  }
}
