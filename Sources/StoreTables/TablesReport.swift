/// The result of an update of the tables.
package struct TablesReport: Codable, Hashable, Sendable {
  package struct Table: Codable, Hashable, Sendable {
    /// The name as it is written in SQL.
    package let name: String
    /// The records of the entity: the rows of the table.
    package let rows: Int
    /// The rows that were inserted or replaced.
    package let written: Int
    /// The rows that were removed because their records are.
    package let removed: Int
    /// True if all rows were written, and not only those of changed records.
    package let isFilled: Bool
  }

  package let tables: [Table]
  /// The tables that were dropped because their entities no longer exist.
  package let dropped: [String]
  /// The id of the store's commit that the tables show.
  package let commit: Int

  /// True if the tables were as they are.
  package var isUnchanged: Bool {
    dropped.isEmpty && tables.allSatisfy { $0.written == 0 && $0.removed == 0 && !$0.isFilled }
  }
}

/// The progress of an update.
package struct TablesProgress: Sendable {
  /// The name of the entity whose table is written.
  package let entity: String
  package let done: Int
  /// The number of rows of a table that is filled; `nil` while one follows changes.
  package let total: Int?
}
