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

  /// Returns the record's values, after a comparison of the record with its seal.
  ///
  /// - Throws: `damaged`, with entity and id.
  package func read() throws(StoreError) -> Record {
    guard let id else { throw .damaged("a record has an unreadable key", entity: entity.name) }
    guard let view = entity.record.view(of: bytes) else {
      throw .damaged("a record's header is unreadable", entity: entity.name, id: id)
    }
    try entity.verify(bytes, id: id)
    return try Record(view, id: id, of: entity)
  }
}

/// The key of a record: its id as 8 bytes in native order, sign flipped, in an `MDB_INTEGERKEY`
/// tree. LMDB then compares words instead of bytes, which made short lists a quarter faster.
package enum RecordKey {
  @inline(__always)
  package static func with<R>(
    _ id: Int64, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    try withUnsafeBytes(of: number(of: id), body)
  }

  @inline(__always)
  static func number(of id: Int64) -> UInt64 { KeyWriter.ordered(id) }

  @inline(__always)
  package static func objectID(_ key: UnsafeRawBufferPointer) -> Int64? {
    guard key.count == 8 else { return nil }
    return Int64(bitPattern: key.loadUnaligned(as: UInt64.self) ^ 0x8000_0000_0000_0000)
  }
}
