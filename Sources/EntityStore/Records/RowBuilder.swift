package import EntityModel
package import Foundation
import TextFormats

/// Builds the bytes of a row of default values with some new ones. It takes them as numbers and as
/// bytes, so that nothing is allocated for a value.
///
/// Values that are set are not validated.
package struct RowBuilder: ~Copyable {
  private struct Place {
    var start: Int
    var count: Int
  }

  private let entity: EntityLayout
  /// The bytes of the row before those of the values whose sizes vary.
  private var fixed: [UInt8]
  /// The bytes of these values, first the defaults and then in the order in which they were set.
  private var variable = ByteBuffer()
  /// Their places in `variable`, in the order of the row.
  private var places: [Place]
  private let defaultPlaces: [Place]
  /// The number of bytes of the defaults in `variable`.
  private let defaultBytes: Int
  /// The marks (see `RowChanges`) of the positions that were set.
  package private(set) var marks: UInt64 = 0

  package init(_ entity: EntityLayout) {
    self.entity = entity
    let plan = entity.record.plan
    var start = plan.fixedBytes
    let places = entity.defaultBytes.withUnsafeBytes { bytes in
      plan.variable.map { slot in
        let end = RecordPlan.end(slot, in: bytes)
        defer { start = end }
        return Place(start: start - plan.fixedBytes, count: end - start)
      }
    }
    defaultPlaces = places
    defaultBytes = start - plan.fixedBytes
    fixed = Array(entity.defaultBytes[..<plan.fixedBytes])
    self.places = places
    entity.defaultBytes[plan.fixedBytes..<start].withUnsafeBytes { variable.append($0) }
  }

  /// Removes all values that were set and keeps their memory.
  package mutating func removeAll() {
    let count = fixed.count
    fixed.withUnsafeMutableBytes { fixed in
      entity.defaultBytes.withUnsafeBytes {
        fixed.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count]))
      }
    }
    variable.truncate(to: defaultBytes)
    for number in places.indices { places[number] = defaultPlaces[number] }
    marks = 0
  }

  package func isNull(_ position: Int) -> Bool {
    let slot = entity.record.currentSlot(position)
    return fixed[Int(slot.nullByte)] & slot.nullBit != 0
  }

  // MARK: Setting

  package mutating func set(_ number: Int64, at position: Int) {
    setBits(UInt64(bitPattern: number), .int64, at: position)
  }

  package mutating func set(_ number: Double, at position: Int) {
    setBits(number.bitPattern, .double, at: position)
  }

  package mutating func set(_ date: Date, at position: Int) {
    setBits(date.timeIntervalSinceReferenceDate.bitPattern, .date, at: position)
  }

  package mutating func set(_ text: String, at position: Int) {
    var text = text
    text.withUTF8 { set(UnsafeRawBufferPointer($0), of: .string, at: position) }
  }

  /// Sets a value of the kind string, url or data.
  ///
  /// - Parameter bytes: The bytes of the value; well-formed UTF-8 for a text.
  package mutating func set(
    _ bytes: UnsafeRawBufferPointer, of kind: ValueKind, at position: Int
  ) {
    let slot = place(position, for: kind)
    places[number(of: slot)] = Place(start: variable.count, count: bytes.count)
    variable.append(bytes)
  }

  package mutating func set(_ value: Value, at position: Int) {
    guard let kind = value.kind else { return setNull(position) }
    let slot = place(position, for: kind)
    if kind.fixedBytes == nil {
      var bytes: [UInt8] = []
      RecordEncoder.appendVariable(value, to: &bytes)
      places[number(of: slot)] = Place(start: variable.count, count: bytes.count)
      bytes.withUnsafeBytes { variable.append($0) }
    } else {
      fixed.withUnsafeMutableBytes { RecordEncoder.store(value, at: slot, in: $0) }
    }
  }

  package mutating func setNull(_ position: Int) {
    let slot = entity.record.currentSlot(position)
    marks |= RowChanges.mark(position)
    if slot.kind.fixedBytes == nil { places[number(of: slot)].count = 0 }
    fixed.withUnsafeMutableBytes { RecordEncoder.store(.null, at: slot, in: $0) }
  }

  @inline(__always)
  private mutating func setBits(_ bits: UInt64, _ kind: ValueKind, at position: Int) {
    let slot = place(position, for: kind)
    fixed.withUnsafeMutableBytes {
      $0.storeBytes(of: bits.littleEndian, toByteOffset: Int(slot.offset), as: UInt64.self)
    }
  }

  /// Returns the place of a value that is about to be set, and clears its null bit.
  @inline(__always)
  private mutating func place(_ position: Int, for kind: ValueKind) -> RecordLayout.Slot {
    let slot = entity.record.currentSlot(position)
    precondition(kind == slot.kind, "the value is of another kind than the attribute")
    marks |= RowChanges.mark(position)
    fixed[Int(slot.nullByte)] &= ~slot.nullBit
    return slot
  }

  /// Returns the number of a value among those whose sizes vary: their ends stand one after the
  /// other, and the values after the last one.
  @inline(__always)
  private func number(of slot: RecordLayout.Slot) -> Int {
    places.count - (fixed.count - Int(slot.offset)) / 4
  }

  // MARK: Rows

  /// Returns the row. Its positions do not count as set.
  package func row() -> RowCopy {
    let count = byteCount
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      write(to: UnsafeMutableRawBufferPointer(buffer))
      initializedCount = count
    }
    return RowCopy(bytes, of: entity)
  }

  /// The size of the row in bytes.
  package var byteCount: Int {
    places.reduce(fixed.count + entity.record.plan.sealPlace.count) { $0 + $1.count }
  }

  /// Writes the row in place of other bytes.
  func write(to row: inout [UInt8]) {
    let count = byteCount
    if row.count > count { row.removeLast(row.count - count) }
    if row.count < count { row.append(contentsOf: repeatElement(0, count: count - row.count)) }
    row.withUnsafeMutableBytes { write(to: $0) }
  }

  private func write(to row: UnsafeMutableRawBufferPointer) {
    guard let base = row.baseAddress else { return }
    fixed.withUnsafeBytes { row.copyMemory(from: $0) }
    var end = fixed.count
    var entry = fixed.count - 4 * places.count
    variable.withUnsafeBytes { variable in
      for place in places {
        if place.count > 0, let start = variable.baseAddress {
          // SAFETY: places are ranges of `variable`, and the row has room for all of them.
          (base + end).copyMemory(from: start + place.start, byteCount: place.count)
        }
        end += place.count
        row.storeBytes(of: UInt32(end).littleEndian, toByteOffset: entry, as: UInt32.self)
        entry += 4
      }
    }
    for place in end..<row.count { row[place] = 0 }
  }
}
