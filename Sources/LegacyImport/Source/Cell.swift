/// A value as SQLite holds it, before any conversion: any column may hold any of these, whatever it
/// was declared as.
package enum Cell: Hashable, Codable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A text whose bytes are not UTF-8.
  case badText([UInt8])
  case blob([UInt8])
  /// A text or blob beyond `Limits.cellBytesMax`, which is never read whole.
  case oversized(bytes: Int64)
}

/// Where a row stands in its table, in the order in which tables are walked. Stable for as long as the
/// copy of the file is.
package enum RowPosition: Hashable, Codable, Sendable {
  case rowID(Int64)
  /// The primary key of a table without row ids.
  case key([Cell])
}

package struct SourceRow: Sendable {
  package let position: RowPosition
  /// In the order in which the columns were asked for.
  package var cells: [Cell]

  package init(position: RowPosition, cells: [Cell]) {
    self.position = position
    self.cells = cells
  }
}
