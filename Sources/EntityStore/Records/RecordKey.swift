import LMDB

extension ReadTransaction {
  /// Returns the greatest record id of the entity; `nil` if it has no records.
  package func lastNumber(of entity: EntityLayout) throws -> Int64? {
    var cursor = try transaction.cursor(entity.tree)
    return try cursor.last().flatMap { RecordKey.objectID($0.key) }
  }

  /// Returns the greatest record id below a given one; `nil` if there is none.
  ///
  /// - Complexity: O(log *n*).
  package func number(before number: Int64, of entity: EntityLayout) throws -> Int64? {
    var cursor = try transaction.cursor(entity.tree)
    return try RecordKey.with(number) { key in
      try cursor.seek(below: key).flatMap { RecordKey.objectID($0.key) }
    }
  }
}

/// The key of a record: its id as 8 bytes in native order, sign flipped, in an `MDB_INTEGERKEY`
/// tree. LMDB then compares words instead of bytes, which made short lists a quarter faster.
package enum RecordKey {
  @inline(__always)
  package static func with<R>(
    _ id: Int64, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    try withUnsafeBytes(of: KeyWriter.ordered(id), body)
  }

  @inline(__always)
  package static func objectID(_ key: UnsafeRawBufferPointer) -> Int64? {
    guard key.count == 8 else { return nil }
    return Int64(bitPattern: key.loadUnaligned(as: UInt64.self) ^ 0x8000_0000_0000_0000)
  }
}
