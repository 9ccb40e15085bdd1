import CMooringSQLite

/// The rows that were read from a damaged file, in a sound one. Used by one thread.
///
/// The tables have the names, columns and keys of the damaged file, and none of its other rules:
/// the values are stored as they were.
final class RecoveredRows {
  let connection: SQLiteConnection
  private var insertions: [String: SQLiteStatement] = [:]

  init(at path: String, isCancelled: @escaping @Sendable () -> Bool) throws {
    connection = try SQLiteConnection(
      path: path, flags: SQLITE_OPEN_CREATE, isCancelled: isCancelled)
    // A value that is too long for a record is kept as zeros, so that its row is rejected.
    sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 1_000_000_000)
    for sql in [
      "PRAGMA synchronous = OFF", "PRAGMA temp_store = FILE", "PRAGMA mmap_size = 0", "BEGIN",
    ] {
      try connection.execute(sql)
    }
  }

  /// Makes what was written readable within the limits of an import.
  func finish() throws {
    insertions = [:]
    try connection.execute("COMMIT")
    sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, Int32(Limits.cellBytesMax))
  }

  func create(_ layout: RecordLayout) throws {
    let table = layout.table
    let keys = Dictionary(layout.key.map { ($0.name, $0.collation) }) { one, _ in one }
    let reals = Set(layout.fields.filter { $0.affinity == .real }.compactMap(\.name))
    var parts = table.columns.map { column in
      let collation = keys[column.name]?.uppercased() ?? ""
      return sqlName(column.name)
        + (column.name == table.rowIDAlias
          ? " INTEGER PRIMARY KEY" : reals.contains(column.name) ? " REAL" : "")
        + (["NOCASE", "RTRIM"].contains(collation) ? " COLLATE " + collation : "")
    }
    if !layout.key.isEmpty {
      let names = layout.key.map { sqlName($0.name) }
      parts.append("PRIMARY KEY (\(names.joined(separator: ", ")))")
    }
    try connection.execute(
      "CREATE TABLE \(sqlName(table.name)) (" + parts.joined(separator: ", ") + ")"
        + (layout.key.isEmpty ? "" : " WITHOUT ROWID"))
    for (number, key) in table.uniqueKeys.enumerated() where !key.isEmpty && layout.key.isEmpty {
      try connection.execute(
        "CREATE INDEX \(sqlName("recovered \(number) \(table.name)")) ON \(sqlName(table.name)) ("
          + key.map(sqlName).joined(separator: ", ") + ")")
    }
  }

  /// Writes a row, unless the table has one with its key.
  ///
  /// - Returns: False if the table has one.
  @discardableResult
  func insert(_ cells: [Cell], rowID: Int64?, into layout: RecordLayout) throws -> Bool {
    let name = layout.table.name
    let statement = try insertions[name] ?? insertion(layout)
    insertions[name] = statement
    statement.reset()
    var values: [Cell] = []
    if let rowID, layout.rowIDName != nil { values.append(.integer(rowID)) }
    for (place, field) in layout.fields.enumerated()
    where field.name != nil && place != layout.alias {
      values.append(place < cells.count ? cells[place] : field.missing)
    }
    try statement.bind(values.map { if case .oversized = $0 { .null } else { $0 } })
    for (place, value) in values.enumerated() {
      guard case .oversized(let bytes) = value else { continue }
      try statement.bindZeros(bytes, Int32(place + 1))
    }
    _ = try statement.step()
    return sqlite3_changes(connection.handle) == 1
  }

  private func insertion(_ layout: RecordLayout) throws -> SQLiteStatement {
    var names: [String] = []
    if layout.table.hasRowID, !layout.table.isLost, let name = layout.rowIDName {
      names.append(sqlName(name))
    }
    for (place, field) in layout.fields.enumerated() where place != layout.alias {
      if let name = field.name { names.append(sqlName(name)) }
    }
    return try connection.prepare(
      "INSERT OR IGNORE INTO \(sqlName(layout.table.name)) (\(names.joined(separator: ", "))) "
        + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))")
  }

  // MARK: What was written

  /// Returns one number of a query; `nil` if it has none.
  func number(_ sql: String, _ parameters: [Cell] = []) throws -> Int64? {
    let statement = try connection.prepare(sql)
    try statement.bind(parameters)
    guard try statement.step(), case .integer(let number) = try statement.cell(0) else {
      return nil
    }
    return number
  }

  /// Returns the number of rows with greater row ids than `after`, up to `upTo`.
  func count(_ layout: RecordLayout, after: Int64?, upTo: Int64?) throws -> Int64 {
    guard let name = layout.rowIDName else { return 0 }
    let bounds = [(after, ">"), (upTo, "<=")].filter { $0.0 != nil }
    let conditions = bounds.map { "\(sqlName(name)) \($0.1) ?" }.joined(separator: " AND ")
    return try number(
      "SELECT count(*) FROM \(sqlName(layout.table.name))"
        + (bounds.isEmpty ? "" : " WHERE " + conditions),
      bounds.compactMap { $0.0.map { .integer($0) } }) ?? 0
  }
}
