import EntityModel
import LMDB

/// A record as it is stored, readable or not.
///
/// Valid only inside the closure that `ReadTransaction.forEachStored` passes it to.
package struct StoredRecord {
  /// The record id; `nil` if the key itself is damaged.
  package let id: Int64?
  private let bytes: UnsafeRawBufferPointer
  private let entity: EntityLayout

  init(key: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer, entity: EntityLayout) {
    id = RecordKey.objectID(key)
    self.bytes = bytes
    self.entity = entity
  }

  /// The size of the record in bytes, without its key.
  package var byteCount: Int { bytes.count }

  /// Returns the record's values.
  ///
  /// - Throws: `damaged`, with entity and id.
  package func read() throws(StoreError) -> Record {
    guard let id else { throw .damaged("a record has an unreadable key", entity: entity.name) }
    guard let view = entity.record.view(of: bytes) else {
      throw .damaged("a record's header is unreadable", entity: entity.name, id: id)
    }
    do {
      return Record(
        id: ObjectID(entity: entity.name, number: id), layout: entity, values: try view.values())
    } catch {
      throw .damaged("a record is unreadable", entity: entity.name, id: id)
    }
  }
}

extension ReadTransaction {
  /// Calls the closure with every record of an entity in order of record id, until it returns
  /// `false`. Unlike a fetch, it does not stop at a damaged record: the closure gets the error when
  /// it reads that record. Memory is bounded by one record.
  ///
  /// - Parameter first: The id to begin with, or with the next one that exists.
  /// - Throws: `unknownEntity`, `storage`; the error of the closure.
  package func forEachStored(
    _ entity: String, from first: Int64? = nil, _ body: (StoredRecord) throws -> Bool
  ) throws {
    let entity = try catalog.entity(entity)
    var cursor = try transaction.cursor(entity.tree)
    var entry =
      if let first { try RecordKey.with(first) { try cursor.seek(atLeast: $0) } } else {
        try cursor.first()
      }
    while let found = entry {
      let record = StoredRecord(key: found.key, bytes: found.value, entity: entity)
      guard try body(record) else { return }
      entry = try cursor.next()
    }
  }
}
