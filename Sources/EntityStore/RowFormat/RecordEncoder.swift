import EntityModel
import Foundation

/// Writes records in the current layout (for the bytes see `RecordGeometry`).
enum RecordEncoder {
  /// Writes a record.
  ///
  /// - Parameter values: The values by attribute position, each null or of its slot's kind.
  static func encode(_ values: [Value], as plan: RecordPlan, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: plan.empty)
    // Read in place: a copy of a value would retain its storage.
    values.withUnsafeBufferPointer { values in
      for slot in plan.variable {
        if slot.position >= 0 { appendVariable(values[slot.position], to: &bytes) }
        store(UInt32(bytes.count), in: &bytes, at: slot.offset)
      }
      bytes.append(contentsOf: plan.sealPlace)
      bytes.withUnsafeMutableBytes { bytes in
        for slot in plan.slots { store(values[slot.position], at: slot, in: bytes) }
      }
    }
  }

  /// Writes a record that differs from another one in some values. Consecutive unchanged values are
  /// copied together.
  ///
  /// - Parameter old: A record in the plan's layout.
  /// - Parameter changes: The changed values, each null or of its slot's kind.
  static func encode(
    _ changes: RowChanges, over old: RecordView, as plan: RecordPlan, into bytes: inout [UInt8]
  ) throws(RecordDamage) {
    guard plan.isSound(old.bytes) else { throw RecordDamage() }
    encode(changes, overSound: old.bytes, as: plan, into: &bytes)
  }

  /// Writes a record that differs from another one in some values.
  ///
  /// - Parameter old: The bytes of a sound record of the plan's layout.
  static func encode(
    _ changes: RowChanges, overSound old: UnsafeRawBufferPointer, as plan: RecordPlan,
    into bytes: inout [UInt8]
  ) {
    bytes.removeAll(keepingCapacity: true)
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: plan.variable.count) { ends in
      // `done` is the number of bytes of the old record that are processed, `shift` the distance by
      // which the following bytes move.
      var (done, shift) = (0, 0)
      var start = plan.fixedBytes
      let marks = changes.marks
      for number in plan.variable.indices {
        let slot = plan.variable[number]
        let end = RecordPlan.end(slot, in: old)
        if slot.position < 0 || marks & slot.mark != 0,
          let value = slot.position < 0 ? .null : changes[slot.position]
        {
          bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: old[done..<start]))
          appendVariable(value, to: &bytes)
          done = end
          shift = bytes.count - end
        }
        ends[number] = UInt32(end + shift)
        start = end
      }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: old[done..<start]))
      bytes.append(contentsOf: plan.sealPlace)
      bytes.withUnsafeMutableBytes { bytes in
        for number in plan.variable.indices {
          bytes.storeBytes(
            of: ends[number].littleEndian, toByteOffset: plan.variable[number].offset,
            as: UInt32.self)
        }
      }
    }
    bytes.withUnsafeMutableBytes { bytes in
      for change in changes.entries {
        store(change.value, at: plan.slots[change.position], in: bytes)
      }
      // Dropped attributes become null, even if the old record still has their values.
      for slot in plan.dropped { store(.null, at: slot, in: bytes) }
    }
  }

  /// Replaces a value of a record.
  ///
  /// - Parameter value: Null, or of the slot's kind.
  /// - Parameter record: A record in the current layout whose ends are in order.
  static func replace(
    _ value: Value, at slot: RecordLayout.Slot, in record: inout [UInt8]
  ) {
    if slot.kind.fixedBytes == nil {
      var bytes: [UInt8] = []
      appendVariable(value, to: &bytes)
      bytes.withUnsafeBytes { replace(slot, by: $0, in: &record) }
    }
    record.withUnsafeMutableBytes { store(value, at: RecordPlan.Slot(slot), in: $0) }
  }

  /// Replaces a value by null.
  ///
  /// - Parameter record: As in `replace`.
  static func setNull(_ slot: RecordLayout.Slot, in record: inout [UInt8]) {
    if slot.kind.fixedBytes == nil { _ = resize(slot, to: 0, in: &record) }
    record.withUnsafeMutableBytes { store(.null, at: RecordPlan.Slot(slot), in: $0) }
  }

  /// Replaces a value whose size varies by one that is not null.
  static func replace(
    _ slot: RecordLayout.Slot, by value: UnsafeRawBufferPointer, in record: inout [UInt8]
  ) {
    let start = resize(slot, to: value.count, in: &record)
    record.withUnsafeMutableBytes { record in
      UnsafeMutableRawBufferPointer(rebasing: record[start...]).copyMemory(from: value)
      record[Int(slot.nullByte)] &= ~slot.nullBit
    }
  }

  /// Moves the bytes after a value whose size varies, and their ends.
  ///
  /// - Returns: The offset of the value.
  private static func resize(
    _ slot: RecordLayout.Slot, to size: Int, in record: inout [UInt8]
  ) -> Int {
    let (start, end) = record.withUnsafeBytes { slot.extent(in: $0) }
    let (shift, count) = (start + size - end, record.count)
    if shift == 0 { return start }
    if shift > 0 { record.append(contentsOf: repeatElement(0, count: shift)) }
    record.withUnsafeMutableBytes { bytes in
      UnsafeMutableRawBufferPointer(rebasing: bytes[(end + shift)...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[end..<count]))
      // The ends stand one after the other before the first of these values.
      let distance = UInt32(truncatingIfNeeded: shift)
      for offset in stride(from: Int(slot.offset), to: Int(slot.variableStart), by: 4) {
        let end = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let moved = UInt32(littleEndian: end) &+ distance
        bytes.storeBytes(of: moved.littleEndian, toByteOffset: offset, as: UInt32.self)
      }
    }
    if shift < 0 { record.removeLast(-shift) }
    return start
  }

  static func store(
    _ value: Value, at slot: RecordLayout.Slot, in bytes: UnsafeMutableRawBufferPointer
  ) {
    store(value, at: RecordPlan.Slot(slot), in: bytes)
  }

  /// Stores the null bit and, if the size of the value is fixed, the value.
  @inline(__always)
  static func store(
    _ value: Value, at slot: RecordPlan.Slot, in bytes: UnsafeMutableRawBufferPointer
  ) {
    setNull(value.isNull, slot, in: bytes)
    if !slot.isVariable { storeFixed(value, in: bytes, at: slot) }
  }

  @inline(__always)
  private static func setNull(
    _ isNull: Bool, _ slot: RecordPlan.Slot, in bytes: UnsafeMutableRawBufferPointer
  ) {
    if isNull {
      bytes[slot.nullByte] |= slot.nullBit
    } else {
      bytes[slot.nullByte] &= ~slot.nullBit
    }
  }

  @inline(__always)
  private static func storeFixed(
    _ value: Value, in bytes: UnsafeMutableRawBufferPointer, at slot: RecordPlan.Slot
  ) {
    let offset = slot.offset
    func store<T: FixedWidthInteger>(_ number: T) {
      bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
    }
    switch value {
    case .int64(let number): store(number)
    case .double(let number): store(number.bitPattern)
    case .date(let date): store(date.timeIntervalSinceReferenceDate.bitPattern)
    case .bool(let flag): bytes[offset] = flag ? 1 : 0
    case .uuid(let uuid): bytes.storeBytes(of: uuid.uuid, toByteOffset: offset, as: uuid_t.self)
    default: for byte in offset..<offset + slot.byteCount { bytes[byte] = 0 }
    }
  }

  /// Appends the bytes of a value whose size varies.
  @inline(__always)
  static func appendVariable(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): append(text, to: &bytes)
    case .url(let url): append(url.absoluteString, to: &bytes)
    case .data(let data): data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    case .decimal(let decimal): DecimalBytes.append(decimal, to: &bytes)
    case .strings(let list):
      for element in list {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: 4))
        append(element, to: &bytes)
        store(UInt32(bytes.count - start - 4), in: &bytes, at: start)
      }
    default: break
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    // `withUTF8` gives a native string's bytes in one piece; appending its UTF-8 view would copy
    // byte by byte.
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  private static func store<T: FixedWidthInteger>(
    _ number: T, in bytes: inout [UInt8], at offset: Int
  ) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
    }
  }
}

/// The offsets and kinds of all slots of a shape, computed once for the encoder.
package struct RecordPlan: Sendable {
  struct Slot: Sendable {
    /// The position of the value in a row; −1 for a dropped attribute.
    let position: Int
    /// The offset of the value if its size is fixed, else of its end entry.
    let offset: Int
    /// The size of the value if it is fixed, else of its end entry.
    let byteCount: Int
    let isVariable: Bool
    let nullByte: Int
    let nullBit: UInt8
    /// The mark of the position, as in `RowChanges`.
    let mark: UInt64
  }

  let fixedBytes: Int
  /// A record in which everything is null.
  private(set) var empty: [UInt8]
  /// The slots by attribute position.
  let slots: [Slot]
  /// The slots whose values vary in size, including dropped ones, in slot order.
  let variable: [Slot]
  let dropped: [Slot]
  /// The end of an encoded record: zeros where the function that stores it puts the seal; empty in
  /// a layout version without seals.
  let sealPlace: [UInt8]

  /// Creates the plan of a shape.
  ///
  /// - Parameter positions: The attribute positions by attribute id.
  init(
    _ shape: RecordShape, version: Int, isSealed: Bool = false, positions: [Int: Int]
  ) {
    let geometry = RecordGeometry(shape)
    fixedBytes = geometry.fixedBytes
    sealPlace = [UInt8](repeating: 0, count: isSealed ? Seal.byteCount : 0)
    empty = [UInt8](repeating: 0, count: geometry.fixedBytes)
    var all: [Slot] = []
    for (number, slot) in shape.slots.enumerated() {
      all.append(
        Slot(
          position: positions[slot.attributeID] ?? -1, offset: geometry.offsets[number],
          byteCount: slot.kind.fixedBytes ?? 4, isVariable: slot.kind.fixedBytes == nil,
          nullByte: 2 + number / 8, nullBit: 1 << UInt8(number % 8),
          mark: RowChanges.mark(positions[slot.attributeID] ?? 0)))
    }
    slots = all.filter { $0.position >= 0 }.sorted { $0.position < $1.position }
    variable = all.filter(\.isVariable)
    dropped = all.filter { $0.position < 0 }
    empty.withUnsafeMutableBytes { [variable] bytes in
      bytes.storeBytes(of: UInt16(version).littleEndian, as: UInt16.self)
      for slot in all { bytes[slot.nullByte] |= slot.nullBit }
      for slot in variable {
        bytes.storeBytes(
          of: UInt32(geometry.fixedBytes).littleEndian, toByteOffset: slot.offset, as: UInt32.self)
      }
    }
  }

  /// Returns true if the variable-size values of a record lie within it, one after the other.
  ///
  /// - Parameter record: A record that has all its fixed bytes.
  func isSound(_ record: UnsafeRawBufferPointer) -> Bool {
    var start = fixedBytes
    for slot in variable {
      let end = Self.end(slot, in: record)
      guard start <= end, end <= record.count else { return false }
      start = end
    }
    return true
  }

  /// Returns the offset of the end of a variable-size value.
  @inline(__always)
  static func end(_ slot: Slot, in record: UnsafeRawBufferPointer) -> Int {
    Int(UInt32(littleEndian: record.loadUnaligned(fromByteOffset: slot.offset, as: UInt32.self)))
  }
}

extension RecordPlan.Slot {
  @inline(__always)
  fileprivate init(_ slot: RecordLayout.Slot) {
    let byteCount = slot.kind.fixedBytes
    self.init(
      position: Int(slot.position), offset: Int(slot.offset), byteCount: byteCount ?? 4,
      isVariable: byteCount == nil, nullByte: Int(slot.nullByte), nullBit: slot.nullBit,
      mark: RowChanges.mark(Int(slot.position)))
  }
}

extension RecordLayout.Slot {
  /// Returns the place of a value whose size varies.
  @inline(__always)
  fileprivate func extent(in record: UnsafeRawBufferPointer) -> (start: Int, end: Int) {
    func end(at offset: Int32) -> Int {
      Int(
        UInt32(littleEndian: record.loadUnaligned(fromByteOffset: Int(offset), as: UInt32.self)))
    }
    return (previousEnd < 0 ? Int(variableStart) : end(at: previousEnd), end(at: offset))
  }
}
