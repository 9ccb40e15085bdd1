import LMDB

/// Appends sorted keys to an index under construction, which is many times as fast as inserting
/// them in record order.
///
/// Keys have the record id at their end, also those of a unique index. So records with equal values
/// are neighbors: the first gets the index entry, and the others are added to the side log. They
/// are checked again when the side log is applied, because the values may have changed by then.
///
/// Must not outlive the transaction.
package struct IndexAppender: ~Copyable {
  private let index: IndexLayout
  private let sideLog: Tree
  private let writing: TreeWriter
  private var cursor: Cursor
  /// The last key that was added; empty before the first.
  package private(set) var lastKey: [UInt8]
  /// The bytes of the entries that were added.
  package private(set) var bytes = 0

  init(
    _ index: IndexLayout, sideLog: Tree, after last: [UInt8]?, in writing: TreeWriter
  ) throws {
    self.index = index
    self.sideLog = sideLog
    self.writing = writing
    cursor = try writing.cursor(index.tree)
    lastKey = last ?? []
  }

  /// Adds a key, which must be greater than the last one.
  ///
  /// - Throws: `StorageError`, with `.keyInvalid` for a key that is not greater.
  package mutating func append(_ key: UnsafeRawBufferPointer) throws {
    if !index.isUnique {
      try cursor.append(key: key, value: UnsafeRawBufferPointer(start: nil, count: 0))
    } else if hasSameValues(key) {
      try withUnsafeBytes(of: UInt8(1)) { try writing.put(sideLog, key: key, value: $0) }
    } else {
      try cursor.append(key: EntryKey.values(key), value: EntryKey.idBytes(key))
    }
    bytes += key.count + Self.entryOverhead
    lastKey.removeAll(keepingCapacity: true)
    lastKey.append(contentsOf: key)
  }

  /// The bytes of LMDB's header and offset of an entry.
  private static let entryOverhead = 10

  /// Returns true if a key differs from the last one in the record id alone.
  private func hasSameValues(_ key: UnsafeRawBufferPointer) -> Bool {
    lastKey.withUnsafeBytes { last in
      last.count == key.count && compare(EntryKey.values(key), EntryKey.values(last)) == 0
    }
  }
}

/// The parts of an index key that has the record id at its end.
enum EntryKey {
  /// Returns the key without the record id.
  static func values(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[..<(key.count - 8)])
  }

  static func idBytes(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[(key.count - 8)...])
  }

  static func id(_ key: UnsafeRawBufferPointer) -> Int64 {
    let bits = idBytes(key).loadUnaligned(as: UInt64.self)
    return Int64(bitPattern: UInt64(bigEndian: bits) ^ 0x8000_0000_0000_0000)
  }
}
