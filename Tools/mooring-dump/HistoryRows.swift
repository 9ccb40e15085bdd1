import Console
import EntityModel
import EntityStore

/// Prints writes as rows, one per change.
struct HistoryRows {
  /// How many writes were printed.
  private(set) var writes = 0
  /// The place after the last of them.
  private(set) var token: HistoryToken?
  private var rows: RowWriter
  /// In a table for people a token would take more room than all else.
  private let showsTokens: Bool

  init(format: OutputFormat) {
    let titles = ["sequence", "time", "author", "kind", "record", "changed", "values"]
    showsTokens = format != .table
    rows = RowWriter(titles: titles + (showsTokens ? ["token"] : []), format: format)
  }

  mutating func write(_ write: HistoryTransaction, _ output: inout StandardOutput) throws {
    writes += 1
    token = write.token
    let author = write.author.map(Value.string) ?? .null
    let before: [RowCell] = [
      .value(.int64(write.token.sequence)), .value(.date(write.date)), .value(author),
    ]
    let after: [RowCell] = showsTokens ? [.value(.string(write.token.description))] : []
    for change in write.changes {
      try rows.write(before + change.cells + after, &output)
    }
    for entity in write.unrecordedEntities {
      let cells: [RowCell] = [
        .value("unrecorded"), .value(.string(entity)), .value(.strings([])), .values([:]),
      ]
      try rows.write(before + cells + after, &output)
    }
  }

  mutating func end(_ output: inout StandardOutput) throws { try rows.end(&output) }
}

extension HistoryChange {
  fileprivate var cells: [RowCell] {
    [
      .value(.string(kind.rawValue)), .value(.string(objectID.description)),
      .value(.strings(changedProperties)), .values(values),
    ]
  }
}
