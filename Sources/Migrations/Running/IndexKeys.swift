import EntityModel
import EntityStore

/// The keys that the records of an entity have in an index under construction.
struct IndexKeys {
  let index: IndexLayout
  let entity: EntityLayout

  /// Calls the closure with the keys of all records after a given one, with the record id at their
  /// end.
  ///
  /// - Parameter hasRoom: Called after each record; `false` ends the call.
  /// - Returns: True if there are more records.
  func eachKey(
    after last: inout Int64, rows: inout Int64, in transaction: ReadTransaction,
    while hasRoom: () -> Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    var writer = KeyWriter()
    return try transaction.scanRecords(of: entity, after: last) { id, view in
      do {
        try index.eachKey(of: view, id: id, endsInIdentity: true, writer: &writer, body)
      } catch is RecordDamage {
        throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
      }
      last = id
      rows += 1
      return hasRoom()
    }
  }
}
