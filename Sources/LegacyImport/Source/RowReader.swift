import EntityModel

/// Reads rows one after another. Used by one thread.
package final class RowReader {
  private let connection: SQLiteConnection
  private let walk: TableWalk
  private let columns: [String]
  private let rowsMax: Int64
  private var rows: RowStatements
  /// True if `rows` begin at a position.
  private var isResumed = false
  private var last: RowPosition?
  /// The row after which reading continues, in the order of storage.
  private var skipsTo: RowPosition?
  private var count: Int64 = 0
  private let isSorted: Bool
  private var isOver = false
  private lazy var oversized = Result { try OversizedRows(connection, walk, columns: columns) }

  /// - Parameters:
  ///   - after: The position after which reading continues.
  ///   - rowsMax: The greatest number of rows that the file can hold.
  convenience init(
    _ connection: SQLiteConnection, _ walk: TableWalk, columns: [String], after: RowPosition?,
    _ rowsMax: Int64
  ) throws {
    let isResumed = walk.canSeek && after != nil
    let rows = try RowStatements(
      connection, walk, columns: columns, clauses: walk.clauses(isResumed: isResumed))
    if isResumed { try rows.start(after?.cells ?? []) }
    self.init(rows, isSorted: false, connection, walk, columns: columns, rowsMax)
    self.isResumed = isResumed
    last = after
    skipsTo = walk.canSeek ? nil : after
  }

  /// - Parameter isSorted: Whether the rows are in an order of their own.
  init(
    _ rows: RowStatements, isSorted: Bool, _ connection: SQLiteConnection, _ walk: TableWalk,
    columns: [String], _ rowsMax: Int64
  ) {
    self.connection = connection
    self.walk = walk
    self.columns = columns
    self.rowsMax = rowsMax
    self.rows = rows
    self.isSorted = isSorted
  }

  /// - Returns: Nil after the last row.
  /// - Throws: ``ImportError``, `damaged` with the table and the last position that was read;
  ///   `CancellationError`.
  package func next() throws -> SourceRow? {
    while !isOver {
      guard let row = try nextFound() else { break }
      last = row.position
      guard let place = skipsTo else { return row }
      if row.position == place { skipsTo = nil }
    }
    isOver = true
    return nil
  }

  private func nextFound() throws -> SourceRow? {
    switch try rows.next() {
    case .done: return nil
    case .malformed: throw damage
    case .oversized: return try nextOversized()
    case .row(let row):
      count += 1
      guard count <= rowsMax, isAscending(row.position) else { throw damage }
      return row
    }
  }

  private func isAscending(_ position: RowPosition) -> Bool {
    guard !isSorted, skipsTo == nil, case .rowID(let id) = position, case .rowID(let before) = last
    else { return true }
    return id > before
  }

  private func nextOversized() throws -> SourceRow? {
    guard walk.canSeek, !isSorted else {
      throw ImportError(
        .tooLarge, "a value is too large in rows that are not read by a key",
        [("table", walk.table), ("bytes at most", String(Limits.cellBytesMax))])
    }
    guard let row = try oversized.get().row(after: last) else { return nil }
    try resume(after: row.position)
    return row
  }

  private var damage: ImportError {
    ImportError(
      .damaged, "the file is damaged: rows of a table cannot be read",
      [("table", walk.table), ("after", last?.description ?? "its start")],
      advice: "--damaged imports what can still be read")
  }

  private func resume(after position: RowPosition) throws {
    if !isResumed {
      rows = try RowStatements(
        connection, walk, columns: columns, clauses: walk.clauses(isResumed: true))
      isResumed = true
    }
    try rows.start(position.cells)
  }
}

extension RowPosition: CustomStringConvertible {
  var cells: [Cell] {
    switch self {
    case .rowID(let id): [.integer(id)]
    case .key(let cells): cells
    }
  }

  /// The position on one line, shortened.
  package var description: String {
    switch self {
    case .rowID(let id): "row \(id)"
    case .key(let cells): "key (" + cells.map(\.brief).joined(separator: ", ") + ")"
    }
  }
}

extension Cell {
  /// The value on one line, shortened.
  var brief: String {
    switch self {
    case .null: "null"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text): "'" + String(text.prefix(40)).onOneLine + "'"
    case .badText(let bytes): "text of \(bytes.count) bytes"
    case .blob(let bytes): "blob of \(bytes.count) bytes"
    case .oversized(let bytes): "value of \(bytes) bytes"
    }
  }
}
