extension SourceDatabase {
  /// Returns the rows in the order of these columns, compared byte by byte, then of their
  /// positions. The rows are sorted on disk, in SQLite's temporary files, before the first one is
  /// returned. Unreadable ranges come first.
  ///
  /// - Throws: ``ImportError``; `tooLarge` for a value that is longer than `Limits.cellBytesMax`.
  package func sortedRows(
    of table: SourceTable, columns: [String], by keys: [String]
  ) throws -> RowReader {
    let walk = try walk(of: table)
    guard !options.allowsDamage else { return try copiedRows(of: table, walk, columns, by: keys) }
    let rows = try RowStatements(
      connection, walk, columns: columns,
      clauses: " FROM \(sqlName(walk.table)) NOT INDEXED"
        + order(keys.map(sqlName) + walk.positionColumns))
    return RowReader(rows, isSorted: true, connection, walk, columns: columns, options)
  }

  private func order(_ columns: [String]) -> String {
    columns.isEmpty
      ? "" : " ORDER BY " + columns.map { $0 + " COLLATE BINARY" }.joined(separator: ", ")
  }

  /// Copies the readable rows and sorts the copy: in a damaged file SQLite would stop at the first
  /// bad page.
  private func copiedRows(
    of table: SourceTable, _ walk: TableWalk, _ columns: [String], by keys: [String]
  ) throws -> RowReader {
    // Without a name it is a file that is gone when it is closed.
    let copy = try SQLiteConnection(creating: "")
    let cellNames = (0..<(columns.count + keys.count)).map { "c\($0)" }
    let positionNames = (0..<max(1, walk.positionColumns.count)).map { "p\($0)" }
    let names = cellNames + positionNames
    try copy.execute("CREATE TABLE rows (\(names.joined(separator: ", ")))")
    try copy.execute("BEGIN")
    let insertion = try copy.prepare(
      "INSERT INTO rows VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))")
    var unreadable: [RowEvent] = []
    let reader = try rows(of: table, columns: columns + keys)
    while let event = try reader.next() {
      guard case .row(let row) = event else {
        unreadable.append(event)
        continue
      }
      insertion.reset()
      try insertion.bind(row.cells + row.position.cells)
      _ = try insertion.step()
    }
    let copyWalk = TableWalk(
      table: "rows", order: walk.positionsAreRowIDs ? .rowID("p0") : .key(positionNames))
    let sorted = try RowStatements(
      copy, copyWalk, columns: Array(cellNames.prefix(columns.count)),
      clauses: " FROM rows" + order(cellNames.dropFirst(columns.count) + positionNames))
    return RowReader(
      sorted, isSorted: true, copy, copyWalk, columns: columns, options, startingWith: unreadable)
  }
}

extension TableWalk {
  fileprivate var positionsAreRowIDs: Bool {
    switch order {
    case .rowID, .storage([]): true
    case .key, .storage: false
    }
  }
}
