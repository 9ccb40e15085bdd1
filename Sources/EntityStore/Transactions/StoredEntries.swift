import EntityModel
import LMDB

/// The number of records of an entity, and the bytes of their tree.
package struct EntitySize: Sendable {
  package var records = 0
  package var bytes = 0

  package init(records: Int = 0, bytes: Int = 0) {
    self.records = records
    self.bytes = bytes
  }

  init(_ statistics: TreeStatistics) {
    self.init(records: statistics.entries, bytes: statistics.bytes)
  }
}

extension ReadTransaction {
  /// The number of the commit that a snapshot sees, or that a write transaction will be.
  package final var commitNumber: Int { transaction.id }

  /// Returns the size of an entity.
  ///
  /// - Complexity: O(1).
  package final func size(of entity: EntityLayout) throws -> EntitySize {
    EntitySize(try transaction.statistics(entity.tree))
  }

  /// Calls the closure with the stored records after a given one, in order of their ids, until it
  /// returns `false`. A view is valid only during the call, and until the closure writes. A write
  /// transaction may change and delete records of the entity during the scan.
  ///
  /// - Parameter last: The id after which the scan begins; `.min` for all records.
  /// - Returns: True if the closure has ended the scan; there may be more records then.
  /// - Throws: The errors of the closure; `damaged` for a record that is unreadable; a storage
  ///   failure.
  package final func scanRecords(
    of entity: EntityLayout, after last: Int64, _ body: (Int64, RecordView) throws -> Bool
  ) throws -> Bool {
    guard last < .max else { return false }
    // LMDB keeps the cursor at its position through every change of the tree.
    var cursor = try transaction.cursor(entity.tree)
    var entry = try RecordKey.with(last + 1) { try cursor.seek(atLeast: $0) }
    while let found = entry {
      guard let id = RecordKey.objectID(found.key), let view = entity.record.view(of: found.value)
      else { throw StoreError.damaged("a record is unreadable", entity: entity.name) }
      if try !body(id, view) { return true }
      entry = try cursor.next()
    }
    return false
  }

  // MARK: Unchecked bytes

  /// Calls the closure with the id and the bytes of every row of an entity, which may be damaged.
  /// The bytes are valid only during the call.
  ///
  /// - Parameter body: Its id is `nil` if the key is not that of a record.
  package final func scanRows(
    of entity: EntityLayout, _ body: (_ id: Int64?, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var cursor = try transaction.cursor(entity.tree)
    var entry = try cursor.first()
    while let found = entry {
      try body(RecordKey.objectID(found.key), found.value)
      entry = try cursor.next()
    }
  }

  /// Returns the bytes of a row, which may be damaged; `nil` if there is none. They are valid until
  /// the transaction ends or writes.
  package final func rowBytes(_ id: Int64, of entity: EntityLayout) throws
    -> UnsafeRawBufferPointer?
  {
    try RecordKey.with(id) { try transaction.get(entity.tree, $0) }
  }

  /// Calls the closure with the key of every entry of an index, which may be damaged, and with the
  /// id of the record that the entry leads to. The key is valid only during the call.
  ///
  /// - Parameter body: Its id is `nil` if the entry is too short to contain one.
  package final func scanEntries(
    of index: IndexLayout, _ body: (_ key: UnsafeRawBufferPointer, _ id: Int64?) throws -> Void
  ) throws {
    var cursor = try transaction.cursor(index.tree)
    var entry = try cursor.first()
    while let found = entry {
      try body(found.key, index.objectID(key: found.key, value: found.value))
      entry = try cursor.next()
    }
  }

  /// Returns the id of the record that the index entry with this key leads to; `nil` if there is no
  /// such entry.
  package final func recordID(at key: UnsafeRawBufferPointer, of index: IndexLayout) throws
    -> Int64?
  {
    try transaction.get(index.tree, key).flatMap { index.objectID(key: key, value: $0) }
  }
}
