package import EntityModel
import LMDB

extension WriteTransaction {
  /// Inserts a row that has the default values except for the given changes. The defaults are
  /// neither validated nor encoded again.
  ///
  /// - Throws: As `insert` of a row.
  package func insert(_ changes: RowChanges, into entity: EntityLayout) throws -> Int64 {
    // A reference has to be validated and given a place among its links, and a required value that
    // is missing has to be reported: the general insert does both.
    guard entity.references.isEmpty, keepsRules,
      try self.changes(of: entity).rules.unfilled.allSatisfy({ changes[$0] != nil })
    else { return try insert(changes.laid(over: entity.newRow()), into: entity) }
    let id = try nextID(of: entity)
    try check(changes, id: id, in: entity)
    entity.encode(changes, into: &scratch.record)
    try putEncoded(id: id, old: nil, in: entity)
    try self.changes(of: entity).nextID = id + 1
    return id
  }

  /// Changes some values of a record. The other values are neither decoded nor validated again, and
  /// their bytes are copied.
  ///
  /// - Throws: `missingRecord`; `damaged`; else as `insert`.
  package func update(_ changes: RowChanges, id: Int64, in entity: EntityLayout) throws {
    guard let old = try view(of: id, in: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    try update(changes, id: id, old: old, in: entity)
  }

  /// Changes some values of a record whose view the caller has.
  ///
  /// - Parameter old: The record as it is stored now; not valid after the call.
  package func update(
    _ changes: RowChanges, id: Int64, old: RecordView, in entity: EntityLayout
  ) throws {
    do {
      // A record of an older layout is rewritten as a whole, and a changed reference also changes
      // the place of its link.
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
    try putEncoded(id: id, old: old, marks: changes.marks, in: entity)
  }

  /// Writes the values that were set in a copy of a record.
  ///
  /// - Throws: `missingRecord`; `damaged`; else as `insert`.
  package func update(_ row: RowCopy, id: Int64, in entity: EntityLayout) throws {
    let copied = scratch.copied?.view(of: id, in: entity, at: writing.writes)
    guard let old = try copied ?? view(of: id, in: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    // The other values of a copy are those of the record only if nothing was written since.
    guard row.step == step, entity.references.isEmpty else {
      return try update(row.changes, id: id, old: old, in: entity)
    }
    try check(row, id: id, in: entity)
    try row.withBytes { try putEncoded($0, id: id, old: old, marks: row.marks, in: entity) }
  }

  private func check(_ changes: RowChanges, id: Int64, in entity: EntityLayout) throws {
    let validator = try self.changes(of: entity).rules.validator
    if let (position, failure) = validator.failure(in: changes, keepsRules: keepsRules) {
      throw StoreError.validation(failure, at: position, of: id, in: entity)
    }
  }

  /// Validates the values that were set in a copy.
  func check(_ row: RowCopy, id: Int64, in entity: EntityLayout) throws {
    let changes = try changes(of: entity)
    let marks = row.marks & changes.rules.examined & (row.doubtful | changes.rules.ruled)
    if marks != 0 { try row.withView { try check($0, marks, id: id, in: entity) } }
  }

  /// Validates the values at the marked positions.
  func check(_ view: RecordView, _ marks: UInt64, id: Int64, in entity: EntityLayout) throws {
    let changes = try changes(of: entity)
    try entity.eachPosition(of: marks & changes.rules.examined) { position in
      let field = view.field(position)
      let hasRules = changes.rules.ruled & RowChanges.mark(position) != 0
      if !hasRules, !field.isNull, !field.mayBeNaN { return }
      let validator = changes.rules.validator
      if field.kind.isText, !field.isNull,
        validator.isSurelyValid(field.kind, byteCount: try field.bytes().count, at: position)
      {
        return
      }
      let value = try field.value()
      if let failure = validator.failure(of: value, at: position, keepsRules: keepsRules) {
        throw StoreError.validation(failure, at: position, of: id, in: entity)
      }
    }
  }
}
