import EntityModel
import TextFormats

/// The layout of one entity's records: for each layout version that may occur in the store, the
/// place of each *current* attribute.
///
/// An attribute that a layout version lacks, because it was added later, is read from a prototype
/// record that holds the defaults. Adding an attribute therefore changes no record.
///
/// The slot tables are plain memory, because views of records are copied and dropped millions of
/// times a second, which must not count references. The tables live as long as this object, and a
/// transaction retains the catalog snapshot that owns it.
package final class RecordLayout: @unchecked Sendable {
  /// The place of one attribute in records of one layout version.
  struct Slot {
    var kind: ValueKind = .int64
    /// True if the layout version lacks the attribute, which is then read from the prototype.
    var isAbsent = true
    /// The byte of the null bit, from the start of the record, and the bit in it.
    var nullBit: UInt8 = 0
    var nullByte: Int32 = 0
    /// The offset of a value of fixed size; for a variable size, the offset of its end entry.
    var offset: Int32 = 0
    /// The offset of the previous end entry, −1 for the first. Used for variable sizes only.
    var previousEnd: Int32 = -1
    /// The offset of the first variable-size value. Used for variable sizes only.
    var variableStart: Int32 = 0
    /// The position of the attribute.
    var position: Int32 = 0
  }

  struct Version {
    let slots: UnsafeMutablePointer<Slot>
    let attributeCount: Int
    /// The number of bytes before the values whose sizes vary.
    let fixedBytes: Int32
    /// The size of the seal: 0 in a version whose records have none.
    let sealBytes: Int32
    /// True if all values whose sizes vary are texts.
    let hasOnlyTexts: Bool
    /// The record of default values.
    var defaults = UnsafeRawBufferPointer(start: nil, count: 0)
    var defaultSlots: UnsafeMutablePointer<Slot>

    /// The number of bytes that every record of the version has.
    var bytesMin: Int { Int(fixedBytes &+ sealBytes) }

    func defaultField(_ position: Int) -> RecordField {
      guard let base = defaults.baseAddress else { preconditionFailure("a layout has defaults") }
      return RecordField(
        base: base, place: defaultSlots + position, byteCount: UInt32(defaults.count))
    }
  }

  let currentVersion: Int
  /// The layout versions; version *v* has the index *v* − 1.
  private let versions: UnsafeMutableBufferPointer<Version>
  /// The places of the values in a record of the newest layout.
  let plan: RecordPlan
  /// A record of default values.
  let prototype: UnsafeMutableRawBufferPointer
  /// The positions of the attributes whose values vary in size.
  private let variable: [Int]
  /// The offset of the first end entry in a record of the newest layout.
  private let firstEnd: Int
  private let hasDropped: Bool
  /// True if all values whose sizes vary are strings or data.
  private let hasOnlyStringsAndData: Bool
  /// The slots of the newest layout, by position.
  private let currentSlots: UnsafeMutablePointer<Slot>
  private let attributeCount: Int
  private let entityID: UInt64
  private let seals: RecordSeals

  // SAFETY (`@unchecked Sendable`): everything is written in `init` and only read afterwards.

  init(_ entity: EntityDescription) {
    let positions = Dictionary(
      uniqueKeysWithValues: entity.attributes.enumerated().map { ($1.id, $0) })
    currentVersion = entity.layouts.count
    entityID = UInt64(truncatingIfNeeded: entity.id)
    let seals = entity.seals ?? RecordSeals(since: .max, isComplete: false)
    self.seals = seals
    versions = .allocate(capacity: entity.layouts.count)
    for (number, shape) in entity.layouts.enumerated() {
      versions.initializeElement(
        at: number,
        to: RecordLayout.version(
          of: shape, isSealed: number + 1 >= seals.since, positions: positions,
          attributeCount: entity.attributes.count))
    }
    plan = RecordPlan(
      entity.layouts[entity.layouts.count - 1], version: entity.layouts.count,
      isSealed: entity.layouts.count >= seals.since, positions: positions)
    var bytes: [UInt8] = []
    RecordEncoder.encode(entity.attributes.map(\.defaultValue), as: plan, into: &bytes)
    variable = entity.attributes.indices.filter {
      entity.attributes[$0].type.kind.fixedBytes == nil
    }
    firstEnd = plan.fixedBytes - 4 * plan.variable.count
    hasDropped = !plan.dropped.isEmpty
    hasOnlyStringsAndData = variable.allSatisfy {
      [.string, .data].contains(entity.attributes[$0].type.kind)
    }
    currentSlots = versions[versions.count - 1].slots
    attributeCount = entity.attributes.count
    prototype = .allocate(byteCount: bytes.count, alignment: 8)
    prototype.copyBytes(from: bytes)
    for number in versions.indices {
      versions[number].defaults = UnsafeRawBufferPointer(prototype)
      versions[number].defaultSlots = versions[versions.count - 1].slots
    }
  }

  deinit {
    for version in versions { version.slots.deallocate() }
    versions.deallocate()
    prototype.deallocate()
  }

  /// Returns a view of a record's bytes.
  ///
  /// - Parameter bytes: The record; valid for as long as the view is used.
  /// - Returns: `nil` if the header cannot belong to this entity.
  @inline(__always)
  package func view(of bytes: UnsafeRawBufferPointer) -> RecordView? {
    guard bytes.count >= 2, let base = bytes.baseAddress else { return nil }
    let version = RecordLayout.version(at: base)
    guard version >= 1, version <= versions.count else { return nil }
    // SAFETY: the number is that of a version.
    let found = UnsafePointer(versions.baseAddress! + (version &- 1))
    guard bytes.count >= found.pointee.bytesMin else { return nil }
    return RecordView(
      base: base, version: found,
      byteCount: UInt32(truncatingIfNeeded: bytes.count &- Int(found.pointee.sealBytes)))
  }

  /// Returns the bytes of a record with its seal, as `view(of:)` takes them.
  func storedBytes(of record: RecordView) -> UnsafeRawBufferPointer {
    // SAFETY: the view was made of bytes that include the seal.
    let sealBytes = Int(record.version.pointee.sealBytes)
    return UnsafeRawBufferPointer(start: record.base, count: record.count + sealBytes)
  }

  @inline(__always)
  private static func version(at base: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)))
  }

  // MARK: Seals

  /// Returns the seal of a record that `view(of:)` accepts; `nil` if its layout version has none.
  @inline(__always)
  func seal(of record: UnsafeRawBufferPointer, id: Int64) -> UInt32? {
    guard let base = record.baseAddress, record.count > Seal.byteCount,
      RecordLayout.version(at: base) >= seals.since
    else { return nil }
    return Seal.of(
      UnsafeRawBufferPointer(start: base, count: record.count - Seal.byteCount),
      at: (entityID, UInt64(bitPattern: id)))
  }

  /// Returns true if the record's layout version has seals.
  func isSealed(_ record: RecordView) -> Bool {
    RecordLayout.version(at: record.base) >= seals.since
  }

  /// Compares a stored record with its seal.
  ///
  /// - Returns: What is wrong; `nil` for a record that need not have a seal, and for one whose
  ///   header is unreadable.
  package func sealFlaw(of record: UnsafeRawBufferPointer, id: Int64) -> StaticString? {
    guard seals.since < .max, view(of: record) != nil else { return nil }
    guard let seal = seal(of: record, id: id) else {
      return seals.isComplete ? "a record has no seal" : nil
    }
    let stored = record.loadUnaligned(
      fromByteOffset: record.count - Seal.byteCount, as: UInt32.self)
    return UInt32(littleEndian: stored) == seal ? nil : "a record does not match its seal"
  }

  /// Returns true if the record has the layout in which records are written.
  func isCurrent(_ record: RecordView) -> Bool {
    record.version.pointee.slots == versions[currentVersion - 1].slots
  }

  /// Returns true if single values of a record can be replaced: it has the layout in which records
  /// are written, no value of a dropped attribute, and its ends are in order.
  func canBeChanged(_ record: RecordView) -> Bool {
    guard isCurrent(record), !hasDropped else { return false }
    var start = plan.fixedBytes
    for offset in stride(from: firstEnd, to: plan.fixedBytes, by: 4) {
      let stored = record.base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      let end = Int(UInt32(littleEndian: stored))
      guard start <= end, end <= record.count else { return false }
      start = end
    }
    return true
  }

  /// Returns the place of an attribute in records of the newest layout.
  @inline(__always)
  func currentSlot(_ position: Int) -> Slot {
    precondition(position >= 0 && position < attributeCount)
    return currentSlots[position]
  }

  /// Returns a value of a record of the newest layout that `view(of:)` accepts.
  @inline(__always)
  func currentField(_ position: Int, of record: UnsafeRawBufferPointer) -> RecordField? {
    guard let base = record.baseAddress else { return nil }
    precondition(position >= 0 && position < attributeCount)
    return RecordField(
      base: base, place: currentSlots + position,
      byteCount: UInt32(truncatingIfNeeded: record.count &- plan.sealPlace.count))
  }

  /// Returns true if every value of a record can surely be read, because its texts are ASCII.
  ///
  /// - Parameter record: A record for which `canBeChanged` is true.
  func isSurelyReadable(_ record: RecordView) -> Bool {
    hasOnlyStringsAndData
      && UnsafeRawBufferPointer(rebasing: record.bytes[plan.fixedBytes...]).isASCII
  }

  /// Checks that every value of a record can be read.
  func check(_ record: RecordView) throws(RecordDamage) {
    for position in variable {
      let field = record.field(position)
      if !field.isNull { try field.check() }
    }
  }

  private static func version(
    of shape: RecordShape, isSealed: Bool, positions: [Int: Int], attributeCount: Int
  ) -> Version {
    let geometry = RecordGeometry(shape)
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: max(1, attributeCount))
    slots.initialize(repeating: Slot(), count: max(1, attributeCount))
    var previousEnd: Int32 = -1
    for (number, slot) in shape.slots.enumerated() {
      let isVariable = slot.kind.fixedBytes == nil
      let offset = Int32(geometry.offsets[number])
      if let position = positions[slot.attributeID] {
        slots[position] = Slot(
          kind: slot.kind, isAbsent: false, nullBit: 1 << UInt8(number % 8),
          nullByte: Int32(2 + number / 8), offset: offset, previousEnd: previousEnd,
          variableStart: Int32(geometry.fixedBytes), position: Int32(position))
      }
      if isVariable { previousEnd = offset }
    }
    let sealBytes = isSealed ? Seal.byteCount : 0
    return Version(
      slots: slots, attributeCount: attributeCount, fixedBytes: Int32(geometry.fixedBytes),
      sealBytes: Int32(sealBytes),
      hasOnlyTexts: shape.slots.allSatisfy {
        $0.kind.fixedBytes != nil || $0.kind.isText
      }, defaultSlots: slots)
  }
}

/// The offsets of a record shape, shared by reading and writing.
///
///     offset  size   field
///          0     2   layout version, little-endian, 1 is the first
///          2  ⌈n/8⌉  null bits: bit i is set when slot i is null
///          …     f   fixed-size values in slot order: int64, double and date (the double of
///                    seconds since 2001) 8 little-endian, bool 1, uuid 16; zero when null
///          …   4·v   for each variable-size value its end, from the start of the record,
///                    little-endian; a value begins where the one before it ends
///          …     …   variable-size values in slot order: string, url (UTF-8), data,
///                    decimal (see `DecimalBytes`), strings (per element a length of 4 bytes,
///                    little-endian, then UTF-8)
///          …     4   seal of everything before it (see `Seal`), little-endian; only in the layout
///                    versions from `RecordSeals.since` on
struct RecordGeometry {
  /// The offset of each slot's value if its size is fixed, else of its end entry.
  let offsets: [Int]
  /// The number of bytes before the variable-size values.
  let fixedBytes: Int

  init(_ shape: RecordShape) {
    var offset = 2 + (shape.slots.count + 7) / 8
    var offsets = [Int](repeating: 0, count: shape.slots.count)
    for (number, slot) in shape.slots.enumerated() {
      guard let size = slot.kind.fixedBytes else { continue }
      offsets[number] = offset
      offset += size
    }
    for (number, slot) in shape.slots.enumerated() where slot.kind.fixedBytes == nil {
      offsets[number] = offset
      offset += 4
    }
    self.offsets = offsets
    fixedBytes = offset
  }
}

extension ValueKind {
  /// The number of bytes in a record; `nil` if the size varies.
  var fixedBytes: Int? {
    switch self {
    case .int64, .double, .date: 8
    case .bool: 1
    case .uuid: 16
    case .string, .url, .data, .decimal, .strings: nil
    }
  }

  /// True if the value is stored as UTF-8.
  var isText: Bool { self == .string || self == .url }
}
