import EntityStore

/// Reads a table in the order of its rows and maps each of them, a chunk at a time.
final class RowWalk {
  private let table: BoundTable
  private let reader: RowReader
  private let mapper: RowMapper
  private let duplicates: DuplicateKeys

  init(_ table: BoundTable, after position: RowPosition?, _ context: ImportContext) throws {
    self.table = table
    reader = try context.database.rows(of: table.table, columns: table.columns, after: position)
    mapper = try RowMapper(table, source: context.source, contents: context.contents)
    duplicates = context.duplicates
  }

  /// - Returns: `nil` at the end.
  func next() throws -> WalkedRow? {
    switch try reader.next() {
    case nil: return nil
    case .unreadable(let rows, _, let last)?: return .unreadable(rows, upTo: last)
    case .row(let row)?: return .row(row.position, outcome(of: row))
    }
  }

  /// Returns the rows of one transaction; none at the end.
  func nextChunk() throws -> [WalkedRow] {
    var rows: [WalkedRow] = []
    var chunk = ChunkBudget(rowsMax: Limits.chunkRowsMax, bytesMax: Limits.chunkBytesMax)
    while chunk.hasRoom, let row = try next() {
      chunk.add(rows: 1, bytes: row.byteCount)
      rows.append(row)
    }
    return rows
  }

  private func outcome(of row: SourceRow) -> RowOutcome {
    let outcome = mapper.map(row)
    guard case .accepted(let mapped) = outcome,
      duplicates.contains(mapped.identity, row.position, table: table.table.name)
    else { return outcome }
    return .rejected(
      RejectedRow(
        part: mapped.part, identity: nil, key: mapped.key,
        rejects: [Reject(.duplicateKey, nil, "an earlier row has the same key")], row: row))
  }
}

enum WalkedRow {
  case row(RowPosition, RowOutcome)
  /// A description of rows that cannot be read.
  case unreadable(String, upTo: RowPosition?)

  var position: RowPosition? {
    switch self {
    case .row(let position, _): position
    case .unreadable(_, let last): last
    }
  }

  /// The approximate number of bytes in memory.
  fileprivate var byteCount: Int {
    guard case .row(_, let outcome) = self else { return 0 }
    let row: SourceRow
    switch outcome {
    case .accepted(let mapped): row = mapped.row
    case .rejected(let rejected): row = rejected.row
    case .skipped: return 0
    }
    return row.cells.reduce(0) { $0 + $1.byteCount }
  }
}
