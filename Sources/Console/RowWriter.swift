public import EntityModel
import TextFormats

/// Writes rows of values in any format, one at a time: every command prints values in this way.
///
/// Nothing is written before the first row or the end, so that a command which fails at its start
/// prints no partial document. A table holds back 500 rows to find the widths of its columns; the
/// other formats hold back nothing.
public struct RowWriter {
  private let titles: [String]
  private let format: OutputFormat
  private var table: TextTable?
  private var waiting: [[RowCell]] = []
  private var isFirst = true

  /// Rows of a table whose widths are found together; later ones keep these widths.
  private static let rowsAtOnce = 500

  public init(titles: [String], format: OutputFormat) {
    self.titles = titles
    self.format = format
  }

  /// - Parameter row: One value per title.
  public mutating func write(_ row: [Value], _ output: inout StandardOutput) throws {
    try write(row.map(RowCell.value), &output)
  }

  /// - Parameter row: One cell per title.
  public mutating func write(_ row: [RowCell], _ output: inout StandardOutput) throws {
    if isFirst { try begin(&output) }
    switch format {
    case .table:
      waiting.append(row)
      if waiting.count >= Self.rowsAtOnce { try writeWaiting(&output) }
    case .csv, .exactCSV: try output.writeCSV(row.map(\.field), as: format)
    case .json:
      try output.write(isFirst ? "\n" : ",\n")
      try writeObject(row, &output)
    case .jsonl:
      try writeObject(row, &output)
      try output.write("\n")
    }
    isFirst = false
  }

  public mutating func end(_ output: inout StandardOutput) throws {
    if isFirst { try begin(&output) }
    switch format {
    case .table: if table == nil || !waiting.isEmpty { try writeWaiting(&output) }
    case .json: try output.write(isFirst ? "]\n" : "\n]\n")
    case .csv, .exactCSV, .jsonl: break
    }
  }

  private func begin(_ output: inout StandardOutput) throws {
    switch format {
    case .json: try output.write("[")
    case .csv, .exactCSV: try output.writeCSV(titles, as: format)
    case .jsonl, .table: break
    }
  }

  private mutating func writeWaiting(_ output: inout StandardOutput) throws {
    var table = table ?? TextTable(titles.indices.map(column))
    for row in waiting { table.append(row.map(\.shown)) }
    try output.write(table.takeText(width: output.terminalWidth))
    self.table = table
    waiting.removeAll(keepingCapacity: true)
  }

  /// A column of numbers, as far as is known, ends at the right edge.
  private func column(_ index: Int) -> TextTable.Column {
    let cells = waiting.lazy.map { $0[index] }.filter { !$0.isNull }
    let isNumber = !cells.isEmpty && cells.allSatisfy(\.isNumber)
    return TextTable.Column(titles[index], isNumber ? .number : .text)
  }

  private func writeObject(_ row: [RowCell], _ output: inout StandardOutput) throws {
    try output.write(JSONLiteral.object(titles, row.map(\.json)))
  }
}
