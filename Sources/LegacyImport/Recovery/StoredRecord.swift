/// The values of one record, as SQLite stores it: the number of bytes of the head, a type for each
/// value, then the values.
struct StoredRecord {
  let cells: [Cell]

  /// - Returns: `nil` if the bytes are not those of a record.
  init?(_ bytes: [UInt8], _ encoding: DatabaseHeader.TextEncoding) {
    var head = ByteReader(bytes, at: 0)
    guard let headBytes = head.number(), headBytes >= 1, headBytes <= Int64(bytes.count) else {
      return nil
    }
    var place = Int(headBytes)
    var cells: [Cell] = []
    while head.place < Int(headBytes) {
      // SQLite has no table with more columns.
      guard cells.count < 32_767, let type = head.number(), type >= 0, type != 10, type != 11
      else { return nil }
      let count = Self.byteCount(of: type)
      guard count <= Int64(bytes.count - place) else { return nil }
      let end = place + Int(count)
      cells.append(Self.cell(bytes[place..<end], type, encoding))
      place = end
    }
    guard head.place == Int(headBytes) else { return nil }
    self.cells = cells
  }

  private static func byteCount(of type: Int64) -> Int64 {
    switch type {
    case 0, 8, 9: 0
    case 1...4: type
    case 5: 6
    case 6, 7: 8
    default: (type - 12) / 2
    }
  }

  private static func cell(
    _ bytes: ArraySlice<UInt8>, _ type: Int64, _ encoding: DatabaseHeader.TextEncoding
  ) -> Cell {
    switch type {
    case 0: return .null
    case 8: return .integer(0)
    case 9: return .integer(1)
    case 7:
      let number = Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
      return number.isNaN ? .null : .real(number)
    case 1...6:
      let sign: UInt64 = (bytes.first ?? 0) < 0x80 ? 0 : .max
      return .integer(Int64(bitPattern: bytes.reduce(sign) { $0 << 8 | UInt64($1) }))
    default:
      guard bytes.count <= Limits.cellBytesMax else { return .oversized(bytes: Int64(bytes.count)) }
      return type % 2 == 0 ? .blob(Array(bytes)) : text(bytes, encoding)
    }
  }

  private static func text(
    _ bytes: ArraySlice<UInt8>, _ encoding: DatabaseHeader.TextEncoding
  ) -> Cell {
    switch encoding {
    case .utf8:
      return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .badText(Array(bytes))
    case .utf16LittleEndian, .utf16BigEndian:
      let isLittle = encoding == .utf16LittleEndian
      let bytes = Array(bytes)
      let units = stride(from: 0, to: bytes.count - 1, by: 2).map { place in
        isLittle
          ? UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
          : UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
      }
      return .text(String(decoding: units, as: UTF16.self))
    }
  }
}
