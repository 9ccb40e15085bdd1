package import EntityModel
package import LMDB

/// One index, bound to the positions of its attributes and to its tree. Immutable; a class, as it
/// is handed around for each record that changes.
package final class IndexLayout: Sendable {
  package struct Part: Sendable {
    package let position: Int
    let kind: ValueKind
    let isDescending: Bool
    /// What the key has in the place of a text; `nil` if that is the text itself.
    let collation: KeyCollation?
    /// Whether the key holds the value, and not only what it sorts by.
    let isDecodable: Bool
    /// Bytes that the parts after this one are sure to have.
    let reservedAfter: Int

    var isText: Bool { kind.fixedBytes == nil && kind != .decimal }

    /// Whether the index takes two values of this kind for the same.
    func areEqual(_ a: Value, _ b: Value) -> Bool {
      guard let collation, !a.isNull, !b.isNull else { return a == b }
      return a.withBytes { collation.key(of: $0) } == b.withBytes { collation.key(of: $0) }
    }
  }

  package let description: IndexDescription
  package let tree: Tree
  package let parts: [Part]
  /// Which part is a list; it gives one entry per distinct element, none for null or empty.
  package let listPart: Int?
  let number: Int
  /// Of the positions of its parts, as `RowChanges` has them.
  let marks: UInt64
  /// Its keys were made with this program's version of their collations. Otherwise what is looked
  /// up in it would not be found, and what is written to it would not be found by others.
  package let isUsable: Bool
  /// The least length that a key has when something of it was cut, without the object id.
  private let cutBytesMin: Int

  package var isUnique: Bool { description.isUnique }
  var isSparse: Bool { description.isSparse }

  /// Whether no two records agree in these attributes, though they may in any fewer. A list gives
  /// many entries, so that it tells no record from another.
  func isUnique(onExactly positions: [Int]) -> Bool {
    isUnique && listPart == nil && parts.allSatisfy { positions.contains($0.position) }
      && positions.allSatisfy { position in parts.contains { $0.position == position } }
  }

  /// The parts of one key that vary in size share what the fixed ones leave.
  package static let keyPartsMax = 8

  init(_ description: IndexDescription, of entity: EntityDescription, tree: Tree, number: Int)
    throws(StoreError)
  {
    var parts: [Part] = []
    var reserved = 0
    var lacksCollation = false
    for key in description.keys.reversed() {
      guard let position = entity.attributes.firstIndex(where: { $0.id == key.attributeID }) else {
        throw .damaged("an index names an attribute that is not there", entity: entity.name)
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
    marks = parts.reduce(0) { $0 | RowChanges.mark($1.position) }
    listPart = self.parts.firstIndex { $0.kind == .strings }
    let reservedMax = parts.filter(\.isText).map(\.reservedAfter).max() ?? 0
    // A cut component leaves of its room what it does not need at most one byte, where an
    // escaped zero did not fit.
    cutBytesMin = Limits.keyBytesMax - 8 - 1 - reservedMax
  }

  /// - Returns: `nil` for a binary key, and for a locale that this program's ICU does not have.
  private static func collation(of key: IndexKey) -> KeyCollation? {
    do {
      return try KeyCollation.of(key.collation)
    } catch {
      return nil
    }
  }

  private static func reserve(for kind: ValueKind) -> Int {
    if let size = kind.fixedBytes { return 1 + size }
    return kind == .decimal ? 25 : 40
  }

  /// The room of a part, given how much of the key is written.
  @inline(__always)
  func room(_ part: Part, written: Int) -> Int {
    Limits.keyBytesMax - 8 - written - part.reservedAfter
  }

  /// Calls the closure with each key that the record has in this index: none, one, or for a list
  /// one per distinct element. The object id is already at the end where it belongs.
  ///
  /// - Parameter endsInIdentity: Whether the keys of a unique index end in it, too: so the keys of
  ///   records with equal values are distinct.
  @inline(__always)
  package func eachKey(
    of view: RecordView, id: Int64, endsInIdentity: Bool = false, writer: inout KeyWriter,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let endsInIdentity = endsInIdentity || !isUnique
    if isSparse {
      for part in parts where view.field(part.position).isNull { return }
    }
    if let listPart {
      return try eachListKey(
        of: view, id: endsInIdentity ? id : nil, listPart: listPart, writer: &writer, body)
    }
    writer.removeAll()
    for part in parts { try append(part, view.field(part.position), to: &writer) }
    if endsInIdentity { writer.append(objectID: id) }
    try body(writer.bytes)
  }

  private func eachListKey(
    of view: RecordView, id: Int64?, listPart: Int, writer: inout KeyWriter,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let list = view.field(parts[listPart].position)
    if list.isNull { return }
    // Two elements that are cut to the same bytes share an entry: keys are made distinct, not
    // elements.
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

  /// Appends a value that stands alone, as a fetch names it.
  ///
  /// - Parameter value: Of the part's kind, or null.
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

  /// The object id of an entry.
  @inline(__always)
  package func objectID(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int64? {
    let bytes = isUnique ? value : key
    guard bytes.count >= 8 else { return nil }
    let bits = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
    return Int64(bitPattern: UInt64(bigEndian: bits) ^ 0x8000_0000_0000_0000)
  }

  /// The key without the object id: what it sorts by.
  @inline(__always)
  func sortBytes(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    isUnique || key.count < 8 ? key : UnsafeRawBufferPointer(rebasing: key[..<(key.count - 8)])
  }

  /// Whether some component of the key was cut, so that the record must be looked at.
  ///
  /// - Complexity: O(1) for keys that are too short to have been cut, which is nearly all.
  @inline(__always)
  func isCut(_ key: UnsafeRawBufferPointer) -> Bool {
    key.count >= cutBytesMin && KeyReader(self).cutEnd(of: key) != nil
  }

  /// The bytes by which the index orders its entries: all but the object id, or if a component
  /// was cut no more than up to its mark. Entries that agree in these are put in order by their
  /// records: what follows a cut (other components, a hash) says nothing about the order.
  func orderingBytes(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard key.count >= cutBytesMin, let end = KeyReader(self).cutEnd(of: key) else {
      return sortBytes(of: key)
    }
    return UnsafeRawBufferPointer(rebasing: key[..<end])
  }
}
