/// The tables of a damaged file, from the entries of its schema that can be read.
struct RecoveredSchema {
  let schema: SourceSchema
  /// The layouts of tables with rows, by name.
  private(set) var layouts: [String: RecordLayout] = [:]
  /// Columns that are left out, each on one line.
  private(set) var warnings: [String] = []
  private let connection: SQLiteConnection

  /// - Parameter path: Where a database goes that has the schema and no rows.
  init(_ entries: [SchemaEntries.Entry], at path: String) throws {
    try Self.write(entries, to: path)
    connection = try SQLiteConnection(path: path)
    try connection.allowDamagedSchema()
    schema = try SourceSchema(connection)
    for table in schema.tables where schema.walks[table.name] != nil {
      let layout = try layout(of: table)
      layouts[table.name] = layout
      let stored = Set(layout.fields.compactMap(\.name))
      for column in table.columns where !stored.contains(column.name) {
        warnings.append(
          "the computed column \(column.name) of \(table.name) is not in the pages of the file: "
            + "it is null")
      }
    }
  }

  private static func write(_ entries: [SchemaEntries.Entry], to path: String) throws {
    let connection = try SQLiteConnection(creating: path)
    try connection.allowDamagedSchema()
    let insertion = try connection.prepare("INSERT INTO sqlite_schema VALUES (?1, ?2, ?3, ?4, ?5)")
    for (number, entry) in entries.enumerated() {
      insertion.reset()
      // Each tree needs a root of its own, which is never read.
      let root = entry.isTree ? Int64(number + 2) : 0
      try insertion.bind([
        .text(entry.type), .text(entry.name), .text(entry.table), .integer(root),
        entry.sql.map { .text($0) } ?? .null,
      ])
      _ = try insertion.step()
    }
  }

  private func layout(of table: SourceTable) throws -> RecordLayout {
    let list = try connection.prepare(
      """
      SELECT name, type, "notnull", dflt_value FROM pragma_table_xinfo(?1) WHERE hidden <> 2 \
      ORDER BY cid
      """)
    try list.bind([.text(table.name)])
    var fields: [RecordLayout.Field] = []
    while try list.step() {
      let type = if case .text(let type) = try list.cell(1) { type } else { "" }
      let affinity = RecordLayout.Affinity(declared: type)
      let name: String? = if case .text(let name) = try list.cell(0) { name } else { nil }
      let missing: Cell =
        if case .text(let text) = try list.cell(3) { Self.value(of: text, affinity) } else { .null }
      fields.append(
        RecordLayout.Field(
          name: name, affinity: affinity, isRequired: list.integer(2) != 0, missing: missing))
    }
    guard !table.hasRowID else { return RecordLayout(table, fields: fields) }
    return try keyed(table, fields)
  }

  /// Returns the layout of a table without row ids: its records begin with the key.
  private func keyed(
    _ table: SourceTable, _ fields: [RecordLayout.Field]
  ) throws -> RecordLayout {
    let list = try connection.prepare(
      """
      SELECT x.name, x.coll, x.key \
      FROM pragma_index_list(?1) AS l, pragma_index_xinfo(l.name) AS x \
      WHERE l.origin = 'pk' ORDER BY x.seqno
      """)
    try list.bind([.text(table.name)])
    var ordered: [RecordLayout.Field] = []
    var key: [(name: String, collation: String)] = []
    while try list.step() {
      guard case .text(let name) = try list.cell(0),
        let field = fields.first(where: { $0.name == name })
      else { continue }
      ordered.append(field)
      if list.integer(2) != 0, case .text(let collation) = try list.cell(1) {
        key.append((name, collation))
      }
    }
    return RecordLayout(table, fields: ordered, key: key)
  }

  /// Returns the value of a literal; anything else is null, as an expression is not run.
  private static func value(of literal: String, _ affinity: RecordLayout.Affinity) -> Cell {
    guard !literal.contains("("), let connection = try? SQLiteConnection(creating: ""),
      (try? connection.execute("CREATE TABLE d (c \(affinity.rawValue) DEFAULT \(literal))"))
        != nil,
      (try? connection.execute("INSERT INTO d DEFAULT VALUES")) != nil,
      let statement = try? connection.prepare("SELECT c FROM d"), (try? statement.step()) == true,
      let cell = try? statement.cell(0)
    else { return .null }
    return cell
  }
}
