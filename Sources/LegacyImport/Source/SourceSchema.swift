import EntityModel

/// Reads the tables of a database, in the order of their names.
struct SourceSchema {
  let connection: SQLiteConnection
  private(set) var tables: [SourceTable] = []
  /// The order in which each table is read, by name.
  private(set) var walks: [String: TableWalk] = [:]
  /// Tables and columns that are left out, each on one line.
  private(set) var warnings: [String] = []
  /// The definitions of virtual tables, by the name of the table and by that of its content.
  private var definitions: [String: VirtualDefinition] = [:]

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    let list = try connection.prepare(
      "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'")
    var found: [(name: String, kind: String, hasRowID: Bool)] = []
    while try list.step() {
      guard case .text(let name) = try list.cell(0), !name.utf8.contains(0) else {
        warnings.append("a table is left out, since its name is not UTF-8")
        continue
      }
      guard !name.lowercased().hasPrefix("sqlite_"), case .text(let kind) = try list.cell(1) else {
        continue
      }
      found.append((name, kind, list.integer(2) == 0))
    }
    try readDefinitions(contents: Set(found.filter { $0.kind == "shadow" }.map(\.name)))
    for table in found.sorted(by: { $0.name < $1.name }) {
      var kind = SourceTable.Kind(rawValue: table.kind) ?? .view
      if kind == .shadow, definitions[table.name] != nil { kind = .content }
      try add(table.name, kind, hasRowID: table.hasRowID)
    }
  }

  /// - Parameter contents: The names of the tables that may have the texts of a full-text table.
  private mutating func readDefinitions(contents: Set<String>) throws {
    let list = try connection.prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL %'")
    while try list.step() {
      guard case .text(let name) = try list.cell(0), case .text(let sql) = try list.cell(1) else {
        continue
      }
      var definition = VirtualDefinition(sql)
      if definition.isFullText, contents.contains(name + "_content") {
        definition.content = name + "_content"
        definitions[name + "_content"] = definition
      }
      definitions[name] = definition
    }
  }

  private mutating func add(_ name: String, _ kind: SourceTable.Kind, hasRowID: Bool) throws {
    guard kind != .virtual, kind != .view else {
      tables.append(
        SourceTable(
          name: name, kind: kind, columns: [], hasRowID: false, primaryKey: [], rowIDAlias: nil,
          foreignKeys: [], uniqueKeys: [], definition: definitions[name]))
      return
    }
    let (columns, primaryKey) = try columns(of: name)
    let indexes = try indexes(of: name)
    // `INTEGER PRIMARY KEY` is the row id, unless SQLite made an index for it: with `DESC` it does.
    let alias: String? =
      if hasRowID, primaryKey.count == 1, !indexes.contains(where: { $0.isPrimaryKey }),
        columns.contains(where: {
          $0.name == primaryKey[0] && $0.declaredType.uppercased() == "INTEGER"
        })
      { primaryKey[0] } else { nil }
    let table = SourceTable(
      name: name, kind: kind, columns: columns, hasRowID: hasRowID, primaryKey: primaryKey,
      rowIDAlias: alias, foreignKeys: try foreignKeys(of: name),
      uniqueKeys: indexes.filter(\.isUnique).map { $0.parts.map(\.column) }
        .filter { key in key.allSatisfy { name in columns.contains { $0.name == name } } },
      definition: definitions[name])
    tables.append(table)
    walks[name] = TableWalk(table, key: indexes.first { $0.isPrimaryKey }?.parts ?? [])
  }

  private mutating func columns(of table: String) throws -> ([SourceColumn], primaryKey: [String]) {
    let list = try connection.prepare(
      "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1)")
    try list.bind([.text(table)])
    var columns: [SourceColumn] = []
    var key: [(place: Int64, name: String)] = []
    var computed: Set<String> = []
    while try list.step() {
      guard list.integer(4) != 1 else { continue }
      guard case .text(let name) = try list.cell(0) else {
        warnings.append("a column of \(table) is left out, since its name is not UTF-8".onOneLine)
        continue
      }
      let type = if case .text(let type) = try list.cell(1) { type } else { "" }
      columns.append(SourceColumn(name: name, declaredType: type, isRequired: list.integer(2) != 0))
      if list.integer(4) == Self.virtualColumn { computed.insert(name) }
      if list.integer(3) > 0 { key.append((list.integer(3), name)) }
    }
    for name in computed.sorted() {
      guard let reason = try faultOfComputed(name, of: table) else { continue }
      columns.removeAll { $0.name == name }
      let left = "the column \(name) of \(table) is left out: it is not stored, and SQLite cannot "
      warnings.append((left + "compute it (\(reason))").onOneLine)
    }
    return (columns, key.sorted { $0.place < $1.place }.map(\.name))
  }

  /// The value of `hidden` for a generated column that is computed when it is read.
  private static let virtualColumn: Int64 = 2

  /// Computes a generated column in each row: it may need a function of another program, or have a
  /// value for which its function fails.
  ///
  /// - Returns: The reason why it cannot be computed; `nil` if it can.
  /// - Complexity: O(rows).
  private func faultOfComputed(_ column: String, of table: String) throws -> String? {
    do {
      let statement = try connection.prepare(
        "SELECT count(typeof(\(sqlName(column)))) FROM \(sqlName(table)) NOT INDEXED")
      _ = try statement.outcome()
      return nil
    } catch let error as ImportError where error.code == .unreadable {
      return error.context.last?.1 ?? String(describing: error.summary)
    }
  }

  private struct Index {
    let name: String
    let isUnique: Bool
    let isPrimaryKey: Bool
    let parts: [TableWalk.KeyPart]
  }

  private func indexes(of table: String) throws -> [Index] {
    let list = try connection.prepare(
      "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?1)")
    try list.bind([.text(table)])
    var indexes: [Index] = []
    while try list.step() {
      guard case .text(let name) = try list.cell(0), let parts = try parts(of: name)
      else { continue }
      indexes.append(
        Index(
          name: name, isUnique: list.integer(1) != 0 && list.integer(3) == 0,
          isPrimaryKey: try list.cell(2) == .text("pk"), parts: parts))
    }
    return indexes.sorted { $0.name < $1.name }
  }

  /// - Returns: Nil for an index of expressions.
  private func parts(of index: String) throws -> [TableWalk.KeyPart]? {
    let list = try connection.prepare(
      "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")
    try list.bind([.text(index)])
    var parts: [TableWalk.KeyPart] = []
    while try list.step() {
      guard case .text(let column) = try list.cell(0) else { return nil }
      let collation = if case .text(let name) = try list.cell(2) { name } else { "" }
      parts.append(
        TableWalk.KeyPart(
          column: column, isDescending: list.integer(1) != 0, collation: collation.uppercased()))
    }
    return parts
  }

  private func foreignKeys(of table: String) throws -> [SourceForeignKey] {
    let list = try connection.prepare(
      "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq")
    try list.bind([.text(table)])
    var keys: [(id: Int64, key: SourceForeignKey)] = []
    while try list.step() {
      let id = list.integer(0)
      guard case .text(let target) = try list.cell(1), case .text(let from) = try list.cell(2)
      else { continue }
      let to: [String] = if case .text(let to) = try list.cell(3) { [to] } else { [] }
      let before = keys.last?.id == id ? keys.removeLast().key : nil
      keys.append(
        (
          id,
          SourceForeignKey(
            columns: (before?.columns ?? []) + [from], table: target,
            targetColumns: (before?.targetColumns ?? []) + to)
        ))
    }
    return keys.map(\.key)
  }
}
