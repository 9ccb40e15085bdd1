import Console
import EntityModel

/// Writes rows of values in any format, one at a time.
struct RowWriter {
  private let titles: [String]
  private let format: OutputFormat
  private var table: TextTable
  private var isFirst = true

  /// Rows of a table whose widths are found together; later ones keep these widths.
  private static let rowsAtOnce = 500

  /// - Parameter numbers: The titles of columns that end at the right edge.
  init(titles: [String], format: OutputFormat, numbers: Set<String> = ["_id"]) {
    self.titles = titles
    self.format = format
    table = TextTable(titles.map { .init($0, numbers.contains($0) ? .number : .text) })
  }

  mutating func begin(_ output: inout StandardOutput) throws {
    switch format {
    case .json: try output.write("[")
    case .csv: try output.writeCSV(titles)
    case .jsonl, .table: break
    }
  }

  /// - Parameter row: One value per title.
  mutating func write(_ row: [Value], _ output: inout StandardOutput) throws {
    switch format {
    case .table:
      table.append(row.map { $0.isNull ? "" : $0.text })
      if table.rowCount >= Self.rowsAtOnce {
        try output.write(table.takeText(width: output.terminalWidth))
      }
    case .csv: try output.writeCSV(row.map { $0.isNull ? nil : $0.text })
    case .json:
      try output.write(isFirst ? "\n" : ",\n")
      try writeObject(row, &output)
    case .jsonl:
      try writeObject(row, &output)
      try output.write("\n")
    }
    isFirst = false
  }

  mutating func end(_ output: inout StandardOutput) throws {
    switch format {
    case .table: try output.write(table.takeText(width: output.terminalWidth))
    case .json: try output.write(isFirst ? "]\n" : "\n]\n")
    case .csv, .jsonl: break
    }
  }

  private func writeObject(_ row: [Value], _ output: inout StandardOutput) throws {
    for (index, (title, value)) in zip(titles, row).enumerated() {
      try output.write(index == 0 ? "{" : ",")
      try output.writeJSON(title)
      try output.write(":")
      try output.writeJSON(value)
    }
    try output.write("}")
  }
}
