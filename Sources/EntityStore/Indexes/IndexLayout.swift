package import EntityModel
package import LMDB
import Synchronization

/// One index, bound to the positions of its attributes and to its tree. Immutable; a class, because
/// it is passed around for each record that changes.
package final class IndexLayout: Sendable {
  package struct Part: Sendable {
    package let position: Int
    let kind: ValueKind
    let isDescending: Bool
    /// The collation that converts a text for the key; `nil` if the key contains the text itself.
    let collation: KeyCollation?
    /// True if the value can be read from the key, false if the key contains only a sort key of it.
    let isDecodable: Bool
    /// The number of bytes that the parts after this one need in any case.
    let reservedAfter: Int

    var isText: Bool { kind.fixedBytes == nil && kind != .decimal }

    /// Returns true if two values of this kind are equal in this index.
    func areEqual(_ a: Value, _ b: Value) -> Bool {
      guard let collation, !a.isNull, !b.isNull else { return a == b }
      return a.withBytes { collation.key(of: $0) } == b.withBytes { collation.key(of: $0) }
    }
  }

  package let description: IndexDescription
  package let tree: Tree
  package let parts: [Part]
  /// The values of a part that most keys need. Copying a part counts a reference.
  private struct Place {
    let position: Int
    let isDescending: Bool
    let reservedAfter: Int
  }
  private let places: [Place]
  private let hasCollations: Bool
  /// The number of the part that is a list; `nil` if there is none. A list gives one entry per
  /// distinct element, and none if it is null or empty.
  package let listPart: Int?
  let number: Int
  /// The marks of the positions of its parts, as in `RowChanges`.
  let marks: UInt64
  /// True if the keys were written with this program's version of their collations. Otherwise a
  /// lookup would miss entries, and other programs would miss the entries that this one writes.
  package let isUsable: Bool
  /// The fetches that have used the index since the last call of `takeUses`, if they are measured.
  private let uses = Atomic<Int>(0)
  /// The least length, without the record id, of a key that has a cut component.
  private let cutBytesMin: Int

  package var isUnique: Bool { description.isUnique }
  var isSparse: Bool { description.isSparse }

  /// Returns true if two records never agree in all of these attributes, although they may agree in
  /// fewer. False for an index on a list: its many entries do not identify a record.
  func isUnique(onExactly positions: [Int]) -> Bool {
    isUnique && listPart == nil && parts.allSatisfy { positions.contains($0.position) }
      && positions.allSatisfy { position in parts.contains { $0.position == position } }
  }

  func countUse() { uses.wrappingAdd(1, ordering: .relaxed) }

  /// Returns the uses since the last call.
  func takeUses() -> Int { uses.exchange(0, ordering: .relaxed) }

  /// The largest number of parts. The parts of variable size share the bytes that the fixed ones
  /// leave.
  package static let keyPartsMax = 8

  init(_ description: IndexDescription, of entity: EntityDescription, tree: Tree, number: Int)
    throws(StoreError)
  {
    var parts: [Part] = []
    var reserved = 0
    var lacksCollation = false
    for key in description.keys.reversed() {
      guard let position = entity.attributes.firstIndex(where: { $0.id == key.attributeID }) else {
        throw .damaged("an index uses an attribute that does not exist", entity: entity.name)
      }
      let kind = entity.attributes[position].type.kind
      let collation = IndexLayout.collation(of: key)
      if collation == nil, key.collation != .binary { lacksCollation = true }
      parts.append(
        Part(
          position: position, kind: kind, isDescending: key.isDescending, collation: collation,
          isDecodable: key.collation == .binary, reservedAfter: reserved))
      reserved += IndexLayout.reserve(for: kind)
    }
    let version = KeyCollation.version(of: parts.reversed().compactMap(\.collation))
    isUsable = !lacksCollation && version == description.collationVersion
    self.description = description
    self.tree = tree
    self.number = number
    self.parts = parts.reversed()
    places = self.parts.map {
      Place(
        position: $0.position, isDescending: $0.isDescending, reservedAfter: $0.reservedAfter)
    }
    hasCollations = parts.contains { $0.collation != nil }
    marks = parts.reduce(0) { $0 | RowChanges.mark($1.position) }
    listPart = self.parts.firstIndex { $0.kind == .strings }
    let reservedMax = parts.filter(\.isText).map(\.reservedAfter).max() ?? 0
    // A cut component leaves at most one byte of its room unused, where an escaped zero byte did
    // not fit.
    cutBytesMin = StoreLimits.keyBytesMax - 8 - 1 - reservedMax
  }

  /// Returns the collation of a key.
  ///
  /// - Returns: `nil` for a binary key, and for a locale that this program's ICU does not have.
  private static func collation(of key: IndexKey) -> KeyCollation? {
    try? KeyCollation.of(key.collation)
  }

  private static func reserve(for kind: ValueKind) -> Int {
    if let size = kind.fixedBytes { return 1 + size }
    return kind == .decimal ? 25 : 40
  }

  /// Returns the room of a part in bytes, given the number of bytes already written.
  @inline(__always)
  func room(_ part: Part, written: Int) -> Int {
    room(reservedAfter: part.reservedAfter, written: written)
  }

  @inline(__always)
  private func room(reservedAfter: Int, written: Int) -> Int {
    StoreLimits.keyBytesMax - 8 - written - reservedAfter
  }

  /// Calls the closure with each key that the record has in this index: none, one, or for a list
  /// one per distinct element. The key of an index that is not unique ends in the record id.
  ///
  /// - Parameter endsInIdentity: Appends the record id to the keys of a unique index as well, so
  ///   that the keys of records with equal values are distinct.
  @inline(__always)
  package func eachKey(
    of view: RecordView, id: Int64, endsInIdentity: Bool = false, writer: inout KeyWriter,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let endsInIdentity = endsInIdentity || !isUnique
    if isSparse {
      for place in places where view.field(place.position).isNull { return }
    }
    if let listPart {
      return try eachListKey(
        of: view, id: endsInIdentity ? id : nil, listPart: listPart, writer: &writer, body)
    }
    writer.removeAll()
    if hasCollations {
      for part in parts { try append(part, view.field(part.position), to: &writer) }
    } else {
      for place in places {
        let room = room(reservedAfter: place.reservedAfter, written: writer.count)
        try writer.append(
          view.field(place.position), descending: place.isDescending, room: room,
          hashesCuts: isUnique)
      }
    }
    if endsInIdentity { writer.append(objectID: id) }
    try body(writer.bytes)
  }

  private func eachListKey(
    of view: RecordView, id: Int64?, listPart: Int, writer: inout KeyWriter,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let list = view.field(parts[listPart].position)
    if list.isNull { return }
    // Two elements that are cut to the same bytes share an entry: the keys are made distinct, not
    // the elements.
    var keys: Set<[UInt8]> = []
    for element in try list.strings() {
      writer.removeAll()
      for (index, part) in parts.enumerated() {
        if index == listPart {
          let room = room(part, written: writer.count)
          var element = element
          element.withUTF8 {
            writer.append(
              element: UnsafeRawBufferPointer($0), descending: part.isDescending, room: room,
              hashesCuts: isUnique)
          }
        } else {
          try append(part, view.field(part.position), to: &writer)
        }
      }
      if let id { writer.append(objectID: id) }
      keys.insert(Array(writer.bytes))
    }
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      try key.withUnsafeBytes(body)
    }
  }

  @inline(__always)
  private func append(
    _ part: Part, _ field: RecordField, to writer: inout KeyWriter
  ) throws(RecordDamage) {
    let room = room(part, written: writer.count)
    guard let collation = part.collation, !field.isNull else {
      return try writer.append(
        field, descending: part.isDescending, room: room, hashesCuts: isUnique)
    }
    writer.append(
      try field.bytes(), under: collation, descending: part.isDescending, room: room,
      hashesCuts: isUnique)
  }

  /// Appends a value that does not come from a record, but from a fetch request.
  ///
  /// - Parameter value: Null, or of the part's kind.
  func append(_ part: Part, _ value: Value, to writer: inout KeyWriter) {
    let room = room(part, written: writer.count)
    guard let collation = part.collation, !value.isNull else {
      return writer.append(
        value, descending: part.isDescending, room: room, hashesCuts: isUnique)
    }
    value.withBytes {
      writer.append(
        $0, under: collation, descending: part.isDescending, room: room, hashesCuts: isUnique)
    }
  }

  /// Returns the record id of an entry.
  @inline(__always)
  package func objectID(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int64? {
    let bytes = isUnique ? value : key
    guard bytes.count >= 8 else { return nil }
    let bits = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
    return Int64(bitPattern: UInt64(bigEndian: bits) ^ 0x8000_0000_0000_0000)
  }

  /// Returns the key without the record id: the bytes to sort by.
  @inline(__always)
  func sortBytes(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    isUnique || key.count < 8 ? key : UnsafeRawBufferPointer(rebasing: key[..<(key.count - 8)])
  }

  /// Returns true if a component of the key was cut, so that the record must be read.
  ///
  /// - Complexity: O(1) for keys that are too short to have been cut, which is nearly all.
  @inline(__always)
  func isCut(_ key: UnsafeRawBufferPointer) -> Bool {
    key.count >= cutBytesMin && KeyReader(self).cutEnd(of: key) != nil
  }

  /// Returns the bytes by which the index orders its entries: all but the record id, or if a
  /// component was cut, those up to its mark. Entries that agree in these bytes have to be ordered
  /// by their records, because the bytes after a cut (other components, a hash) do not follow the
  /// order of the values.
  func orderingBytes(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard key.count >= cutBytesMin, let end = KeyReader(self).cutEnd(of: key) else {
      return sortBytes(of: key)
    }
    return UnsafeRawBufferPointer(rebasing: key[..<end])
  }
}

extension StoreError {
  static func otherCollation(of index: IndexDescription, in entity: String) -> StoreError {
    StoreError(
      .schemaMismatch, "an index was created with another version of its collation",
      [
        ("entity", entity), ("index", index.name),
        ("created with", index.collationVersion ?? "no version"),
      ],
      advice:
        "run the same version of the program everywhere, then `mooring migrate up`, which "
        + "rebuilds the index; one that cannot be rebuilt must be dropped by a migration")
  }
}
