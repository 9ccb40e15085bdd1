import EntityModel
import EntityStore
import LMDB

/// The keys that the records of an entity have in an index under construction.
struct IndexKeys {
  private let index: IndexLayout
  private let entity: EntityLayout

  init(_ index: IndexLayout, of entity: EntityLayout) {
    self.index = index
    self.entity = entity
  }

  /// Calls the closure with the keys of all records after a given one, with the record id at their
  /// end.
  ///
  /// - Parameter hasRoom: Called after each record; `false` ends the call.
  /// - Returns: True if there are more records.
  func eachKey(
    after last: inout Int64, rows: inout Int64, in transaction: TreeTransaction,
    while hasRoom: () -> Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    guard last < .max else { return false }
    var writer = KeyWriter()
    var cursor = try transaction.cursor(entity.tree)
    var entry = try RecordKey.with(last + 1) { try cursor.seek(atLeast: $0) }
    while let found = entry {
      guard let id = RecordKey.objectID(found.key), let view = entity.record.view(of: found.value)
      else { throw StoreError.damaged("a record is unreadable", entity: entity.name) }
      do {
        try index.eachKey(of: view, id: id, endsInIdentity: true, writer: &writer, body)
      } catch is RecordDamage {
        throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
      }
      last = id
      rows += 1
      if !hasRoom() { return true }
      entry = try cursor.next()
    }
    return false
  }
}
