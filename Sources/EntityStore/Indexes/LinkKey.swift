import EntityModel

/// The keys by which links are found. For the format of their components see `KeyWriter`.
package final class LinkKey {
  /// The writer of the keys. It belongs to one transaction, and the next lookup overwrites its key.
  var writer = KeyWriter()

  /// Writes values of a record as the first components of an index's keys.
  ///
  /// - Parameter own: The record's positions with the values of the index's first parts.
  /// - Returns: `false` if one of the values is null, so that there is no link.
  func write(
    _ index: IndexLayout, valuesOf view: RecordView, _ own: [Int]
  ) throws(RecordDamage) -> Bool {
    writer.removeAll()
    for (number, position) in own.enumerated() {
      let field = view.field(position)
      if field.isNull { return false }
      let part = index.parts[number]
      try writer.append(
        field, descending: part.isDescending, room: index.room(part, written: writer.count),
        hashesCuts: index.isUnique)
    }
    return true
  }

  /// The size of an integer component: a tag and the number.
  private static let componentBytes = 9

  /// Calls the closure with the component of a record id.
  @inline(__always)
  static func withPrefix<R>(
    _ id: Int64, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    // SAFETY: all temporary bytes are initialized, and they live as long as the closure runs.
    try withUnsafeTemporaryAllocation(byteCount: componentBytes, alignment: 1) { bytes in
      bytes[0] = KeyWriter.present
      bytes.storeBytes(
        of: KeyWriter.ordered(id).bigEndian, toByteOffset: 1, as: UInt64.self)
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Returns the number in the last component of a key whose components are all integers.
  ///
  /// - Returns: `nil` if the key has another form.
  @inline(__always)
  static func last(of index: IndexLayout, _ key: UnsafeRawBufferPointer) -> Int64? {
    number(index.parts.count - 1, of: key)
  }

  /// Returns the number in one component of a key whose components are all integers.
  ///
  /// - Parameter part: The number of the component, from 0.
  @inline(__always)
  static func number(_ part: Int, of key: UnsafeRawBufferPointer) -> Int64? {
    let start = part * componentBytes
    guard key.count >= start + componentBytes, key[start] == KeyWriter.present else { return nil }
    let bits = UInt64(
      bigEndian: key.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self))
    return Int64(bitPattern: bits ^ 0x8000_0000_0000_0000)
  }

  @inline(__always)
  static func begins(
    _ key: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer
  ) -> Bool {
    guard key.count >= prefix.count else { return false }
    return compare(UnsafeRawBufferPointer(rebasing: key[..<prefix.count]), prefix) == 0
  }
}
