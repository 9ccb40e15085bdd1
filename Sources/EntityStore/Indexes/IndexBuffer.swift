import Foundation
import LMDB
import SystemSupport
import TextFormats

/// The changes to one index that a transaction has made, collected to be applied in key order.
///
/// Key order makes many changes cheap: neighboring keys lie in the same leaf page, and each leaf is
/// searched and copied once. The buffer is applied before anything reads the index.
///
/// A class, so that a change reaches its buffers without an exclusivity check on the object that
/// holds them.
package final class IndexBuffer {
  private struct Change {
    var offset: Int
    var length: Int32
    var isDelete: Bool
    var value: Int64
  }

  // SAFETY (for all `@exclusivity(unchecked)` properties): the buffer belongs to a write
  // transaction, and so to one thread; no access to a property runs code that accesses it again.
  @exclusivity(unchecked) private var keys = ByteBuffer()
  @exclusivity(unchecked) private var changes: [Change] = []

  /// The number of changes that were applied.
  @exclusivity(unchecked) private var changesApplied = 0

  /// The sizes of `keys` and `changes` at the last mark.
  @exclusivity(unchecked) private var markedKeys = 0
  @exclusivity(unchecked) private var markedChanges = 0

  /// The number of changes since the buffer was created, applied ones included.
  var changesAdded: Int { changesApplied + changes.count }

  /// Counts an entry that was inserted without the buffer.
  func countApplied() { changesApplied += 1 }

  /// The number of changes that are not applied yet.
  var changesWaiting: Int { changes.count }

  /// Returns true if the changes must be applied before the next change of a record.
  func isUrgent(isUnique: Bool) -> Bool {
    if changes.isEmpty { return false }
    return isUnique || keys.count + changes.count * 32 > StoreLimits.indexBufferBytesMax
  }

  /// Marks the present state, to return to it if a change cannot be completed.
  func mark() {
    markedKeys = keys.count
    markedChanges = changes.count
  }

  /// Removes the changes since the mark. None of them may have been applied.
  func removeAllAfterMark() {
    keys.truncate(to: markedKeys)
    changes.removeLast(changes.count - markedChanges)
  }

  /// Removes all changes, and keeps the memory of a few.
  func removeAll() {
    if keys.room > StoreLimits.idleBufferBytesMax {
      keys = ByteBuffer()
      changes = []
    }
    keys.truncate(to: 0)
    changes.removeAll(keepingCapacity: true)
    changesApplied = 0
    mark()
  }

  func put(_ key: UnsafeRawBufferPointer, objectID: Int64) {
    add(key, isDelete: false, objectID)
  }

  func delete(_ key: UnsafeRawBufferPointer) { add(key, isDelete: true, 0) }

  private func add(_ key: UnsafeRawBufferPointer, isDelete: Bool, _ value: Int64) {
    changes.append(
      Change(offset: keys.count, length: Int32(key.count), isDelete: isDelete, value: value))
    keys.append(key)
  }

  /// Applies the changes in key order; of several changes to one key the last counts.
  ///
  /// - Throws: `StorageError`; the transaction must then be aborted.
  func apply(to index: IndexLayout, in transaction: TreeWriter) throws {
    if changes.isEmpty { return }
    if changes.count == 1, !changes[0].isDelete {
      return try applyOnlyPut(to: index, in: transaction)
    }
    var cursor = try transaction.cursor(index.tree)
    try drain { key, isDelete, value in
      if isDelete {
        if try cursor.seek(exactly: key) != nil { try cursor.deleteCurrent() }
      } else {
        try IndexBuffer.withValue(value, of: index) { try cursor.put(key: key, value: $0) }
      }
    }
  }

  /// Applies a single insertion into a unique index. The cursor is at its place already, because
  /// the key was looked up just before.
  private func applyOnlyPut(
    to index: IndexLayout, in transaction: TreeWriter
  ) throws {
    try keys.withUnsafeBytes { key in
      try IndexBuffer.withValue(changes[0].value, of: index) {
        try transaction.put(index.tree, key: key, value: $0)
      }
    }
    keys.truncate(to: 0)
    changes.removeAll(keepingCapacity: true)
    changesApplied += 1
  }

  /// Calls the closure with the bytes of an entry's value.
  @inline(__always)
  private static func withValue(
    _ id: Int64, of index: IndexLayout, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if index.isUnique {
      try withUnsafeBytes(of: KeyWriter.ordered(id).bigEndian, body)
    } else {
      try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  /// Writes the changes to the side log of an index that is being built (for its bytes see
  /// `EntityBuild`).
  ///
  /// - Throws: As `apply`.
  func apply(toSideLog sideLog: Tree, in transaction: TreeWriter) throws {
    if changes.isEmpty { return }
    var cursor = try transaction.cursor(sideLog)
    try drain { key, isDelete, _ in
      try withUnsafeBytes(of: UInt8(isDelete ? 0 : 1)) { try cursor.put(key: key, value: $0) }
    }
  }

  /// Returns the numbers of the changes in the order of their keys; those with equal keys in
  /// ascending order.
  ///
  /// - Parameter key: Returns the key of the change with a number.
  @inline(__always)
  private static func order(
    _ changes: [Change], key: (Int) -> UnsafeRawBufferPointer
  ) -> [Int] {
    // The old keys of records that change one after the other are often in order, and the new
    // ones, too, but not both together.
    var deletes: [Int] = []
    var puts: [Int] = []
    deletes.reserveCapacity(changes.count)
    puts.reserveCapacity(changes.count)
    for (number, change) in changes.enumerated() {
      if change.isDelete { deletes.append(number) } else { puts.append(number) }
    }
    func isSorted(_ numbers: [Int]) -> Bool {
      var isSorted = true
      for place in numbers.indices.dropFirst() where isSorted {
        isSorted = compare(key(numbers[place - 1]), key(numbers[place])) <= 0
      }
      return isSorted
    }
    guard isSorted(deletes), isSorted(puts) else {
      return KeyOrder.sorted(deletes + puts, key: key)
    }
    var order: [Int] = []
    order.reserveCapacity(changes.count)
    var (nextDelete, nextPut) = (0, 0)
    while nextDelete < deletes.count, nextPut < puts.count {
      let (delete, put) = (deletes[nextDelete], puts[nextPut])
      let comparison = compare(key(delete), key(put))
      if comparison < 0 || comparison == 0 && delete < put {
        order.append(delete)
        nextDelete += 1
      } else {
        order.append(put)
        nextPut += 1
      }
    }
    order.append(contentsOf: deletes[nextDelete...])
    order.append(contentsOf: puts[nextPut...])
    return order
  }

  /// Calls the closure with the last change of each key, in key order, and empties the buffer.
  private func drain(
    _ body: (_ key: UnsafeRawBufferPointer, _ isDelete: Bool, _ value: Int64) throws -> Void
  ) throws {
    // The arrays are taken out during the loop and put back empty, so that their memory is used
    // again.
    var keys = ByteBuffer()
    var changes: [Change] = []
    swap(&keys, &self.keys)
    swap(&changes, &self.changes)
    changesApplied += changes.count
    defer {
      keys.truncate(to: 0)
      changes.removeAll(keepingCapacity: true)
      swap(&keys, &self.keys)
      swap(&changes, &self.changes)
    }
    try keys.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      // SAFETY: the bytes of each change were appended to `keys` when it was added.
      func key(_ change: Change) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + change.offset, count: Int(change.length))
      }
      let order = IndexBuffer.order(changes) { key(changes[$0]) }
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
