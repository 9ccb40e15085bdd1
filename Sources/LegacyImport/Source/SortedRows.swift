/// Reads rows in the order of columns, compared byte by byte, then of their positions.
struct SortedRows {
  let database: SourceDatabase
  let connection: SQLiteConnection
  let table: SourceTable
  let walk: TableWalk
  let columns: [String]
  let keys: [String]
  let options: RowReader.Options

  /// Returns a reader. SQLite sorts in its own temporary files. For a damaged file, where SQLite
  /// would stop at the first bad page, the readable rows are copied first.
  func reader() throws -> RowReader {
    guard !options.allowsDamage else { return try copiedReader() }
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

  private func copiedReader() throws -> RowReader {
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
    let reader = try database.rows(of: table, columns: columns + keys)
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
      table: "rows", order: positionsAreRowIDs ? .rowID("p0") : .key(positionNames))
    let rows = try RowStatements(
      copy, copyWalk, columns: Array(cellNames.prefix(columns.count)),
      clauses: " FROM rows" + order(cellNames.dropFirst(columns.count) + positionNames))
    return RowReader(
      rows, isSorted: true, copy, copyWalk, columns: columns, options, startingWith: unreadable)
  }

  private var positionsAreRowIDs: Bool {
    switch walk.order {
    case .rowID, .storage([]): true
    case .key, .storage: false
    }
  }
}
