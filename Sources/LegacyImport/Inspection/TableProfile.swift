/// Statistics of the rows of one table.
struct TableProfile: Sendable {
  let columns: [ColumnProfile]
  /// The number of rows that were read.
  let rows: Int
  /// The number of rows of the table.
  let total: Int64
  /// The rows that cannot be read, of a damaged file.
  let lost: LostRows?

  var isWhole: Bool { Int64(rows) >= total }

  /// The number of rows that are read from the beginning of a table.
  private static let rowsMax = 200_000
  /// The number of samples after these rows, and the rows of each.
  private static let samples = 64
  private static let sampleRows = 1_000
  /// The number of distinct values that are kept for all columns of a table together.
  private static let distinctMax = 100_000

  /// Reads the first 200,000 rows, and of a longer table 64 samples of 1,000 rows after them.
  ///
  /// - Throws: `ImportError` if the file cannot be read; `CancellationError`.
  init(of table: SourceTable, in database: SourceDatabase) throws {
    let names = table.columns.map(\.name)
    let distinctMax = min(1_000, Self.distinctMax / max(names.count, 1))
    var pass = Pass(
      columns: Array(repeating: ColumnProfile(distinctMax: distinctMax), count: names.count))
    try pass.read(try database.rows(of: table, columns: names), rowsMax: Self.rowsMax)
    let total = pass.isAtEnd ? Int64(pass.rows) : try database.count(table)
    let stride = max(1, (total - Int64(pass.rows)) / Int64(Self.samples))
    for _ in 0..<Self.samples where !pass.isAtEnd {
      // Only row ids can be leapt over.
      guard case .rowID(let last)? = pass.position else { break }
      let (start, overflow) = last.addingReportingOverflow(stride)
      if overflow { break }
      let rows = try database.rows(of: table, columns: names, after: .rowID(start))
      try pass.read(rows, rowsMax: Self.sampleRows)
    }
    columns = pass.columns
    rows = pass.rows
    self.total = max(total, Int64(pass.rows))
    lost = database.lostRows(of: table.name)
  }

  private struct Pass {
    var columns: [ColumnProfile]
    var rows = 0
    var position: RowPosition?
    var isAtEnd = false

    mutating func read(_ reader: RowReader, rowsMax: Int) throws {
      for _ in 0..<rowsMax {
        guard let row = try reader.next() else {
          isAtEnd = true
          return
        }
        rows += 1
        position = row.position
        for (place, cell) in row.cells.enumerated() where place < columns.count {
          columns[place].add(cell)
        }
      }
    }
  }
}
