import CMooringSQLite
import SystemSupport

extension SourceDatabase {
  /// Opens the copy of a file.
  ///
  /// - Parameters:
  ///   - allowsDamage: True to read the pages of a damaged or cut file one by one and to keep what
  ///     can be read in a second file. A sound file is read as without it.
  ///   - lostTables: The `CREATE TABLE` statements of tables that the file may have lost, by name.
  /// - Throws: ``ImportError``: `damaged`, also for a file whose pages SQLite finds damaged, and
  ///   `truncated`; `CancellationError`.
  package static func open(
    _ snapshot: SourceSnapshot, allowsDamage: Bool, lostTables: [String: String] = [:],
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws -> SourceDatabase {
    guard allowsDamage else {
      let database = try SourceDatabase(snapshot, isCancelled: isCancelled)
      if let finding = database.structuralFinding {
        throw ImportError(
          .damaged, "SQLite finds the file damaged",
          [("path", snapshot.source), ("finding", finding)],
          advice: "--damaged imports what can still be read")
      }
      return database
    }
    do {
      let database = try SourceDatabase(snapshot, isCancelled: isCancelled)
      if database.isSound { return database }
    } catch let error as ImportError where error.code == .damaged || error.code == .truncated {
      // What follows reads what this cannot.
    }
    return try FileRecovery(snapshot, lostTables, isCancelled).database()
  }
}

/// Reads all pages of a damaged file without SQLite, and writes the rows into a sound one.
///
/// The pages of a tree are found from its root. A page that no tree leads to, since the pages above
/// it are lost, is of the table to which its rows fit; if there is none or more than one, its rows
/// become a table of lost rows. Pages that the file does not use are left out, for the rows in them
/// were deleted.
final class FileRecovery {
  private let snapshot: SourceSnapshot
  private let lostTables: [String: String]
  private let isCancelled: @Sendable () -> Bool
  private var warnings: [String] = []

  init(
    _ snapshot: SourceSnapshot, _ lostTables: [String: String],
    _ isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.snapshot = snapshot
    self.lostTables = lostTables
    self.isCancelled = isCancelled
  }

  func database() throws -> SourceDatabase {
    try snapshot.fault?.patch(snapshot.copy)
    try takeInLog()
    let hasLog = snapshot.report.writeAheadLog?.committedFrames ?? 0 > 0
    let pages = try DatabasePages(
      snapshot.copy, stated: hasLog ? nil : snapshot.report.header?.pageCount)
    let reader = TreeReader(pages, isCancelled: isCancelled)
    var entries = try SchemaEntries(reader)
    entries.add(lostTables)
    let schema = try RecoveredSchema(entries.entries, at: snapshot.scratch.path + "/schema.sqlite")
    let rows = try RecoveredRows(
      at: snapshot.scratch.path + "/recovered.sqlite", isCancelled: isCancelled)
    try reader.findShared(entries.entries.filter(\.isTree).map(\.root))
    let trees = try RecoveredTrees(reader, entries.entries, schema, rows)
    let free = try FreePages(pages, used: reader.used)
    var orphans = OrphanPages(
      reader, free, trees, rows, isSchemaDamaged: entries.isDamaged)
    try orphans.assign()
    try rows.finish()
    let lost = try LostRowCount(
      reader, free, trees, rows, orphans: orphans, isSchemaDamaged: entries.isDamaged
    ).all()
    let tables = schema.schema.tables + orphans.lost.map(\.table)
    guard tables.contains(where: { $0.isOrdinary }) else {
      throw ImportError(
        .damaged, "no table can be found in what is left of the file",
        [("path", snapshot.source)], advice: "take a backup of it")
    }
    warnings += schema.schema.warnings + schema.warnings
    if !free.isComplete {
      warnings.append(
        "the list of free pages is damaged: rows without a table may be rows that were deleted")
    }
    var walks = schema.schema.walks
    for layout in orphans.lost { walks[layout.table.name] = TableWalk(layout.table, key: []) }
    return try SourceDatabase(
      recovered: rows.connection, snapshot, tables: tables.sorted { $0.name < $1.name },
      walks: walks, lost: lost, warnings: warnings)
  }

  /// Has SQLite roll back the journal and take the log into the copy, as it does for a sound file.
  private func takeInLog() throws {
    let connection = try SQLiteConnection(path: snapshot.copy, isCancelled: isCancelled)
    // The schema may be damaged; to read the header is enough to have both files noticed.
    _ = try? connection.execute("PRAGMA schema_version")
    guard snapshot.report.writeAheadLog?.committedFrames ?? 0 > 0 else { return }
    let status = sqlite3_wal_checkpoint_v2(
      connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if status != SQLITE_OK {
      warnings.append("the -wal cannot be taken into the damaged file: its changes are missing")
    }
  }
}
