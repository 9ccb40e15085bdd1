import CMooringSQLite

/// Reads rows with a cell that is too long, cell by cell, and of that cell only the size.
final class OversizedRows {
  private let connection: SQLiteConnection
  private let walk: TableWalk
  private let columns: [String]
  private let positions: SQLiteStatement
  private let firstPosition: SQLiteStatement
  /// The statements by what they select, prepared when they are first needed: most tables have no
  /// such row.
  private var selections: [String: SQLiteStatement] = [:]

  init(_ connection: SQLiteConnection, _ walk: TableWalk, columns: [String]) throws {
    self.connection = connection
    self.walk = walk
    self.columns = columns
    let select = "SELECT " + walk.positionColumns.joined(separator: ", ")
    firstPosition = try connection.prepare(select + walk.clauses(isResumed: false) + " LIMIT 1")
    positions = try connection.prepare(select + walk.clauses(isResumed: true) + " LIMIT 1")
  }

  /// Returns the first row after this position.
  func row(after position: RowPosition?) throws -> SourceRow? {
    let statement = position == nil ? firstPosition : positions
    statement.reset()
    try statement.bind(position?.cells ?? [])
    guard try statement.step() else { return nil }
    let found = try walk.positionColumns.indices.map { try statement.cell(Int32($0)) }
    statement.reset()
    let next: RowPosition =
      if case .rowID = walk.order, case .integer(let id) = found[0] { .rowID(id) } else {
        .key(found)
      }
    return try row(at: next)
  }

  func row(at position: RowPosition) throws -> SourceRow {
    SourceRow(
      position: position, cells: try columns.indices.map { try cell($0, at: position) })
  }

  private func cell(_ place: Int, at position: RowPosition) throws -> Cell {
    let statement = try select(sqlName(columns[place]), at: position)
    defer { statement.reset() }
    switch try statement.outcome() {
    case .row: return try statement.cell(0)
    case .done: return .null
    case .malformed: throw connection.damage("the file is damaged", [])
    case .oversized: return .oversized(bytes: try size(place, at: position))
    }
  }

  private func size(_ place: Int, at position: RowPosition) throws -> Int64 {
    if case .rowID(let id) = position {
      var blob: OpaquePointer?
      defer { sqlite3_blob_close(blob) }
      // It reads the head of the row only; tables with generated columns have none.
      if sqlite3_blob_open(connection.handle, "main", walk.table, columns[place], id, 0, &blob)
        == SQLITE_OK
      {
        return Int64(sqlite3_blob_bytes(blob))
      }
    }
    let statement = try select("\(Self.size)(\(sqlName(columns[place])))", at: position)
    defer { statement.reset() }
    // Before 3.43 a text must be read for its length; that it is too long is known.
    guard try statement.outcome() == .row else { return Int64(Limits.cellBytesMax) + 1 }
    return max(statement.integer(0), Int64(Limits.cellBytesMax) + 1)
  }

  private func select(_ expression: String, at position: RowPosition) throws -> SQLiteStatement {
    let statement =
      try selections[expression] ?? connection.prepare("SELECT \(expression)" + walk.exactClauses)
    selections[expression] = statement
    statement.reset()
    try statement.bind(position.cells)
    return statement
  }

  private static let size = sqlite3_libversion_number() >= 3_043_000 ? "octet_length" : "length"
}
