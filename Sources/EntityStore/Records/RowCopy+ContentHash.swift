import EntityModel

extension RowCopy {
  /// Returns the hash of the values that differ from the defaults, each together with the id of its
  /// attribute. An added attribute therefore changes no hash until it gets a value.
  ///
  ///     for each such value, in the order of the attributes
  ///         0   attribute's identity, 4 bytes, little-endian
  ///         4   size of the value, 4 bytes, little-endian; all ones for null
  ///         8   the value, as it stands in a record
  ///
  /// - Parameter ignored: Positions whose values do not count.
  /// - Throws: `damaged` if a value is unreadable.
  package func contentHash(ignoring ignored: [Int] = []) throws(StoreError) -> Int64 {
    do {
      return try withView { try hash(of: $0, ignored) } ?? 0
    } catch {
      throw StoreError.damaged("a copy of a record is unreadable", entity: entity.name)
    }
  }

  private func hash(of row: RecordView, _ ignored: [Int]) throws -> Int64 {
    // The values lie in the record once.
    let bytesMax = row.count + 8 * row.attributeCount
    return try withUnsafeTemporaryAllocation(byteCount: bytesMax, alignment: 8) { hashed in
      var end = 0
      for position in 0..<row.attributeCount where !ignored.contains(position) {
        let field = row.field(position)
        if try field.hasContent(of: row.version.pointee.defaultField(position)) { continue }
        hashed.storeBytes(
          of: entity.attributeIDs[position].littleEndian, toByteOffset: end, as: UInt32.self)
        var size = UInt32.max
        let start = end + 8
        if !field.isNull {
          let value = try field.storedBytes()
          UnsafeMutableRawBufferPointer(rebasing: hashed[start...]).copyMemory(from: value)
          size = UInt32(value.count)
        }
        hashed.storeBytes(of: size.littleEndian, toByteOffset: end + 4, as: UInt32.self)
        end = start + (field.isNull ? 0 : Int(size))
      }
      return ContentHash.of(UnsafeRawBufferPointer(rebasing: hashed[..<end]))
    }
  }
}

extension RecordField {
  /// Returns true if the values are equal: as numbers, or by their bytes.
  @inline(__always)
  fileprivate func hasContent(of other: RecordField) throws(RecordDamage) -> Bool {
    if isNull || other.isNull { return isNull == other.isNull }
    // 0 and -0 have different bytes.
    if kind == .double || kind == .date { return double == other.double }
    return try isSame(as: other)
  }
}
