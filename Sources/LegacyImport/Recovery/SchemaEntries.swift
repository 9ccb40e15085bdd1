/// The entries of a file's schema: its tables and indexes with the roots of their trees.
struct SchemaEntries {
  struct Entry: Hashable {
    let type: String
    let name: String
    let table: String
    let root: Int
    let sql: String?

    init(type: String, name: String, table: String, root: Int, sql: String?) {
      self.type = type
      self.name = name
      self.table = table
      self.root = root
      self.sql = sql
    }

    /// - Returns: `nil` for the values of any other row.
    init?(_ cells: [Cell]) {
      guard cells.count == 5, case .text(let type) = cells[0],
        ["table", "index", "view", "trigger"].contains(type), case .text(let name) = cells[1],
        case .text(let table) = cells[2]
      else { return nil }
      let root: Int64 = if case .integer(let root) = cells[3] { root } else { 0 }
      guard root >= 0, root <= Int64(UInt32.max) else { return nil }
      let sql: String? = if case .text(let sql) = cells[4] { sql } else { nil }
      guard sql?.uppercased().hasPrefix("CREATE") ?? (type == "index") else { return nil }
      self.init(type: type, name: name, table: table, root: Int(root), sql: sql)
    }

    /// True for a table or an index that has a tree; a view and a virtual table have none.
    var isTree: Bool {
      (type == "table" && sql?.uppercased().hasPrefix("CREATE VIRTUAL") != true) || type == "index"
    }

    /// True for an index that has a part of the rows.
    var isPartial: Bool { sql?.uppercased().contains("WHERE") ?? false }
  }

  private(set) var entries: [Entry] = []
  /// True if entries are missing, or may be.
  private(set) var isDamaged = false

  /// Reads the tree of the schema. If pages of it are lost, the pages that have entries are
  /// searched for.
  init(_ reader: TreeReader) throws {
    var found: [Entry] = []
    var isDamaged = false
    var names: Set<String> = []
    try reader.read(root: 1, isOfRows: true) { event in
      switch event {
      case .gap: isDamaged = true
      case .cell(let content):
        guard let cells = try reader.record(content), let entry = Entry(cells),
          entry.type == "trigger" || names.insert(entry.name.lowercased()).inserted
        else {
          isDamaged = true
          return
        }
        found.append(entry)
      }
    }
    // An empty schema in a file with more pages is a lost one.
    let pages = max(reader.pages.stated, reader.pages.count)
    self.isDamaged = isDamaged || (found.isEmpty && pages > 1)
    entries = found
    if self.isDamaged { try search(reader) }
  }

  private mutating func search(_ reader: TreeReader) throws {
    let free = try FreePages(reader.pages, used: reader.used)
    for number in stride(from: 2, through: reader.pages.inUse(reader.used), by: 1)
    where !reader.used.contains(number) && !free.pages.contains(number) {
      guard let page = try reader.pages.treePage(number), page.kind == .rowLeaf,
        let first = page.places.indices.lazy.compactMap({ page.content(of: $0) }).first,
        let cells = try reader.record(first, isSample: true), Entry(cells) != nil
      else { continue }
      try reader.read(root: number, isOfRows: true) { event in
        guard case .cell(let content) = event, let cells = try reader.record(content),
          let entry = Entry(cells),
          !entries.contains(where: { $0.name.lowercased() == entry.name.lowercased() })
        else { return }
        entries.append(entry)
      }
    }
  }

  /// Adds the tables of a mapping that the file has lost. The roots of their trees are not known.
  mutating func add(_ tables: [String: String]) {
    for (name, sql) in tables.sorted(by: { $0.key < $1.key })
    where !entries.contains(where: { $0.name == name }) {
      entries.append(Entry(type: "table", name: name, table: name, root: 0, sql: sql))
    }
  }
}
