import TextFormats

/// The order in which a table is read, and the SQL that continues from a position.
struct TableWalk {
  struct KeyPart: Hashable {
    let column: String
    let isDescending: Bool
    /// The name of the collation in capitals.
    let collation: String
  }

  enum Order {
    /// The row id, under this name.
    case rowID(String)
    /// The primary key.
    case key([String])
    /// The order of storage. Positions are the key; if columns have all names of the row id, the
    /// number of the row.
    case storage(key: [String])
  }

  let table: String
  let order: Order

  /// The columns of a position, as SQL.
  var positionColumns: [String] {
    switch order {
    case .rowID(let name): [sqlName(name)]
    case .key(let columns), .storage(let columns): columns.map(sqlName)
    }
  }

  /// Returns the clauses after the columns. With `isResumed`, the parameters are the cells of a
  /// position.
  func clauses(isResumed: Bool) -> String {
    let from = " FROM \(sqlName(table)) NOT INDEXED"
    let columns = positionColumns
    if case .storage = order { return from }
    let seek =
      isResumed
      ? " WHERE (\(columns.joined(separator: ", "))) > "
        + "(\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))"
      : ""
    return from + seek + " ORDER BY " + columns.joined(separator: ", ")
  }

  /// The clauses that select the row at a position, whose cells are the parameters.
  var exactClauses: String {
    " FROM \(sqlName(table)) NOT INDEXED WHERE "
      + positionColumns.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " AND ")
  }

  var canSeek: Bool {
    if case .storage = order { false } else { true }
  }
}

extension TableWalk {
  init(_ table: SourceTable, key: [KeyPart]) {
    self.table = table.name
    if table.hasRowID {
      let names = Set(table.columns.map { $0.name.lowercased() })
      let free = table.rowIDAlias ?? ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
      order = free.map { .rowID($0) } ?? .storage(key: [])
    } else {
      // Under the collation of another program the order on disk is not one that we can seek in.
      let isKnown = key.allSatisfy {
        !$0.isDescending && ["BINARY", "NOCASE", "RTRIM"].contains($0.collation)
      }
      let columns = table.primaryKey
      order = isKnown && !key.isEmpty ? .key(columns) : .storage(key: columns)
    }
  }
}

/// Returns a name as SQL writes it, whatever characters it has.
func sqlName(_ name: String) -> String { name.sqlName }
