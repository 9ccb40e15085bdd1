import EntityModel

/// How the bytes of one entity's records are read: for each layout version that the store still
/// holds, where each of the *current* attributes lies.
///
/// An attribute that a layout version lacks (it was added later) is read from a prototype record
/// that holds the defaults. So adding an attribute touches no record.
///
/// The slot tables are plain memory, because a view of a record must be copied and dropped
/// millions of times a second without reference counting. They live as long as this object, and
/// a transaction keeps the catalog snapshot that owns it.
package final class RecordLayout: @unchecked Sendable {
  /// Where one attribute lies in records of one layout version.
  struct Slot {
    var kind: ValueKind = .int64
    /// The layout version has no such attribute: read the prototype.
    var isAbsent = true
    var nullBit: Int32 = 0
    /// Fixed size: offset of the value. Variable size: offset of its end entry.
    var offset: Int32 = 0
    /// Variable size: offset of the end entry before it, −1 for the first.
    var previousEnd: Int32 = -1
    /// Variable size: where the first variable value begins.
    var variableStart: Int32 = 0
  }

  struct Version {
    let slots: UnsafeMutablePointer<Slot>
    /// Bytes that every record of the version has.
    let fixedBytes: Int
  }

  let attributeCount: Int
  let currentVersion: Int
  /// Index = layout version − 1.
  private let versions: [Version]
  private let prototype: UnsafeMutableRawBufferPointer
  /// The positions of the attributes whose values vary in size.
  private let variable: [Int]

  // SAFETY (`@unchecked Sendable`): everything is written in `init` and only read afterwards.

  init(_ entity: EntityDescription) {
    let positions = Dictionary(
      uniqueKeysWithValues: entity.attributes.enumerated().map { ($1.id, $0) })
    attributeCount = entity.attributes.count
    currentVersion = entity.layouts.count
    versions = entity.layouts.map {
      RecordLayout.version(of: $0, positions: positions, attributeCount: entity.attributes.count)
    }
    let bytes = RecordEncoder.encode(
      entity.attributes.map(\.defaultValue), version: entity.layouts.count,
      shape: entity.layouts[entity.layouts.count - 1], positions: positions)
    variable = entity.attributes.indices.filter {
      entity.attributes[$0].type.kind.fixedBytes == nil
    }
    prototype = .allocate(byteCount: bytes.count, alignment: 8)
    prototype.copyBytes(from: bytes)
  }

  deinit {
    for version in versions { version.slots.deallocate() }
    prototype.deallocate()
  }

  /// A view of a record's bytes.
  ///
  /// - Parameter bytes: Valid for as long as the view is used.
  /// - Returns: `nil` if the header cannot be of this entity.
  @inline(__always)
  package func view(of bytes: UnsafeRawBufferPointer) -> RecordView? {
    guard bytes.count >= 2, let base = bytes.baseAddress else { return nil }
    let version = Int(UInt16(littleEndian: base.loadUnaligned(as: UInt16.self)))
    guard version >= 1, version <= versions.count else { return nil }
    let found = versions[version - 1]
    guard bytes.count >= found.fixedBytes else { return nil }
    return RecordView(
      base: base, count: bytes.count, slots: UnsafePointer(found.slots),
      defaults: UnsafeRawPointer(prototype.baseAddress!), defaultsCount: prototype.count,
      defaultSlots: UnsafePointer(versions[versions.count - 1].slots),
      attributeCount: attributeCount)
  }

  /// Whether a record has the layout in which records are written.
  func isCurrent(_ record: RecordView) -> Bool {
    record.slots == UnsafePointer(versions[currentVersion - 1].slots)
  }

  /// Looks whether every value of a record can be read.
  func check(_ record: RecordView) throws(RecordDamage) {
    for position in variable {
      let field = record.field(position)
      if !field.isNull { try field.check() }
    }
  }

  private static func version(
    of shape: RecordShape, positions: [Int: Int], attributeCount: Int
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
          kind: slot.kind, isAbsent: false, nullBit: Int32(number), offset: offset,
          previousEnd: previousEnd, variableStart: Int32(geometry.fixedBytes))
      }
      if isVariable { previousEnd = offset }
    }
    return Version(slots: slots, fixedBytes: geometry.fixedBytes)
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
struct RecordGeometry {
  /// Per slot: of the value if its size is fixed, else of its end entry.
  let offsets: [Int]
  /// Everything before the variable-size values.
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
  /// Bytes in a record; `nil` where the size varies.
  var fixedBytes: Int? {
    switch self {
    case .int64, .double, .date: 8
    case .bool: 1
    case .uuid: 16
    case .string, .url, .data, .decimal, .strings: nil
    }
  }
}
