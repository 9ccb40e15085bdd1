/// A value as SQLite stores it, before any conversion. Any column may have any of these, whatever
/// its declared type.
package enum Cell: Hashable, Codable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A text whose bytes are not UTF-8.
  case badText([UInt8])
  case blob([UInt8])
  /// A text or blob of more than `Limits.cellBytesMax` bytes, which is never read completely.
  case oversized(bytes: Int64)

  /// The approximate number of bytes of the value in memory.
  var byteCount: Int {
    switch self {
    case .null, .integer, .real, .oversized: 8
    case .text(let text): text.utf8.count
    case .badText(let bytes), .blob(let bytes): bytes.count
    }
  }
}

/// The position of a row in the order in which its table is read. It is valid for one copy of the
/// file.
package enum RowPosition: Hashable, Codable, Sendable {
  case rowID(Int64)
  /// The primary key of a table without row ids.
  case key([Cell])
}

package struct SourceRow: Sendable {
  package let position: RowPosition
  /// The values in the order in which the columns were requested.
  package var cells: [Cell]
}
