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
    try reader.next().map { WalkedRow(position: $0.position, outcome: outcome(of: $0)) }
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

struct WalkedRow {
  let position: RowPosition
  let outcome: RowOutcome

  /// The approximate number of bytes in memory.
  fileprivate var byteCount: Int {
    let row: SourceRow
    switch outcome {
    case .accepted(let mapped): row = mapped.row
    case .rejected(let rejected): row = rejected.row
    case .skipped: return 0
    }
    return row.cells.reduce(0) { $0 + $1.byteCount }
  }
}
