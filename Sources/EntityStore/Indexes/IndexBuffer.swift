import Foundation
import LMDB

/// Changes to one index, collected through a transaction and applied in key order.
///
/// Key order is what makes a page of changes cheap: neighbors fall into the same leaf, and each
/// leaf is found and copied once. The buffer is empty again before anything reads the index.
struct IndexBuffer {
  private struct Change {
    var offset: Int
    var length: Int32
    var isDelete: Bool
    var value: Int64
  }

  private var keys: [UInt8] = []
  private var changes: [Change] = []

  var isEmpty: Bool { changes.isEmpty }
  var bytes: Int { keys.count + changes.count * 32 }

  /// A place to come back to when a change cannot be completed.
  struct Mark {
    fileprivate let keys: Int
    fileprivate let changes: Int
  }

  var mark: Mark { Mark(keys: keys.count, changes: changes.count) }

  mutating func removeAll(after mark: Mark) {
    keys.removeLast(keys.count - mark.keys)
    changes.removeLast(changes.count - mark.changes)
  }

  mutating func put(_ key: UnsafeRawBufferPointer, objectID: Int64) {
    add(key, isDelete: false, objectID)
  }

  mutating func delete(_ key: UnsafeRawBufferPointer) { add(key, isDelete: true, 0) }

  private mutating func add(_ key: UnsafeRawBufferPointer, isDelete: Bool, _ value: Int64) {
    changes.append(
      Change(offset: keys.count, length: Int32(key.count), isDelete: isDelete, value: value))
    keys.append(contentsOf: key)
  }

  /// Applies the changes in key order; of several to one key the last counts.
  ///
  /// - Throws: `LMDBError`; the transaction must then be aborted.
  mutating func apply(to index: IndexLayout, in transaction: LMDB.WriteTransaction) throws {
    if changes.isEmpty { return }
    var cursor = try transaction.cursor(index.tree)
    try drain { key, isDelete, value in
      if isDelete {
        if try cursor.seek(exactly: key) != nil { try cursor.deleteCurrent() }
      } else if index.isUnique {
        try withUnsafeBytes(of: KeyWriter.ordered(value).bigEndian) {
          try cursor.put(key: key, value: $0)
        }
      } else {
        try cursor.put(key: key, value: UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
  }

  /// Notes the changes for whoever builds the index (the bytes are drawn at `EntityBuild`).
  ///
  /// - Throws: As `apply`.
  mutating func apply(asNotesTo notes: Tree, in transaction: LMDB.WriteTransaction) throws {
    if changes.isEmpty { return }
    var cursor = try transaction.cursor(notes)
    try drain { key, isDelete, _ in
      try withUnsafeBytes(of: UInt8(isDelete ? 0 : 1)) { try cursor.put(key: key, value: $0) }
    }
  }

  /// Calls the closure with the last change of each key, in key order; none is left then.
  private mutating func drain(
    _ body: (_ key: UnsafeRawBufferPointer, _ isDelete: Bool, _ value: Int64) throws -> Void
  ) throws {
    defer {
      keys.removeAll(keepingCapacity: true)
      changes.removeAll(keepingCapacity: true)
    }
    let changes = self.changes
    try keys.withUnsafeBytes { bytes in
      func key(_ change: Change) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[change.offset..<change.offset + Int(change.length)])
      }
      let order = changes.indices.sorted { left, right in
        let comparison = compare(key(changes[left]), key(changes[right]))
        return comparison == 0 ? left < right : comparison < 0
      }
      for (rank, number) in order.enumerated() {
        let change = changes[number]
        if rank + 1 < order.count, compare(key(changes[order[rank + 1]]), key(change)) == 0 {
          continue
        }
        try body(key(change), change.isDelete, change.value)
      }
    }
  }
}
