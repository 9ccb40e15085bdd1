import EntityModel
import Foundation
import LMDB

/// The changes of one transaction, encoded as the tree `history` stores them.
///
/// A transaction has a sequence number of its own, one more than that of the transaction before it,
/// and one part or several, so that parts fit into leaf pages:
///
///     key     8  sequence, big-endian       4  number of the part, big-endian, from 0
///     value of part 0:  1  layout of what follows: 1
///                       8  time: seconds since 2001 as IEEE double, little-endian
///                       v  bytes of the author + 1, or 0 without one; then the author
///                       changes
///     of the others:    changes
///
///     change  v  entity's id * 4 + kind     kind: 0 insert, 1 update, 2 delete, 3 unrecorded
///             s  record id less that of the change before it in this part (at first less 0);
///                not with kind 3: the entity has changed; the records are not stored
///             of an update:            v count, then for each property v id * 2, + 1 for a
///                                      relationship; then values
///             of a delete:             values
///     values  v  count, then for each:  v attribute's id   1 kind   v bytes, then as in a record
///
/// In a store with seals each part ends with one (see `HistorySeal`).
///
/// `v` is an unsigned `Varint`, `s` a signed one. What a part holds can be read without the others.
///
/// Belongs to the writer queue, like the transaction.
struct HistoryLog {
  /// The maximum size of a part: two of them fill a leaf page. Most changes take less than 20
  /// bytes.
  private static let partBytes = 1_750
  /// The maximum memory for a transaction's changes before they are written.
  private static let bufferedBytesMax = 4 << 20

  private var bytes: [UInt8] = []
  /// The offsets at which the parts begin.
  private var starts: [Int] = []
  /// A part with its seal.
  private var sealedPart: [UInt8] = []
  private var previousID: Int64 = 0
  private var changed: [Int] = []
  /// The values that are stored with the current change.
  private var kept: [KeptValue] = []
  /// The entities with a change that was not recorded.
  private var unrecorded: Set<Int> = []
  /// The transaction's number, once parts have been written.
  private(set) var sequence: Int64?
  private(set) var partsWritten = 0
  private var author: String?
  private var time = 0.0

  /// A value of the record that is being changed, read in place.
  private struct KeptValue {
    let attributeID: Int
    let kind: UInt8
    let bytes: UnsafeRawBufferPointer
  }

  /// A position to return to when changes are undone.
  struct Mark {
    fileprivate let partsWritten: Int
    fileprivate let bytes: Int
    fileprivate let starts: Int
    fileprivate let previousID: Int64
    fileprivate let unrecorded: Set<Int>
  }

  mutating func begin(author: String?, at date: Date) {
    self.author = author.map(HistoryLog.kept(of:))
    time = date.timeIntervalSinceReferenceDate
    clear()
    sequence = nil
    partsWritten = 0
    unrecorded = []
  }

  var mark: Mark {
    Mark(
      partsWritten: partsWritten, bytes: bytes.count, starts: starts.count,
      previousID: previousID, unrecorded: unrecorded)
  }

  /// Removes the changes after the mark. Changes that have been written by then stay, and the
  /// changes that undo them must be recorded, too.
  mutating func removeAll(after mark: Mark) {
    guard mark.partsWritten == partsWritten else { return }
    bytes.removeLast(bytes.count - mark.bytes)
    starts.removeLast(starts.count - mark.starts)
    previousID = mark.previousID
    unrecorded = mark.unrecorded
  }

  // MARK: Changes

  /// Records the change of a record. A change without a different value is ignored.
  ///
  /// - Parameter marks: The positions in which the two may differ, as in `RowChanges`.
  mutating func add(
    old: RecordView?, new: RecordView?, id: Int64, marks: UInt64 = .max,
    in entity: EntityLayout
  ) throws(RecordDamage) {
    let shape = entity.history
    for end in shape.linkEnds {
      // A link is not visible as a record in the history: the records at its ends have changed.
      guard let view = new ?? old else { continue }
      let field = view.field(end.position)
      if field.isNull { continue }
      append(.update, entityID: end.entityID, id: field.int64)
      Varint.append(1, to: &bytes)
      Varint.append(end.relationshipID * 2 + 1, to: &bytes)
      Varint.append(0, to: &bytes)
    }
    guard shape.isKept else { return }
    switch (old, new) {
    case (nil, _): append(.insert, entityID: shape.entityID, id: id)
    case (let old?, nil):
      append(.delete, entityID: shape.entityID, id: id)
      try appendValues(of: old, shape, upTo: StoreLimits.historyValueBytesMax)
    case (let old?, let new?): try addUpdate(old, new, id, marks, shape)
    }
  }

  /// Records that an entity has changed, without the changed records.
  mutating func addUnrecorded(_ entity: EntityLayout) {
    let shape = entity.history
    for end in shape.linkEnds { addUnrecorded(entityID: end.entityID) }
    if shape.isKept { addUnrecorded(entityID: shape.entityID) }
  }

  private mutating func addUnrecorded(entityID: Int) {
    guard unrecorded.insert(entityID).inserted else { return }
    beginPartIfFull()
    Varint.append(entityID * 4 + HistoryKind.unrecorded.rawValue, to: &bytes)
  }

  // Not inlined, for the same reason as `WriteTransaction.collect`.
  @inline(never)
  private mutating func addUpdate(
    _ old: RecordView, _ new: RecordView, _ id: Int64, _ marks: UInt64, _ shape: HistoryShape
  ) throws(RecordDamage) {
    changed.removeAll(keepingCapacity: true)
    // A mark stands for every 64th position.
    for first in stride(from: 0, to: new.attributeCount, by: 64) {
      let count = min(64, new.attributeCount - first)
      var rest = count == 64 ? marks : marks & (1 << UInt64(count) - 1)
      while rest != 0 {
        let position = first + rest.trailingZeroBitCount
        rest &= rest - 1
        let isSame = try old.field(position).isSame(as: new.field(position))
        if !isSame { changed.append(position) }
      }
    }
    if changed.isEmpty { return }
    append(.update, entityID: shape.entityID, id: id)
    Varint.append(changed.count, to: &bytes)
    for position in changed { Varint.append(shape.attributeIDs[position] * 2, to: &bytes) }
    guard shape.keepsValues else {
      bytes.append(0)
      return
    }
    let positions = changed
    try appendValues(of: old, shape, among: positions)
  }

  /// Appends the values that are stored: those of attributes with `keepHistory`, and those of at
  /// most so many bytes.
  private mutating func appendValues(
    of view: RecordView, _ shape: HistoryShape, among positions: [Int]? = nil,
    upTo bytesMax: Int = -1
  ) throws(RecordDamage) {
    // The pointers are not valid after the call.
    defer { kept.removeAll(keepingCapacity: true) }
    var room = Varint.byteCountMax
    for number in 0..<(positions?.count ?? view.attributeCount) {
      let position = positions?[number] ?? number
      let field = view.field(position)
      if field.isNull { continue }
      let stored = try field.storedBytes()
      guard stored.count <= bytesMax || shape.areValuesKept[position] else { continue }
      room += 2 * Varint.byteCountMax + 1 + stored.count
      kept.append(
        KeptValue(
          attributeID: shape.attributeIDs[position], kind: HistoryKind.code(of: field.kind),
          bytes: stored))
    }
    var end = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: room))
    bytes.withUnsafeMutableBytes { bytes in
      Varint.write(kept.count, to: bytes, at: &end)
      for value in kept {
        Varint.write(value.attributeID, to: bytes, at: &end)
        bytes[end] = value.kind
        end += 1
        Varint.write(value.bytes.count, to: bytes, at: &end)
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyMemory(from: value.bytes)
        end += value.bytes.count
      }
    }
    bytes.removeLast(bytes.count - end)
  }

  private mutating func append(_ kind: HistoryKind, entityID: Int, id: Int64) {
    beginPartIfFull()
    Varint.append(entityID * 4 + kind.rawValue, to: &bytes)
    Varint.appendSigned(id &- previousID, to: &bytes)
    previousID = id
  }

  private mutating func beginPartIfFull() {
    if let start = starts.last {
      if bytes.count - start < HistoryLog.partBytes { return }
    } else if partsWritten == 0 {
      starts.append(0)
      appendHeader()
      return
    }
    starts.append(bytes.count)
    previousID = 0
  }

  private mutating func appendHeader() {
    bytes.append(1)
    withUnsafeBytes(of: time.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    guard let author else { return Varint.append(0, to: &bytes) }
    Varint.append(author.utf8.count + 1, to: &bytes)
    bytes.append(contentsOf: author.utf8)
  }

  /// Returns the part of an author that is stored: whole characters.
  static func kept(of author: String) -> String {
    if author.utf8.count <= StoreLimits.historyAuthorBytesMax { return author }
    var name = author.prefix(StoreLimits.historyAuthorBytesMax)
    while name.utf8.count > StoreLimits.historyAuthorBytesMax { name.removeLast() }
    return String(name)
  }

  // MARK: Writing

  /// Writes the recorded changes if they have become large.
  mutating func writeIfLarge(
    to tree: Tree, isSealed: Bool, in transaction: TreeWriter
  ) throws {
    if bytes.count > HistoryLog.bufferedBytesMax {
      try write(to: tree, isSealed: isSealed, in: transaction)
    }
  }

  /// Writes the recorded changes.
  mutating func write(to tree: Tree, isSealed: Bool, in transaction: TreeWriter) throws {
    if starts.isEmpty { return }
    let number = try sequence ?? HistoryTree(tree: tree, transaction: transaction).last() + 1
    sequence = number
    var ends = starts.dropFirst()
    ends.append(bytes.count)
    try bytes.withUnsafeBytes { bytes in
      for (start, end) in zip(starts, ends) {
        let key = HistoryKey(sequence: number, part: UInt32(partsWritten))
        let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        if isSealed {
          sealedPart.removeAll(keepingCapacity: true)
          sealedPart.append(contentsOf: part)
          HistorySeal.append(to: &sealedPart, of: key)
        }
        try key.withBytes { keyBytes in
          guard isSealed else { return try transaction.append(tree, key: keyBytes, value: part) }
          try sealedPart.withUnsafeBytes {
            try transaction.append(tree, key: keyBytes, value: $0)
          }
        }
        partsWritten += 1
      }
    }
    clear()
  }

  private mutating func clear() {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    previousID = 0
  }
}
