package import EntityModel
import Foundation

/// A record that is read in place, in the memory map or in a buffer.
///
/// Valid only as long as those bytes are: within the transaction, and in a write transaction until
/// its next write. Positions are those of the entity's current attributes. Every access is checked
/// against the record's length, so that damaged bytes cause an error and never an access outside of
/// the record.
package struct RecordView {
  let base: UnsafeRawPointer
  let version: UnsafePointer<RecordLayout.Version>
  /// The number of bytes without the seal. A value of LMDB has less than 4 GiB.
  let byteCount: UInt32
  /// True if the bytes after the fixed ones are known to be well-formed UTF-8.
  var hasCheckedTexts = false

  var count: Int { Int(byteCount) }
  var attributeCount: Int { version.pointee.attributeCount }

  /// The bytes without the seal.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Checks all texts together, which takes a fraction of the time of one check for each of them.
  /// Nothing is known if one of them is damaged, or if there are other values between them.
  mutating func checkTexts() {
    let start = Int(version.pointee.fixedBytes)
    guard version.pointee.hasOnlyTexts, start < count else { return }
    hasCheckedTexts = CheckedText.isWellFormed(UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Returns a view of a copy of the record.
  ///
  /// - Parameter copy: The same bytes (`RecordLayout.storedBytes`), valid for as long as the view
  ///   is used.
  func moved(to copy: UnsafeRawBufferPointer) -> RecordView {
    guard let start = copy.baseAddress, copy.count >= count else { return self }
    return RecordView(base: start, version: version, byteCount: byteCount)
  }

  /// Returns the attribute's field: in the record, or in the prototype of defaults.
  @inline(__always)
  package func field(_ position: Int) -> RecordField {
    assert(position >= 0 && position < attributeCount)
    let place = version.pointee.slots + position
    if place.pointee.isAbsent { return version.pointee.defaultField(position) }
    return RecordField(
      base: base, place: place, byteCount: byteCount, hasCheckedText: hasCheckedTexts)
  }

  @inline(__always)
  package func value(_ position: Int) throws(RecordDamage) -> Value { try field(position).value() }

  package func values() throws(RecordDamage) -> [Value] {
    var view = self
    view.checkTexts()
    var values: [Value] = []
    values.reserveCapacity(attributeCount)
    for position in 0..<attributeCount { values.append(try view.value(position)) }
    return values
  }
}

/// The error for a record whose bytes contradict each other.
package struct RecordDamage: Error {}

/// One value inside a record.
package struct RecordField {
  let base: UnsafeRawPointer
  let place: UnsafePointer<RecordLayout.Slot>
  let byteCount: UInt32
  /// See `RecordView.hasCheckedTexts`.
  var hasCheckedText = false

  var slot: RecordLayout.Slot { place.pointee }
  var count: Int { Int(byteCount) }

  // SAFETY (whole type): `RecordLayout.view` has checked that the record has all its fixed bytes,
  // so null bits, fixed values and end entries lie inside; `bytes()` checks the variable part.

  var kind: ValueKind { slot.kind }

  @inline(__always)
  package var isNull: Bool {
    base.load(fromByteOffset: Int(slot.nullByte), as: UInt8.self) & slot.nullBit != 0
  }

  @inline(__always)
  var int64: Int64 {
    Int64(littleEndian: base.loadUnaligned(fromByteOffset: Int(slot.offset), as: Int64.self))
  }

  @inline(__always)
  var double: Double { Double(bitPattern: UInt64(bitPattern: int64)) }

  @inline(__always)
  var bool: Bool { base.load(fromByteOffset: Int(slot.offset), as: UInt8.self) != 0 }

  /// False if the value, which is not null, is surely no NaN.
  @inline(__always)
  var mayBeNaN: Bool {
    switch kind {
    case .double, .date: double.isNaN
    case .decimal: true
    default: false
    }
  }

  var uuid: UUID {
    UUID(uuid: base.loadUnaligned(fromByteOffset: Int(slot.offset), as: uuid_t.self))
  }

  /// The stored bytes of a fixed-size value.
  var fixedBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + Int(slot.offset), count: kind.fixedBytes ?? 0)
  }

  /// Returns the stored bytes of a value of any size.
  @inline(__always)
  func storedBytes() throws(RecordDamage) -> UnsafeRawBufferPointer {
    kind.fixedBytes == nil ? try bytes() : fixedBytes
  }

  /// Returns true if both fields are null or have the same bytes.
  @inline(__always)
  func isSame(as other: RecordField) throws(RecordDamage) -> Bool {
    if isNull || other.isNull { return isNull == other.isNull }
    if kind != other.kind { return false }
    return compare(try storedBytes(), try other.storedBytes()) == 0
  }

  /// Returns the bytes of a variable-size value.
  @inline(__always)
  func bytes() throws(RecordDamage) -> UnsafeRawBufferPointer {
    let end = Int(entry(slot.offset))
    let start = slot.previousEnd < 0 ? Int(slot.variableStart) : Int(entry(slot.previousEnd))
    guard start >= Int(slot.variableStart), start <= end, end <= count else {
      throw RecordDamage()
    }
    return UnsafeRawBufferPointer(start: base + start, count: end - start)
  }

  @inline(__always)
  private func entry(_ offset: Int32) -> UInt32 {
    UInt32(littleEndian: base.loadUnaligned(fromByteOffset: Int(offset), as: UInt32.self))
  }

  func string() throws(RecordDamage) -> String { RecordField.string(try text()) }

  /// Returns the checked bytes of a text.
  @inline(__always)
  func text() throws(RecordDamage) -> CheckedText {
    let bytes = try bytes()
    let isWellFormed = hasCheckedText && isBetweenScalars(bytes)
    guard let text = CheckedText(bytes, isWellFormed: isWellFormed) else { throw RecordDamage() }
    return text
  }

  /// Returns true if neither the first nor the last scalar of texts that are well-formed together
  /// is divided by a bound of this one.
  @inline(__always)
  private func isBetweenScalars(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return true }
    // SAFETY: the text has a first byte, and the byte after it lies in the record.
    let isBegin = start.load(as: UInt8.self) & 0xC0 != 0x80
    let end = start + bytes.count
    return isBegin && (end == base + count || end.load(as: UInt8.self) & 0xC0 != 0x80)
  }

  /// Not generic, because `String(validating:as:)` looks generic metadata up in each call.
  private static func string(_ text: CheckedText) -> String {
    // SAFETY: the bytes were checked, the span does not outlive them, and the string is a copy.
    let span = Span<UInt8>(_unsafeBytes: text.bytes)
    return String(copying: UTF8Span(unchecked: span, isKnownASCII: text.isASCII))
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) throws(RecordDamage) -> String {
    guard let text = CheckedText(bytes) else { throw RecordDamage() }
    return string(text)
  }

  func strings() throws(RecordDamage) -> [String] { try RecordField.strings(try bytes()) }

  /// Returns the bytes of the element of a list of strings that begins at the offset, and advances
  /// the offset to the next element.
  ///
  /// - Returns: `nil` at the end.
  static func element(
    of list: UnsafeRawBufferPointer, at offset: inout Int
  ) throws(RecordDamage) -> UnsafeRawBufferPointer? {
    guard offset < list.count else { return nil }
    guard list.count - offset >= 4 else { throw RecordDamage() }
    let length = Int(
      UInt32(littleEndian: list.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    let start = offset + 4
    guard length <= list.count - start else { throw RecordDamage() }
    offset = start + length
    return UnsafeRawBufferPointer(rebasing: list[start..<offset])
  }

  /// Returns the value of the bytes that a record has for it.
  static func value(
    _ bytes: UnsafeRawBufferPointer, _ kind: ValueKind
  ) throws(RecordDamage) -> Value {
    if let count = kind.fixedBytes, bytes.count != count { throw RecordDamage() }
    func int64() -> Int64 { Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)) }
    func double() -> Double { Double(bitPattern: UInt64(bitPattern: int64())) }
    switch kind {
    case .int64: return .int64(int64())
    case .double: return .double(double())
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double()))
    case .bool: return .bool(bytes[0] != 0)
    case .uuid: return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    case .string: return .string(try text(bytes))
    case .url: return .url(try url(try text(bytes)))
    case .data: return .data(Data(bytes))
    case .decimal: return .decimal(try decimal(bytes))
    case .strings: return .strings(try strings(bytes))
    }
  }

  private static func decimal(_ bytes: UnsafeRawBufferPointer) throws(RecordDamage) -> Decimal {
    guard let decimal = DecimalBytes.decode(bytes) else { throw RecordDamage() }
    return decimal
  }

  private static func url(_ text: String) throws(RecordDamage) -> URL {
    guard let url = URL(string: text) else { throw RecordDamage() }
    return url
  }

  private static func strings(
    _ list: UnsafeRawBufferPointer
  ) throws(RecordDamage) -> [String] {
    var texts: [String] = []
    var offset = 0
    while let element = try element(of: list, at: &offset) { texts.append(try text(element)) }
    return texts
  }

  func decimal() throws(RecordDamage) -> Decimal { try RecordField.decimal(try bytes()) }

  func url() throws(RecordDamage) -> URL { try RecordField.url(try string()) }

  /// Checks that the value, which is not null, can be read; one of fixed size always can.
  func check() throws(RecordDamage) {
    switch kind {
    case .int64, .double, .date, .bool, .uuid: return
    case .data: _ = try bytes()
    case .string: _ = try text()
    case .url, .decimal, .strings: _ = try value()
    }
  }

  @inline(__always)
  func value() throws(RecordDamage) -> Value {
    if isNull { return .null }
    if kind == .string { return .string(try string()) }
    return try RecordField.value(try storedBytes(), kind)
  }
}
