import EntityModel

/// The records that one call has changed, so that all changes can be undone if one is refused.
struct RecordChanges {
  private struct Change {
    let entity: EntityLayout
    let id: Int64
    /// The bytes of the record before the change; `nil` for a new record.
    let before: [UInt8]?
  }

  private let transaction: WriteTransaction
  private var changes: [Change] = []

  fileprivate init(_ transaction: WriteTransaction) { self.transaction = transaction }

  /// Sets some attributes of a record; writes nothing if they have these values already.
  mutating func assign(
    _ values: [(position: Int, value: Value)], to id: Int64, in entity: EntityLayout
  ) throws {
    guard let row = try transaction.row(id, of: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    let before = try row.values()
    var after = before
    for (position, value) in values { after[position] = value }
    if after == before { return }
    let bytes = Array(entity.record.storedBytes(of: row.view))
    try transaction.put(after, id: id, old: row.view, in: entity)
    changes.append(Change(entity: entity, id: id, before: bytes))
  }

  mutating func insert(_ row: [Value], into entity: EntityLayout) throws {
    let id = try transaction.insertResolved(row, into: entity)
    changes.append(Change(entity: entity, id: id, before: nil))
  }

  mutating func remove(_ id: Int64, from entity: EntityLayout) throws {
    guard let view = try transaction.view(of: id, in: entity) else { return }
    let bytes = Array(entity.record.storedBytes(of: view))
    try transaction.replace(old: view, new: nil, id: id, in: entity)
    changes.append(Change(entity: entity, id: id, before: bytes))
  }

  /// Undoes all changes, the last one first, so that each step leads to a state that existed
  /// before.
  fileprivate mutating func takeBack() throws {
    while let change = changes.popLast() {
      let now = try transaction.view(of: change.id, in: change.entity)
      if let before = change.before {
        try before.withUnsafeBytes {
          try transaction.replace(old: now, new: $0, id: change.id, in: change.entity)
        }
      } else if let now {
        try transaction.replace(old: now, new: nil, id: change.id, in: change.entity)
      }
    }
  }
}

extension WriteTransaction {
  /// Runs changes of several records. If one of them is refused, all are undone and the error is
  /// thrown.
  func together<R>(_ body: (inout RecordChanges) throws -> R) throws -> R {
    var changes = RecordChanges(self)
    let mark = scratch.history.mark
    do {
      return try body(&changes)
    } catch {
      try changes.takeBack()
      scratch.history.removeAll(after: mark)
      throw error
    }
  }
}
