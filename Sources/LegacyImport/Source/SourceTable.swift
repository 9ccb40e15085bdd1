/// A table of a legacy file, as its schema describes it.
package struct SourceTable: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case table
    /// The texts of a full-text table, which its module keeps in a table with a row for each of its
    /// rows.
    case content
    /// A virtual table, whose module may not be there; it is never read.
    case virtual
    /// The storage of a virtual table, which looks like data and is none.
    case shadow
    case view
  }

  package let name: String
  package let kind: Kind
  /// The columns in their order, including generated and without hidden ones.
  package let columns: [SourceColumn]
  package let hasRowID: Bool
  /// The columns of the declared primary key, in its order; empty without one.
  package let primaryKey: [String]
  /// The column that is an alias of the row id.
  package let rowIDAlias: String?
  package let foreignKeys: [SourceForeignKey]
  /// The columns of each unique index without a condition.
  package let uniqueKeys: [[String]]
  /// The SQL that creates the virtual table, for such a table and for its content.
  package var definition: VirtualDefinition?
  /// True for a table that the file does not have: rows of a damaged file that fit no table.
  package var isLost = false

  package func column(_ name: String) -> SourceColumn? { columns.first { $0.name == name } }

  /// True if the schema keeps two rows from having the same values in these columns.
  func isUnique(_ names: [String]) -> Bool {
    if names == [Self.rowIDKey], column(Self.rowIDKey) == nil { return true }
    let unique = uniqueKeys + [primaryKey, rowIDAlias.map { [$0] } ?? []]
    return unique.contains { !$0.isEmpty && Set(names).isSuperset(of: $0) }
  }

  /// The name by which a mapping refers to the row id, where no column has this name.
  package static let rowIDKey = "rowid"

  /// True for a table with rows of the file's owner: neither a view nor one of SQLite's own tables.
  package var isOrdinary: Bool {
    kind == .table && !name.lowercased().hasPrefix("sqlite_")
  }

  /// True for a table that a mapping can read.
  package var isReadable: Bool { isOrdinary || kind == .content }

  var kindText: String {
    switch kind {
    case .table: "a table of SQLite itself"
    case .content: "the texts of a full-text table"
    case .virtual: "a virtual table"
    case .shadow: "storage of a virtual table"
    case .view: "a view"
    }
  }
}

package struct SourceColumn: Hashable, Sendable {
  package let name: String
  /// The declared type, often empty or misleading.
  package let declaredType: String
  package let isRequired: Bool
}

package struct SourceForeignKey: Hashable, Sendable {
  package let columns: [String]
  package let table: String
  /// The columns of the other table; empty for its primary key.
  package let targetColumns: [String]
}

/// The definition of a virtual table.
package struct VirtualDefinition: Hashable, Sendable {
  package let sql: String
  /// The module in lower case; empty if the SQL does not name one.
  package let module: String
  /// The table with its texts, for a full-text table that has its own.
  package var content: String?

  init(_ sql: String) {
    self.sql = sql
    let words = sql.split(whereSeparator: \.isWhitespace)
    // CREATE VIRTUAL TABLE name USING module(…): the name may be any word, too.
    let using = words.indices.dropFirst(4).first { words[$0].uppercased() == "USING" }
    let next = using.flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil } ?? ""
    module = next.prefix { $0 != "(" }.filter { !"\"'`[]".contains($0) }.lowercased()
  }

  var isFullText: Bool { ["fts3", "fts4", "fts5"].contains(module) }
}

/// The rows of a table of a damaged file that cannot be read.
package struct LostRows: Hashable, Sendable {
  package let table: String
  /// The bounds of their number. They are equal if the number is known.
  package internal(set) var atLeast: Int64
  package internal(set) var atMost: Int64
  /// Descriptions of where they were, each on one line.
  package let ranges: [String]
  /// True for rows that were found and fit no table; `table` has them.
  package var isFound = false

  /// The number in words.
  var count: String { atLeast == atMost ? String(atMost) : "up to \(atMost)" }

  /// The number with the first ranges, on one line.
  var text: String {
    let what = isFound ? "rows that fit no table" : "rows cannot be read"
    let rest = ranges.count > 3 ? "; …" : ""
    return "\(table): \(count) \(what) (\(ranges.prefix(3).joined(separator: "; "))\(rest))"
  }
}
