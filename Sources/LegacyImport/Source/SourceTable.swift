/// A table of a legacy file, as its schema has it.
package struct SourceTable: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case table
    /// Made by a module that may not be there; never read.
    case virtual
    /// The storage of a virtual table: looks like data and is none.
    case shadow
    case view
  }

  package let name: String
  package let kind: Kind
  /// Generated ones included, hidden ones not; in their order.
  package let columns: [SourceColumn]
  package let hasRowID: Bool
  /// Names of the columns of the declared primary key, in its order; empty without one.
  package let primaryKey: [String]
  /// The column that is the row id under another name.
  package let rowIDAlias: String?
  package let foreignKeys: [SourceForeignKey]
  /// The columns of each unique index without a condition.
  package let uniqueKeys: [[String]]

  package init(
    name: String, kind: Kind, columns: [SourceColumn], hasRowID: Bool, primaryKey: [String],
    rowIDAlias: String?, foreignKeys: [SourceForeignKey], uniqueKeys: [[String]]
  ) {
    self.name = name
    self.kind = kind
    self.columns = columns
    self.hasRowID = hasRowID
    self.primaryKey = primaryKey
    self.rowIDAlias = rowIDAlias
    self.foreignKeys = foreignKeys
    self.uniqueKeys = uniqueKeys
  }

  package func column(_ name: String) -> SourceColumn? { columns.first { $0.name == name } }
}

package struct SourceColumn: Hashable, Sendable {
  package let name: String
  /// As the schema has it; often empty or untrue.
  package let declaredType: String
  package let isRequired: Bool
  package let isGenerated: Bool

  package init(name: String, declaredType: String, isRequired: Bool, isGenerated: Bool) {
    self.name = name
    self.declaredType = declaredType
    self.isRequired = isRequired
    self.isGenerated = isGenerated
  }
}

package struct SourceForeignKey: Hashable, Sendable {
  package let columns: [String]
  package let table: String
  /// Empty where the schema leaves it to the primary key.
  package let targetColumns: [String]

  package init(columns: [String], table: String, targetColumns: [String]) {
    self.columns = columns
    self.table = table
    self.targetColumns = targetColumns
  }
}
