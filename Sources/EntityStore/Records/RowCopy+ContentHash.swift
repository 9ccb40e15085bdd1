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
  /// - Parameter marks: The marks (see `RowChanges`) of the positions that may have other values
  ///   than the defaults.
  /// - Parameter ignored: Positions whose values do not count.
  /// - Throws: `damaged` if a value is unreadable.
  package func contentHash(
    of marks: UInt64 = .max, ignoring ignored: [Int] = []
  ) throws(StoreError) -> Int64 {
    do {
      return try withView { try hash(of: $0, marks, ignored) } ?? 0
    } catch {
      throw StoreError.damaged("a copy of a record is unreadable", entity: entity.name)
    }
  }

  private func hash(of row: RecordView, _ marks: UInt64, _ ignored: [Int]) throws -> Int64 {
    // The values lie in the record once.
    let bytesMax = row.count + 8 * row.attributeCount
    return try withUnsafeTemporaryAllocation(byteCount: bytesMax, alignment: 8) { hashed in
      guard let start = hashed.baseAddress else { return 0 }
      var end = start
      for position in 0..<row.attributeCount where marks & RowChanges.mark(position) != 0 {
        if !ignored.isEmpty, ignored.contains(position) { continue }
        let field = row.field(position)
        if try field.hasContent(of: row.version.pointee.defaultField(position)) { continue }
        // SAFETY: there is room for 8 bytes for each value, and for all values.
        end.storeBytes(of: entity.attributeIDs[position].littleEndian, as: UInt32.self)
        if field.isNull {
          end.storeBytes(of: UInt32.max, toByteOffset: 4, as: UInt32.self)
          end += 8
          continue
        }
        let value = try field.storedBytes()
        end.storeBytes(
          of: UInt32(truncatingIfNeeded: value.count).littleEndian, toByteOffset: 4,
          as: UInt32.self)
        if let content = value.baseAddress {
          (end + 8).copyMemory(from: content, byteCount: value.count)
        }
        end += 8 + value.count
      }
      return ContentHash.of(UnsafeRawBufferPointer(start: start, count: end - start))
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
