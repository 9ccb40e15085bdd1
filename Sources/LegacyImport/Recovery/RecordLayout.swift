/// The columns of a table in the order in which its records have them.
struct RecordLayout {
  struct Field: Hashable {
    /// `nil` for a column whose name is not UTF-8.
    let name: String?
    let affinity: Affinity
    let isRequired: Bool
    /// The value of rows that are older than the column.
    let missing: Cell
  }

  /// The preference of a column for a type, by which SQLite stores its values.
  enum Affinity: String {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
    case numeric = "NUMERIC"
    case blob = "BLOB"

    init(declared: String) {
      let type = declared.uppercased()
      func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
      self =
        has("INT")
        ? .integer
        : has("CHAR", "CLOB", "TEXT")
          ? .text
          : has("BLOB") || type.isEmpty ? .blob : has("REAL", "FLOA", "DOUB") ? .real : .numeric
    }

    /// True if SQLite stores such a value in such a column without a reason to convert it.
    func admits(_ cell: Cell) -> Bool {
      switch (self, cell) {
      case (.integer, .text), (.integer, .badText), (.integer, .blob), (.real, .text),
        (.real, .badText), (.real, .blob), (.text, .integer), (.text, .real):
        false
      default: true
      }
    }
  }

  let table: SourceTable
  let fields: [Field]
  /// The columns of the key with their collations, of a table without row ids.
  let key: [(name: String, collation: String)]
  /// The place of the column that is the row id: records have null there.
  let alias: Int?
  /// A name of the row id that no column has.
  let rowIDName: String?

  init(
    _ table: SourceTable, fields: [Field], key: [(name: String, collation: String)] = []
  ) {
    self.table = table
    self.fields = fields
    self.key = key
    alias = table.rowIDAlias.flatMap { name in fields.firstIndex { $0.name == name } }
    let names = Set(table.columns.map { $0.name.lowercased() })
    rowIDName = table.rowIDAlias ?? ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
  }

  /// Returns how well records may be of this table: 0 if they cannot be, else more for a better
  /// likeness.
  func likeness(to rows: [[Cell]]) -> Int {
    var isWhole = true
    var isAdmitted = true
    for cells in rows {
      guard cells.count <= fields.count, !cells.isEmpty else { return 0 }
      for (place, cell) in cells.enumerated() {
        if place == alias {
          guard cell == .null else { return 0 }
        } else {
          if fields[place].isRequired, cell == .null { return 0 }
          isAdmitted = isAdmitted && fields[place].affinity.admits(cell)
        }
      }
      isWhole = isWhole && cells.count == fields.count
    }
    return rows.isEmpty ? 0 : 1 + (isWhole ? 2 : 0) + (isAdmitted ? 1 : 0)
  }
}
