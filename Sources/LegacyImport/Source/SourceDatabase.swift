import EntityModel
import SystemSupport

/// The copy of a legacy file, open for reading. Used by one thread.
///
/// Recovery of the `-wal` and rollback of the `-journal` happen in the copy when it is opened.
/// Views, virtual tables and triggers are never run. Nothing is read into memory but the row at
/// hand.
package final class SourceDatabase {
  package let report: SourceReport
  /// The tables in order of name, without SQLite's own.
  package let tables: [SourceTable]
  /// The rows that cannot be read, and those that fit no table; none of a sound file.
  package let lost: [LostRows]
  /// True if SQLite's quick check has read the whole file and has found nothing.
  let isSound: Bool
  let connection: SQLiteConnection
  /// The greatest number of rows that the file can hold.
  let rowsMax: Int64
  private let snapshot: SourceSnapshot
  private let walks: [String: TableWalk]
  /// The numbers of rows by table: the copy does not change.
  private var counts: [String: Int64] = [:]

  /// - Parameter isCancelled: Asked often, on the thread of the caller.
  /// - Throws: ``ImportError``: `damaged`, `truncated`; `CancellationError`.
  package init(
    _ snapshot: SourceSnapshot, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws {
    self.snapshot = snapshot
    if let fault = snapshot.fault { throw fault.error }
    lost = []
    connection = try SQLiteConnection(path: snapshot.copy, isCancelled: isCancelled)
    for setting in ["cell_size_check = 1", "mmap_size = 0", "temp_store = FILE"] {
      try connection.execute("PRAGMA " + setting)
    }
    let schema = try SourceSchema(connection)
    tables = schema.tables
    walks = schema.walks
    let check = try connection.quickCheck()
    var report = snapshot.report
    report.warnings += schema.warnings
    if report.writeAheadLog?.committedFrames ?? 0 > 0 {
      let identity = StoreIdentity(copy: snapshot.copy, connection: connection, tables: tables)
      report.warnings += try [identity.foreignLog()].compactMap { $0 }
    }
    report.findings = check.findings
    if !check.isComplete { report.notes.append("SQLite's quick check could not be done") }
    self.report = report
    isSound = check.isComplete && check.findings.isEmpty
    rowsMax = try Self.rowsMax(connection)
  }

  /// - Parameters:
  ///   - connection: A sound file with the rows that were read from a damaged one.
  ///   - lost: The other rows.
  init(
    recovered connection: SQLiteConnection, _ snapshot: SourceSnapshot, tables: [SourceTable],
    walks: [String: TableWalk], lost: [LostRows], warnings: [String]
  ) throws {
    self.snapshot = snapshot
    self.connection = connection
    self.tables = tables
    self.walks = walks
    self.lost = lost
    var report = snapshot.report
    report.warnings += warnings.map(\.onOneLine)
    self.report = report
    isSound = true
    rowsMax = try Self.rowsMax(connection)
  }

  /// Returns the greatest number of rows that a file of its size can hold: pages that form a cycle
  /// give endless rows.
  private static func rowsMax(_ connection: SQLiteConnection) throws -> Int64 {
    let pages = try connection.prepare("PRAGMA page_count")
    // A page has 64 KiB at most, and a cell four bytes at least.
    return try pages.step() ? pages.integer(0) &* 16_384 : 0
  }

  /// The first damage that SQLite's check has found in the pages of the file; `nil` for none. A
  /// value that breaks a rule of its table, which the check finds, too, is no damage.
  var structuralFinding: String? {
    let findings = report.findings
    guard let head = findings.firstIndex(where: { $0.hasPrefix("*** in database") }) else {
      return findings.first { $0 == SQLiteConnection.malformedPage }
    }
    return head + 1 < findings.count ? findings[head + 1] : findings[head]
  }

  /// A private folder that is removed with the copy.
  var scratchFolder: String { snapshot.scratch.path }

  package func lostRows(of table: String) -> LostRows? { lost.first { $0.table == table } }

  package func table(_ name: String) -> SourceTable? { tables.first { $0.name == name } }

  /// Returns the number of rows; of a damaged file, of those that were read. O(rows), and O(1)
  /// from the second time on.
  package func count(_ table: SourceTable) throws -> Int64 {
    if let known = counts[table.name] { return known }
    let count = try counted(table)
    counts[table.name] = count
    return count
  }

  private func counted(_ table: SourceTable) throws -> Int64 {
    let statement = try connection.prepare(
      "SELECT count(*) FROM \(sqlName(try walk(of: table).table)) NOT INDEXED")
    switch try statement.outcome() {
    case .row: return statement.integer(0)
    case .done, .oversized: return 0
    case .malformed: throw connection.damage("rows cannot be counted", [("table", table.name)])
    }
  }

  /// Returns the rows in the order of their positions.
  ///
  /// - Parameter after: Rows from here on; the row of this position is not among them.
  package func rows(
    of table: SourceTable, columns: [String], after: RowPosition? = nil
  ) throws -> RowReader {
    try RowReader(connection, try walk(of: table), columns: columns, after: after, rowsMax)
  }

  /// Returns the first row in which the columns `key` have these values, byte by byte. O(log rows)
  /// if there is an index, else O(rows).
  package func row(
    of table: SourceTable, where key: [String], is values: [Cell], columns: [String]
  ) throws -> SourceRow? {
    let walk = try walk(of: table)
    let conditions = key.enumerated().map { "\(sqlName($1)) COLLATE BINARY IS ?\($0 + 1)" }
    let clauses =
      " FROM \(sqlName(walk.table)) WHERE " + conditions.joined(separator: " AND ") + " LIMIT 1"
    let whole = try RowStatements(connection, walk, columns: columns, clauses: clauses)
    try whole.start(values)
    switch try whole.next() {
    case .row(let row): return row
    case .done: return nil
    case .malformed: throw connection.damage("a row cannot be read", [("table", table.name)])
    case .oversized:
      let found = try RowStatements(connection, walk, columns: [], clauses: clauses)
      try found.start(values)
      guard walk.canSeek, case .row(let row) = try found.next() else {
        throw ImportError(.tooLarge, "a key is too large", [("table", table.name)])
      }
      return try OversizedRows(connection, walk, columns: columns).row(at: row.position)
    }
  }

  func walk(of table: SourceTable) throws -> TableWalk {
    guard let walk = walks[table.name] else {
      throw ImportError(
        .unreadable, "this is no table whose rows can be read",
        [("table", table.name), ("kind", table.kind.rawValue)])
    }
    return walk
  }
}

extension SourceDatabase {
  /// Returns the rows in the order of these columns, compared byte by byte, then of their
  /// positions. The rows are sorted on disk, in SQLite's temporary files, before the first one is
  /// returned.
  ///
  /// - Throws: ``ImportError``; `tooLarge` for a value that is longer than `Limits.cellBytesMax`.
  package func sortedRows(
    of table: SourceTable, columns: [String], by keys: [String]
  ) throws -> RowReader {
    let walk = try walk(of: table)
    let rows = try RowStatements(
      connection, walk, columns: columns,
      clauses: " FROM \(sqlName(walk.table)) NOT INDEXED"
        + order(keys.map(sqlName) + walk.positionColumns))
    return RowReader(rows, isSorted: true, connection, walk, columns: columns, rowsMax)
  }

  private func order(_ columns: [String]) -> String {
    columns.isEmpty
      ? "" : " ORDER BY " + columns.map { $0 + " COLLATE BINARY" }.joined(separator: ", ")
  }
}
