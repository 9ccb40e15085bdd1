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

  // MARK: Unchecked bytes

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
