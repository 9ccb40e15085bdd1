import CMooringXXHash
import EntityModel
import Foundation

/// Writes one index key. The bytes compare (memcmp) as the values do; no comparator is needed.
///
/// A key is one component per key attribute; the entry of an index that is not unique ends in the
/// record id, that of a unique one has it as its value.
///
///     component      bytes
///     null           01
///     int64          02, then 8 big-endian, sign flipped
///     double, date   02, then 8 big-endian: IEEE bits, all flipped if negative, else the sign
///                    flipped; −0.0 is written as 0.0, NaN never gets here
///     bool           02, then 00 or 01
///     uuid           02, then 16
///     decimal        02, then as `DecimalBytes` writes it
///     string, url,   02, then the bytes with 00 written as 00 FF, then 00 01;
///     data, element  if too long: cut, then 00 02, and in a unique index the 128-bit XXH3 of
///                    the whole
///     collated       02, then as a string, but of what the collation has in the place of the text:
///                    its sort key by ICU (bytes from 01 on), or the text with its case folded
///     record id      8 big-endian, sign flipped
///
/// A descending component is complemented as a whole. A cut component sorts after every value that
/// is a prefix of it, and is equal to every other cut one with the same beginning: code that reads
/// such entries must read the records to distinguish them (`IndexLayout.isCut`).
///
/// The room of a component depends only on the components before it, so two keys whose first
/// components agree are cut at the same place.
package struct KeyWriter: ~Copyable {
  private let start: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  /// True if a component was cut.
  private(set) var isCut = false
  /// The converted text of a collation; a property so that its memory is used again.
  private var collated: [UInt8] = []

  package static let present: UInt8 = 2
  package static let null: UInt8 = 1
  /// The size of the hash after the mark of a cut, in a unique index.
  static let hashBytes = 16
  /// The largest buffer that is used again; one that a very long text has made larger is released.
  private static let collatedBytesKept = 64 << 10

  package init() { start = .allocate(capacity: StoreLimits.keyBytesMax + 64) }

  deinit { start.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  mutating func removeAll() {
    count = 0
    isCut = false
  }

  mutating func truncate(to count: Int) { self.count = count }

  // SAFETY (whole type): `room` keeps every variable component within `keyBytesMax`, fixed ones
  // take at most 17 bytes each, decimals 25, and an index has at most `keyPartsMax` of them.

  /// Appends the attribute's value as one component.
  ///
  /// - Parameter room: The number of bytes that the component may take if its size varies.
  @inline(__always)
  mutating func append(
    _ field: RecordField, descending: Bool, room: Int, hashesCuts: Bool
  ) throws(RecordDamage) {
    let from = count
    if field.isNull {
      push(KeyWriter.null)
    } else {
      push(KeyWriter.present)
      switch field.kind {
      case .int64: push(bigEndian: KeyWriter.ordered(field.int64))
      case .double, .date: push(bigEndian: KeyWriter.ordered(field.double))
      case .bool: push(field.bool ? 1 : 0)
      case .uuid: push(field.fixedBytes)
      case .decimal:
        let bytes = try field.bytes()
        guard bytes.count <= DecimalBytes.countMax else { throw RecordDamage() }
        push(bytes)
      case .string, .url, .data: push(text: try field.bytes(), room: room, hashesCuts: hashesCuts)
      case .strings: throw RecordDamage()  // lists are written element by element
      }
    }
    if descending { complement(from: from) }
  }

  /// Appends one element of a list.
  mutating func append(
    element: UnsafeRawBufferPointer, descending: Bool, room: Int, hashesCuts: Bool
  ) {
    let from = count
    push(KeyWriter.present)
    push(text: element, room: room, hashesCuts: hashesCuts)
    if descending { complement(from: from) }
  }

  /// Appends a text as its collation converts it.
  mutating func append(
    _ text: UnsafeRawBufferPointer, under collation: KeyCollation, descending: Bool, room: Int,
    hashesCuts: Bool
  ) {
    var key: [UInt8] = []
    swap(&key, &collated)
    key.removeAll(keepingCapacity: key.capacity <= KeyWriter.collatedBytesKept)
    collation.appendKey(of: text, to: &key)
    key.withUnsafeBytes {
      append(element: $0, descending: descending, room: room, hashesCuts: hashesCuts)
    }
    swap(&key, &collated)
  }

  /// Appends a value that does not come from a record, but from a fetch request.
  mutating func append(_ value: Value, descending: Bool, room: Int, hashesCuts: Bool) {
    let from = count
    switch value {
    case .null: push(KeyWriter.null)
    case .int64(let number): pushPresent(KeyWriter.ordered(number))
    case .double(let number): pushPresent(KeyWriter.ordered(number))
    case .date(let date): pushPresent(KeyWriter.ordered(date.timeIntervalSinceReferenceDate))
    case .bool(let flag):
      push(KeyWriter.present)
      push(flag ? 1 : 0)
    case .uuid(let uuid):
      push(KeyWriter.present)
      withUnsafeBytes(of: uuid.uuid) { push($0) }
    case .decimal(let decimal):
      push(KeyWriter.present)
      var bytes: [UInt8] = []
      DecimalBytes.append(decimal, to: &bytes)
      bytes.withUnsafeBytes { push($0) }
    case .string, .url, .data:
      push(KeyWriter.present)
      value.withBytes { push(text: $0, room: room, hashesCuts: hashesCuts) }
    case .strings: preconditionFailure("a list is looked up by one of its elements")
    }
    if descending { complement(from: from) }
  }

  @inline(__always)
  mutating func append(objectID: Int64) { push(bigEndian: KeyWriter.ordered(objectID)) }

  /// Appends only a tag: the beginning of the values that are not null.
  mutating func append(tag: UInt8, descending: Bool) { push(descending ? ~tag : tag) }

  package static func ordered(_ number: Int64) -> UInt64 {
    UInt64(bitPattern: number) ^ 0x8000_0000_0000_0000
  }

  package static func ordered(_ number: Double) -> UInt64 {
    let bits = (number == 0 ? 0.0 : number).bitPattern
    return bits >> 63 == 1 ? ~bits : bits ^ 0x8000_0000_0000_0000
  }

  private mutating func pushPresent(_ bits: UInt64) {
    push(KeyWriter.present)
    push(bigEndian: bits)
  }

  @inline(__always)
  private mutating func push(_ byte: UInt8) {
    start[count] = byte
    count += 1
  }

  @inline(__always)
  private mutating func push(bigEndian bits: UInt64) {
    UnsafeMutableRawPointer(start + count).storeBytes(of: bits.bigEndian, as: UInt64.self)
    count += 8
  }

  private mutating func push(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    UnsafeMutableRawPointer(start + count).copyMemory(from: base, byteCount: bytes.count)
    count += bytes.count
  }

  private mutating func push(text: UnsafeRawBufferPointer, room: Int, hashesCuts: Bool) {
    let begin = count
    // The room excludes the tag, and the mark at the end with the hash.
    let limit = begin + room - 3 - (hashesCuts ? KeyWriter.hashBytes : 0)
    if text.count <= limit - begin, !hasZero(text) {
      push(text)
      push(0)
      push(1)
      return
    }
    for byte in text {
      let size = byte == 0 ? 2 : 1
      if count + size > limit {
        cut(text, hashesCuts: hashesCuts)
        return
      }
      push(byte)
      if byte == 0 { push(0xff) }
    }
    push(0)
    push(1)
  }

  @inline(__always)
  private func hasZero(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let base = text.baseAddress else { return false }
    return memchr(base, 0, text.count) != nil
  }

  private mutating func cut(_ text: UnsafeRawBufferPointer, hashesCuts: Bool) {
    isCut = true
    push(0)
    push(2)
    guard hashesCuts else { return }
    let hash = mooring_xxh3_128(text.baseAddress, text.count)
    push(bigEndian: hash.high)
    push(bigEndian: hash.low)
  }

  private mutating func complement(from: Int) {
    for index in from..<count { start[index] = ~start[index] }
  }
}
