import EntityModel
import LMDB

extension WriteTransaction {
  /// Writes, replaces or deletes a record together with its index entries.
  ///
  /// All changes of records and index entries come through here, so that the two always agree. `old
  /// == nil` is an insert, `new == nil` a delete. Only the entries whose keys differ are written.
  /// Every check precedes the first write, so an error leaves the transaction unchanged.
  ///
  /// - Parameter old: A view of the bytes that are stored now under `id`.
  /// - Parameter new: The record in the current layout.
  /// - Parameter marks: The marks (see `RowChanges`) of the positions in which the two may differ.
  ///   Indexes on other attributes are skipped.
  /// - Complexity: O(*i* · log *n*) for *i* indexes whose keys change.
  package func replace(
    old: RecordView?, new: UnsafeRawBufferPointer?, id: Int64, marks: UInt64 = .max,
    in entity: EntityLayout
  ) throws {
    assert(old != nil || new != nil)
    let newView = try new.map { bytes in
      guard let view = entity.record.view(of: bytes) else {
        throw StoreError.damaged("a new record is unreadable", entity: entity.name, id: id)
      }
      return view
    }
    let changes = try changes(of: entity)
    let affectsIndexes = entity.indexMarks & marks != 0 || entity.build != nil
    if affectsIndexes { changes.mark() }
    let historyMark = scratch.history.mark
    do {
      if affectsIndexes {
        try collect(
          changes, &scratch.oldKey, &scratch.newKey, entity, id: id, old: old, new: newView,
          marks: marks)
      }
      if let build = entity.build {
        try recordInSideLogs(build, id: id, old: old, new: newView, changes)
      }
      // The first write. It is the check, too, so that the key is searched once.
      if old == nil, let newView, let index = entity.onlyUniqueIndex {
        try insert(newView, into: index, changes, &scratch.newKey, entity, id: id)
      }
      try log(old: old, new: newView, id: id, marks: marks, entity)
    } catch {
      if affectsIndexes { changes.removeAllAfterMark() }
      scratch.history.removeAll(after: historyMark)
      if error is RecordDamage {
        throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
      }
      throw error
    }
    changes.dirtyRecords.countRecord(old: old?.base, bytes: new?.count ?? 0)
    // `old` must not be used after this line: a write may reuse its page.
    try writeRecord(new, id: id, isNew: old == nil, in: entity)
    if affectsIndexes { try changes.applyUrgent(in: writing) }
  }

  /// Writes a record without updating indexes or the change history. Only attributes that no
  /// reader, no index and no history uses yet may differ: those that a migration step fills.
  package func fill(_ new: UnsafeRawBufferPointer, id: Int64, in entity: EntityLayout) throws {
    // A step fills records in the order of their ids, and so page by page.
    try changes(of: entity).dirtyRecords.countRecord(old: nil, bytes: new.count)
    try writeRecord(new, id: id, isNew: false, in: entity)
  }

  /// Records the change in the side log of an index or attribute that is being built.
  private func recordInSideLogs(
    _ build: BuildLayout, id: Int64, old: RecordView?, new: RecordView?, _ changes: EntityChanges
  ) throws {
    if build.recordSideLog != nil, !isBuilding { changes.changedIDs.append(id) }
    for (number, (index, _)) in build.indexes.enumerated() {
      if let old, let new, try hasSameKey(index, of: old, and: new, id: id) { continue }
      if let old {
        try index.eachKey(of: old, id: id, endsInIdentity: true, writer: &scratch.oldKey) {
          changes.sideLogBuffers[number].delete($0)
        }
      }
      if let new {
        try index.eachKey(of: new, id: id, endsInIdentity: true, writer: &scratch.newKey) {
          changes.sideLogBuffers[number].put($0, objectID: id)
        }
      }
    }
  }

  /// Returns true if the change leaves the record's entry in the index unchanged. An index on a
  /// list always gives `false`.
  private func hasSameKey(
    _ index: IndexLayout, of old: RecordView, and new: RecordView, id: Int64
  ) throws -> Bool {
    if index.listPart != nil { return false }
    var entries = 0
    try index.eachKey(of: old, id: id, writer: &scratch.oldKey) { _ in entries += 1 }
    try index.eachKey(of: new, id: id, writer: &scratch.newKey) { _ in entries += 1 }
    return entries == 2 && compare(scratch.oldKey.bytes, scratch.newKey.bytes) == 0
  }

  /// Adds the change to the change history, in the same transaction.
  private func log(
    old: RecordView?, new: RecordView?, id: Int64, marks: UInt64, _ entity: EntityLayout
  ) throws {
    guard let tree = catalog.historyTree, !isBuilding, entity.history.isRecorded else { return }
    guard recordsHistory else { return scratch.history.addUnrecorded(entity) }
    try scratch.history.add(old: old, new: new, id: id, marks: marks, in: entity)
    try scratch.history.writeIfLarge(
      to: tree, isSealed: catalog.isSealed, in: writing)
  }

  /// Buffers the index changes of a record. The key writers are parameters because each access to
  /// them through their object would be checked for exclusivity.
  ///
  /// Not inlined: in a caller of that size, the compiler no longer inlines the writing of keys.
  @inline(never)
  private func collect(
    _ changes: EntityChanges, _ oldKey: inout KeyWriter, _ newKey: inout KeyWriter,
    _ entity: EntityLayout, id: Int64, old: RecordView?, new: RecordView?, marks: UInt64
  ) throws {
    let inserted = old == nil ? entity.onlyUniqueIndex : nil
    for number in entity.indexes.indices where entity.marksByIndex[number] & marks != 0 {
      let index = entity.indexes[number]
      if index === inserted { continue }
      if index.listPart != nil {
        try collectList(
          changes.buffers[index.number], &oldKey, &newKey, index, entity, id: id, old: old, new: new
        )
        continue
      }
      var hasOld = false
      var hasNew = false
      if let old { try index.eachKey(of: old, id: id, writer: &oldKey) { _ in hasOld = true } }
      if let new { try index.eachKey(of: new, id: id, writer: &newKey) { _ in hasNew = true } }
      if hasOld, hasNew, compare(oldKey.bytes, newKey.bytes) == 0 { continue }
      if hasNew, index.isUnique { try checkUnique(newKey.bytes, index, entity, id: id) }
      if hasOld { changes.buffers[index.number].delete(oldKey.bytes) }
      if hasNew { changes.buffers[index.number].put(newKey.bytes, objectID: id) }
    }
  }

  /// Adds a new record to the only unique index.
  ///
  /// - Throws: `uniqueViolation` if the index has the key; nothing is changed then.
  private func insert(
    _ record: RecordView, into index: IndexLayout, _ changes: EntityChanges,
    _ key: inout KeyWriter, _ entity: EntityLayout, id: Int64
  ) throws {
    var hasKey = false
    try index.eachKey(of: record, id: id, writer: &key) { _ in hasKey = true }
    guard hasKey else { return }
    try writing.pinCursor(in: index.tree)
    let found = try withUnsafeBytes(of: KeyWriter.ordered(id).bigEndian) {
      try writing.insert(index.tree, key: key.bytes, value: $0)
    }
    guard let found else { return changes.buffers[index.number].countApplied() }
    if let holder = index.objectID(key: key.bytes, value: found), holder != id {
      throw StoreError.uniqueViolation(of: index, in: entity, id: id, holder: holder)
    }
  }

  private func collectList(
    _ buffer: IndexBuffer, _ oldKey: inout KeyWriter, _ newKey: inout KeyWriter,
    _ index: IndexLayout, _ entity: EntityLayout, id: Int64, old: RecordView?, new: RecordView?
  ) throws {
    var oldKeys: Set<[UInt8]> = []
    var newKeys: Set<[UInt8]> = []
    if let old {
      try index.eachKey(of: old, id: id, writer: &oldKey) { oldKeys.insert(Array($0)) }
    }
    if let new {
      try index.eachKey(of: new, id: id, writer: &newKey) { newKeys.insert(Array($0)) }
    }
    for key in newKeys.subtracting(oldKeys) where index.isUnique {
      try key.withUnsafeBytes { try checkUnique($0, index, entity, id: id) }
    }
    for key in oldKeys.subtracting(newKeys) { key.withUnsafeBytes { buffer.delete($0) } }
    for key in newKeys.subtracting(oldKeys) {
      key.withUnsafeBytes { buffer.put($0, objectID: id) }
    }
  }

  private func checkUnique(
    _ key: UnsafeRawBufferPointer, _ index: IndexLayout, _ entity: EntityLayout, id: Int64
  ) throws {
    // The put follows soon and at the same place, so the cursor stays there.
    try writing.pinCursor(in: index.tree)
    guard let value = try transaction.get(index.tree, key),
      let holder = index.objectID(key: key, value: value), holder != id
    else { return }
    throw StoreError.uniqueViolation(of: index, in: entity, id: id, holder: holder)
  }

  /// Writes or deletes a record, and gives it its seal.
  private func writeRecord(
    _ new: UnsafeRawBufferPointer?, id: Int64, isNew: Bool, in entity: EntityLayout
  ) throws {
    scratch.step += 1
    let seal = new.flatMap { entity.record.seal(of: $0, id: id) }
    try RecordKey.with(id) { key in
      guard let new else {
        try writing.delete(entity.tree, key: key)
        return
      }
      // A new record mostly has the greatest id. An append fills pages completely, while a put that
      // begins a new page moves a record to it, which is one record in nine.
      if isNew, try writing.appendIfGreatest(entity.tree, key: key, value: new, ending: seal) {
        return
      }
      try writing.put(entity.tree, key: key, value: new, ending: seal)
    }
  }
}

extension StoreError {
  /// Returns the error for two records with the same values in a unique index.
  ///
  /// - Parameter holder: The record that has the values.
  package static func uniqueViolation(
    of index: IndexLayout, in entity: EntityLayout, id: Int64, holder: Int64
  ) -> StoreError {
    StoreError(
      .uniqueViolation, "another record has the same unique values",
      [
        ("entity", entity.name), ("index", index.description.name),
        ("attributes", entity.description.keyText(of: index.description)),
        ("record", String(holder)),
      ], object: ObjectID(entity: entity.name, number: id),
      property: index.parts.map { entity.description.attributes[$0.position].name }
        .joined(separator: ", "))
  }
}
