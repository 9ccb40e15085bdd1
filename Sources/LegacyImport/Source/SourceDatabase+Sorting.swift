extension SourceDatabase {
  /// Returns the rows in the order of these columns, compared byte by byte, then of their
  /// positions. The rows are sorted on disk, in SQLite's temporary files, before the first one is
  /// returned.
  ///
  /// - Throws: ``ImportError``; `tooLarge` for a value that is longer than `Limits.cellBytesMax`.
  package func sortedRows(
    of table: SourceTable, columns: [String], by keys: [String]
  ) throws -> RowReader {
    let walk = try walk(of: table)
    let rows = try RowStatements(
      connection, walk, columns: columns,
      clauses: " FROM \(sqlName(walk.table)) NOT INDEXED"
        + order(keys.map(sqlName) + walk.positionColumns))
    return RowReader(rows, isSorted: true, connection, walk, columns: columns, rowsMax)
  }

  private func order(_ columns: [String]) -> String {
    columns.isEmpty
      ? "" : " ORDER BY " + columns.map { $0 + " COLLATE BINARY" }.joined(separator: ", ")
  }
}
