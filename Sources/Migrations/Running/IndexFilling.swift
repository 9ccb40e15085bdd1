import EntityModel
import EntityStore

extension IndexConstruction {
  /// Adds the next keys, each greater than all before.
  ///
  /// - Parameter last: The last key that was added; `nil` before the first.
  /// - Returns: True if there are more keys.
  func append(
    _ keys: inout some SortedKeys & ~Copyable, after last: inout [UInt8]?, rows: inout Int64,
    while hasRoom: () -> Bool
  ) throws -> Bool {
    var appender = try appender(after: last)
    var isMore = true
    while isMore {
      isMore = try keys.withNext { key in
        guard let key else { return false }
        try appender.append(key)
        rows += 1
        return true
      }
      if isMore, !hasRoom() { break }
    }
    last = appender.lastKey
    try transaction.countAppended(bytes: appender.bytes, to: entity)
    return isMore
  }

  /// Applies the side log to the index until it is empty or there is no more room.
  ///
  /// - Returns: True if the side log has more entries.
  /// - Throws: `uniqueViolation` if records have equal values and the rule is `fail`.
  mutating func catchUp(
    _ rule: UniqueViolationRule, rows: inout Int64, while hasRoom: () -> Bool
  ) throws -> Bool {
    let conflict = UniqueConflict(
      entity: entity, index: index, rule: rule, transaction: transaction)
    return try catchUp(rows: &rows, while: hasRoom) { try conflict.resolve($0) }
  }
}

/// Resolves conflicts between records that have equal values in a unique index.
private struct UniqueConflict {
  let entity: EntityLayout
  let index: IndexLayout
  let rule: UniqueViolationRule
  let transaction: WriteTransaction

  /// Deletes all of the records but one, by the rule of the index.
  ///
  /// - Parameter holders: The ids in ascending order.
  /// - Returns: The record that is left.
  func resolve(_ holders: [Int64]) throws -> Int64 {
    let kept: Int64
    switch rule {
    case .fail: throw equalRecords(holders)
    case .keepNewest: kept = holders.last ?? 0
    case .keepOldest, .quarantine: kept = holders.first ?? 0
    }
    for id in holders where id != kept {
      let record = ObjectID(entity: entity.name, number: id)
      if rule == .quarantine {
        try Quarantine.keep(record, reason: "\(entity.name).\(index.description.name)", transaction)
      }
      let wasBuilding = transaction.isBuilding
      transaction.isBuilding = false
      defer { transaction.isBuilding = wasBuilding }
      try transaction.delete(record)
    }
    return kept
  }

  private func equalRecords(_ holders: [Int64]) -> StoreError {
    let names = index.parts.map { entity.description.attributes[$0.position].name }
    return StoreError(
      .uniqueViolation, "a unique index cannot be built: records have equal values",
      [
        ("entity", entity.name), ("index", index.description.name),
        ("records", holders.prefix(5).map(String.init).joined(separator: ", ")),
      ],
      advice: "remove the duplicates first, or give the step `onViolation`",
      object: ObjectID(entity: entity.name, number: holders[0]),
      property: names.joined(separator: ", "))
  }
}

/// Keys in ascending order, each once.
protocol SortedKeys: ~Copyable {
  /// Calls the closure with the next key, which is valid only during the call; `nil` at the end.
  mutating func withNext<R>(_ body: (UnsafeRawBufferPointer?) throws -> R) throws -> R
}

extension KeyMerge: SortedKeys {
  mutating func withNext<R>(_ body: (UnsafeRawBufferPointer?) throws -> R) throws -> R {
    try body(try next())
  }
}
