package import EntityModel
package import Foundation

/// A copy of a record in the current layout, for code that knows the entity by positions.
/// Independent of any transaction.
///
/// A value is decoded when it is asked for. All values were checked when the copy was created, so
/// the decoding cannot fail.
package struct RowCopy: Sendable {
  let entity: EntityLayout
  private var bytes: [UInt8]
  /// The step at which the row was looked up: see `WriterScratch.step`.
  let step: Int
  /// The marks (see `RowChanges`) of the positions that were set.
  private(set) var marks: UInt64 = 0
  /// The marks of those among them that may break a rule which is not a range, a length or a
  /// pattern: the value is null or no number.
  private(set) var doubtful: UInt64 = 0

  /// The bytes by which a copy can grow without being moved.
  private static let room = 32

  init(_ view: RecordView, of entity: EntityLayout, at step: Int) throws(RecordDamage) {
    let canBeChanged = entity.record.canBeChanged(view)
    if !canBeChanged || !entity.record.isSurelyReadable(view) { try entity.record.check(view) }
    self.entity = entity
    self.step = step
    if canBeChanged {
      let stored = entity.record.storedBytes(of: view)
      bytes = []
      bytes.reserveCapacity(stored.count + RowCopy.room)
      bytes.append(contentsOf: stored)
    } else {
      bytes = []
      entity.encode(try view.values(), into: &bytes)
    }
  }

  /// Creates a copy from bytes that the encoder has written.
  init(_ bytes: [UInt8], of entity: EntityLayout) {
    self.entity = entity
    self.bytes = bytes
    step = 0
  }

  /// The size of the record in bytes.
  package var byteCount: Int { bytes.count }

  /// Calls the closure with the bytes of the record.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  /// The values that were set.
  var changes: RowChanges {
    var changes = RowChanges()
    entity.eachPosition(of: marks) { changes.set($0, to: value($0)) }
    return changes
  }

  // MARK: Setting

  // Values that are set are not validated.

  package mutating func set(_ value: Value, at position: Int) {
    switch value {
    case .int64(let number): set(number, at: position)
    case .string(let text): set(text, at: position)
    case .data(let data): set(data, at: position)
    case .null: setNull(at: position)
    default:
      let slot = place(position, for: value.kind)
      doubtful |= RowChanges.mark(position)
      RecordEncoder.replace(value, at: slot, in: &bytes)
    }
  }

  package mutating func setNull(at position: Int) {
    let slot = place(position, for: nil)
    doubtful |= RowChanges.mark(position)
    RecordEncoder.setNull(slot, in: &bytes)
  }

  package mutating func set(_ number: Int64, at position: Int) {
    store(UInt64(bitPattern: number), at: place(position, for: .int64))
  }

  package mutating func set(_ date: Date, at position: Int) {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds.isNaN { doubtful |= RowChanges.mark(position) }
    store(seconds.bitPattern, at: place(position, for: .date))
  }

  package mutating func set(_ text: String, at position: Int) {
    let slot = place(position, for: .string)
    var text = text
    text.withUTF8 { RecordEncoder.replace(slot, by: UnsafeRawBufferPointer($0), in: &bytes) }
  }

  package mutating func set(_ data: Data, at position: Int) {
    let slot = place(position, for: .data)
    data.withUnsafeBytes { RecordEncoder.replace(slot, by: $0, in: &bytes) }
  }

  /// Returns the place of a value that is about to be set.
  ///
  /// - Parameter kind: The kind of the value; `nil` for null.
  @inline(__always)
  private mutating func place(_ position: Int, for kind: ValueKind?) -> RecordLayout.Slot {
    let slot = entity.record.currentSlot(position)
    precondition(
      kind == nil || kind == slot.kind, "the value is of another kind than the attribute")
    marks |= RowChanges.mark(position)
    return slot
  }

  @inline(__always)
  private mutating func store(_ bits: UInt64, at slot: RecordLayout.Slot) {
    bytes.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: bits.littleEndian, toByteOffset: Int(slot.offset), as: UInt64.self)
      bytes[Int(slot.nullByte)] &= ~slot.nullBit
    }
  }

  /// Calls the closure with a view of the copy.
  ///
  /// - Throws: The error of the closure.
  func withView<Result>(_ body: (RecordView) throws -> Result) throws -> Result? {
    try bytes.withUnsafeBytes { try entity.record.view(of: $0).map(body) }
  }

  /// Returns the integer at a position; `nil` for null, and for a value of another kind.
  package func int64(_ position: Int) -> Int64? {
    field(position) { $0.kind == .int64 && !$0.isNull ? $0.int64 : nil }
  }

  /// Returns the double at a position, or the seconds since the reference date of a date; `nil` for
  /// null, and for a value of another kind.
  package func double(_ position: Int) -> Double? {
    field(position) { ($0.kind == .double || $0.kind == .date) && !$0.isNull ? $0.double : nil }
  }

  /// Returns true if the text at a position has the same bytes as this one.
  package func hasText(_ text: String, at position: Int) -> Bool {
    field(position) { field in
      guard field.kind == .string, !field.isNull else { return false }
      var text = text
      return text.withUTF8 { text in
        do throws(RecordDamage) {
          return compare(try field.bytes(), UnsafeRawBufferPointer(text)) == 0
        } catch {
          return false
        }
      }
    } ?? false
  }

  /// Returns true if the text at a position has the same bytes as that of another copy, or if both
  /// are null.
  package func hasSameText(as other: RowCopy, at position: Int) -> Bool {
    field(position) { own in
      other.field(position) { other in
        do throws(RecordDamage) { return try own.isSame(as: other) } catch { return false }
      }
    } ?? false
  }

  /// Returns the flag at a position; `nil` for null, and for a value of another kind.
  package func bool(_ position: Int) -> Bool? {
    field(position) { $0.kind == .bool && !$0.isNull ? $0.bool : nil }
  }

  package func isNull(_ position: Int) -> Bool { field(position) { $0.isNull } ?? true }

  @inline(__always)
  private func field<Result>(_ position: Int, _ body: (RecordField) -> Result?) -> Result? {
    bytes.withUnsafeBytes { bytes in
      entity.record.currentField(position, of: bytes).flatMap(body)
    }
  }

  package func values() -> [Value] { (0..<entity.attributeIDs.count).map(value) }

  package func value(_ position: Int) -> Value {
    bytes.withUnsafeBytes { bytes in
      do throws(RecordDamage) {
        return try entity.record.currentField(position, of: bytes)?.value() ?? .null
      } catch {
        assertionFailure("a value was not checked when the row was copied")
        return .null
      }
    }
  }
}

extension StoredRow {
  /// Returns a copy of the row.
  ///
  /// - Throws: `damaged` if a value is unreadable.
  package func copy() throws(StoreError) -> RowCopy {
    try entity.decoding(id) { () throws(RecordDamage) in
      try RowCopy(view, of: entity, at: step)
    }
  }
}

extension EntityLayout {
  /// Calls the closure with each position that has one of the marks (see `RowChanges`).
  @inline(__always)
  func eachPosition(of marks: UInt64, _ body: (Int) throws -> Void) rethrows {
    let count = attributeIDs.count
    // A mark stands for every 64th position.
    for first in stride(from: 0, to: count, by: 64) {
      var rest = marks
      while rest != 0 {
        let position = first + rest.trailingZeroBitCount
        rest &= rest - 1
        if position < count { try body(position) }
      }
    }
  }
}
