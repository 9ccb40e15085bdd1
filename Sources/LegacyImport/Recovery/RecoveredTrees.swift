/// The tables of a damaged file with what could not be read of their trees.
final class RecoveredTrees {
  struct Tree {
    let layout: RecordLayout
    /// The root; 0 if it is not known.
    let root: Int
    var gaps: [TreeGap] = []
    /// True if row ids of the table are known from an index.
    var hasIndex = false
    /// True if an index has been read that has each row of the table.
    var hasWholeIndex = false
  }

  private(set) var trees: [Tree] = []
  /// The greatest row ids that tables have had, as SQLite or Core Data remember them.
  private(set) var sequences: [String: Int64] = [:]
  /// True if pages of an index are lost, which look like those of a table without row ids.
  private(set) var hasDamagedIndex = false
  private let reader: TreeReader
  private let rows: RecoveredRows

  /// Reads all trees and writes the rows of the tables.
  init(
    _ reader: TreeReader, _ entries: [SchemaEntries.Entry], _ schema: RecoveredSchema,
    _ rows: RecoveredRows
  ) throws {
    self.reader = reader
    self.rows = rows
    for entry in entries where entry.type == "table" && entry.isTree {
      if let layout = schema.layouts[entry.name] {
        try rows.create(layout)
        trees.append(Tree(layout: layout, root: entry.root))
        try readTable(trees.count - 1)
      } else if entry.name.lowercased().hasPrefix("sqlite_"), entry.root > 1 {
        try readSystemTable(entry)
      }
    }
    // A table whose statement has another name than its entry.
    for (name, layout) in schema.layouts.sorted(by: { $0.key < $1.key })
    where !trees.contains(where: { $0.layout.table.name == name }) {
      try rows.create(layout)
      trees.append(Tree(layout: layout, root: 0, gaps: [TreeGap(page: 0)]))
    }
    for entry in entries where entry.type == "index" && entry.root > 1 { try readIndex(entry) }
    for tree in trees where !tree.gaps.isEmpty { try readKeyMaximum(of: tree.layout.table.name) }
  }

  private func readTable(_ number: Int) throws {
    let layout = trees[number].layout
    guard trees[number].root > 1 else {
      trees[number].gaps.append(TreeGap(page: 0))
      return
    }
    trees[number].gaps += try read(trees[number].root, into: layout)
  }

  /// Writes the rows of a tree, and returns what cannot be read of it.
  func read(_ root: Int, into layout: RecordLayout) throws -> [TreeGap] {
    var gaps: [TreeGap] = []
    var before: [Cell]?
    try reader.read(root: root, isOfRows: layout.key.isEmpty) { event in
      switch event {
      case .gap(var gap):
        gap.keys.before = before
        gaps.append(gap)
      case .cell(let content):
        // A record with more values than the table has columns would lose some.
        let gap = TreeGap(
          rows: 1, after: content.rowID.map { $0 &- 1 }, upTo: content.rowID, keys: (before, nil))
        guard let cells = try reader.record(content), cells.count <= layout.fields.count else {
          return gaps.append(gap)
        }
        if !layout.key.isEmpty {
          before = Array(cells.prefix(layout.key.count))
          for place in gaps.indices.reversed() {
            guard gaps[place].keys.after == nil else { break }
            gaps[place].keys.after = before
          }
        }
        if try !rows.insert(cells, rowID: content.rowID, into: layout) { gaps.append(gap) }
      }
    }
    return gaps
  }

  private func readSystemTable(_ entry: SchemaEntries.Entry) throws {
    try reader.read(root: entry.root, isOfRows: true) { event in
      guard case .cell(let content) = event, let cells = try reader.record(content),
        entry.name.lowercased() == "sqlite_sequence", cells.count == 2,
        case .text(let table) = cells[0], case .integer(let most) = cells[1]
      else { return }
      sequences[table] = most
    }
  }

  /// Reads an index. It has row ids that the table had, also those of which no gap is known.
  private func readIndex(_ entry: SchemaEntries.Entry) throws {
    let number = trees.firstIndex {
      $0.layout.table.name == entry.table && $0.layout.key.isEmpty && $0.layout.rowIDName != nil
    }
    var isWhole = !entry.isPartial
    if let number {
      try rows.connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS \(Self.indexed(number)) (id INTEGER PRIMARY KEY)")
      trees[number].hasIndex = true
    }
    let insertion = try number.map {
      try rows.connection.prepare("INSERT OR IGNORE INTO \(Self.indexed($0)) VALUES (?1)")
    }
    try reader.read(root: entry.root, isOfRows: false) { event in
      switch event {
      case .gap:
        isWhole = false
        hasDamagedIndex = true
      case .cell(let content):
        guard let insertion else {
          if content.overflow != 0 { _ = try reader.record(content) }
          return
        }
        guard let cells = try reader.record(content), case .integer(let id)? = cells.last else {
          isWhole = false
          return
        }
        insertion.reset()
        try insertion.bind([.integer(id)])
        _ = try insertion.step()
      }
    }
    if let number, isWhole { trees[number].hasWholeIndex = true }
  }

  /// The table with the row ids that the indexes of a table have.
  static func indexed(_ number: Int) -> String { "temp.\(sqlName("recovered ids \(number)"))" }

  private func readKeyMaximum(of table: String) throws {
    guard sequences[table] == nil,
      let keys = trees.first(where: { $0.layout.table.name == "Z_PRIMARYKEY" }),
      Set(keys.layout.fields.compactMap(\.name)).isSuperset(of: ["Z_NAME", "Z_MAX"])
    else { return }
    sequences[table] = try rows.number(
      "SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE 'Z' || upper(Z_NAME) = ?1", [.text(table)])
  }

  func add(_ gaps: [TreeGap], to number: Int) { trees[number].gaps += gaps }
}
