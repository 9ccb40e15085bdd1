import EntityModel

package enum RowEvent: Sendable {
  case row(SourceRow)
  /// A range of rows that cannot be read: between `from`, the last row before them, and `to`, the
  /// first row after them; `nil` is the start or the end of the table. If row ids go back, the last
  /// row that was returned may be the wrong one, and the range begins before it. Only with
  /// `allowsDamage`.
  case unreadable(rows: String, from: RowPosition?, to: RowPosition?)
}

/// Reads rows one after another. Used by one thread.
package final class RowReader {
  private let connection: SQLiteConnection
  private let walk: TableWalk
  private let columns: [String]
  private let options: Options
  private var rows: RowStatements
  /// True if `rows` begin at a position.
  private var isResumed = false
  private var last: RowPosition?
  /// The row before the last one. If the next row goes back, the last one may be wrong.
  private var lastButOne: RowPosition?
  /// The row after which reading continues, in the order of storage.
  private var skipsTo: RowPosition?
  private var goesBack = false
  private var count: Int64 = 0
  /// The events before the first row, last first.
  private var before: [RowEvent] = []
  private let isSorted: Bool
  /// The row after an unreadable range.
  private var pending: SourceRow?
  private var isOver = false
  private lazy var oversized = Result { try OversizedRows(connection, walk, columns: columns) }
  private lazy var detour = Result { try DamageDetour(connection, walk, columns: columns) }

  package struct Options {
    let allowsDamage: Bool
    /// The greatest number of rows that a file of its size can hold: pages that form a cycle give
    /// endless rows.
    let rowsMax: Int64
  }

  /// - Parameter after: The position after which reading continues.
  convenience init(
    _ connection: SQLiteConnection, _ walk: TableWalk, columns: [String], after: RowPosition?,
    _ options: Options
  ) throws {
    let isResumed = walk.canSeek && after != nil
    let rows = try RowStatements(
      connection, walk, columns: columns, clauses: walk.clauses(isResumed: isResumed))
    if isResumed { try rows.start(after?.cells ?? []) }
    self.init(rows, isSorted: false, connection, walk, columns: columns, options)
    self.isResumed = isResumed
    last = after
    skipsTo = walk.canSeek ? nil : after
  }

  /// - Parameter isSorted: Whether the rows are in an order of their own.
  init(
    _ rows: RowStatements, isSorted: Bool, _ connection: SQLiteConnection, _ walk: TableWalk,
    columns: [String], _ options: Options, startingWith before: [RowEvent] = []
  ) {
    self.connection = connection
    self.walk = walk
    self.columns = columns
    self.options = options
    self.before = before.reversed()
    self.rows = rows
    self.isSorted = isSorted
  }

  /// - Returns: Nil after the last row.
  /// - Throws: ``ImportError``, `damaged` with the table and the last position that was read;
  ///   `CancellationError`.
  package func next() throws -> RowEvent? {
    if let event = before.popLast() { return event }
    switch try nextFound() {
    case .malformed: return try passDamage()
    case .row(let row):
      lastButOne = last
      last = row.position
      return .row(row)
    case nil: return nil
    }
  }

  private enum Found {
    case row(SourceRow)
    case malformed
  }

  private func nextFound() throws -> Found? {
    if let row = pending {
      pending = nil
      return .row(row)
    }
    while !isOver {
      switch try rows.next() {
      case .done: isOver = true
      case .malformed: return .malformed
      case .oversized: return try nextOversized()
      case .row(let row):
        count += 1
        guard count <= options.rowsMax else { return .malformed }
        guard isAscending(row.position) else {
          goesBack = true
          return .malformed
        }
        guard let place = skipsTo else { return .row(row) }
        if row.position == place { skipsTo = nil }
      }
    }
    return nil
  }

  private func isAscending(_ position: RowPosition) -> Bool {
    guard !isSorted, skipsTo == nil, case .rowID(let id) = position, case .rowID(let before) = last
    else { return true }
    return id > before
  }

  private func nextOversized() throws -> Found? {
    guard walk.canSeek, !isSorted else {
      throw ImportError(
        .tooLarge, "a value is too large in rows that are not read by a key",
        [("table", walk.table), ("bytes at most", String(Limits.cellBytesMax))])
    }
    guard let row = try oversized.get().row(after: last) else {
      isOver = true
      return nil
    }
    try resume(after: row.position)
    return .row(row)
  }

  private func passDamage() throws -> RowEvent {
    guard options.allowsDamage, !isSorted else {
      throw ImportError(
        .damaged, "the file is damaged: rows of a table cannot be read",
        [("table", walk.table), ("after", last?.description ?? "its start")],
        advice: "--damaged imports what can still be read")
    }
    let before = goesBack ? lastButOne : last
    goesBack = false
    switch try detour.get().find(after: last) {
    case .end: isOver = true
    case .from(let row):
      try resume(after: row.position)
      pending = row
    case .after(let position):
      try resume(after: position)
      last = position
      if case .row(let row) = try nextFound() { pending = row } else { isOver = true }
    }
    return .unreadable(
      rows: Self.range(before, pending?.position), from: before, to: pending?.position)
  }

  private func resume(after position: RowPosition) throws {
    if !isResumed {
      rows = try RowStatements(
        connection, walk, columns: columns, clauses: walk.clauses(isResumed: true))
      isResumed = true
    }
    try rows.start(position.cells)
  }

  private static func range(_ from: RowPosition?, _ to: RowPosition?) -> String {
    switch (from, to) {
    case (nil, nil): "all"
    case (nil, let to?): "before \(to)"
    case (let from?, nil): "after \(from)"
    case (let from?, let to?): "after \(from), before \(to)"
    }
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
  fileprivate var brief: String {
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
