import EntityModel

extension WriteTransaction {
  /// Inserts a row of defaults with other values here and there.
  package func insert(_ changes: RowChanges, into entity: EntityLayout) throws -> Int64 {
    try insert(changes.laid(over: entity.newRow()), into: entity)
  }

  /// Changes some values of a record. The others are neither decoded nor judged again, and keep their
  /// bytes.
  ///
  /// - Throws: `missingRecord`; `damaged`; else as `insert`.
  package func update(_ changes: RowChanges, id: Int64, in entity: EntityLayout) throws {
    guard let old = try view(of: id, in: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    do {
      // A record of an older layout moves to the current one as a whole, and a reference takes the
      // place of its link along.
      guard entity.record.isCurrent(old),
        !entity.references.contains(where: { $0.isTouched(by: changes) })
      else {
        let row = changes.laid(over: try old.values())
        return try update(row, id: id, old: old, in: entity)
      }
      try check(changes, id: id, in: entity)
      try entity.encode(changes, over: old, into: &scratch.record)
    } catch is RecordDamage {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
    }
    try putEncoded(id: id, old: old, in: entity)
  }

  private func check(_ changes: RowChanges, id: Int64, in entity: EntityLayout) throws {
    let validator = try self.changes(of: entity).validator
    for (position, value) in changes.entries {
      if let failure = validator.failure(of: value, at: position, keepsRules: keepsRules) {
        throw StoreError.validation(failure, at: position, of: id, in: entity)
      }
    }
  }
}
