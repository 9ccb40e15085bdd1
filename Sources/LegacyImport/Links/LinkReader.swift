import TextFormats

/// Reads the rows that lead to other rows, and of these rows no more than their keys.
///
/// Used by one thread, for one walk over the links of a relationship.
final class LinkReader {
  /// A row of the owner's table with the key of the row that it leads to.
  struct Reference {
    let owner: RowKey
    /// `nil` if a part of the key is null: the row leads nowhere.
    let target: RowKey?
  }

  /// The rows of a join table that have one owner.
  struct List {
    /// `nil` if a part of the key is null.
    let owner: RowKey?
    let targets: [RowKey?]
    /// The rows themselves, for rejects.
    let rows: [SourceRow]
  }

  private let link: BoundLink
  private let context: ImportContext
  /// The owner's table without its attributes: its key, the columns that determine the entity, and
  /// the columns of the relationship.
  private let owner: BoundTable
  private let reader: RowReader
  /// The first row of the next list.
  private var nextRow: SourceRow?
  private var isAtEnd = false

  init(_ link: BoundLink, _ context: ImportContext) throws {
    self.link = link
    self.context = context
    owner = try context.bound.tables[link.table].slim(relationship: link.mapping.relationship)
    switch link.source {
    case .columns: reader = try context.database.rows(of: owner.table, columns: owner.columns)
    case .join(let table, let owner, let target, let order):
      let order = [order].compactMap { $0 }
      reader = try context.database.sortedRows(
        of: table, columns: owner + target + order, by: owner + order + target)
    }
  }

  /// Returns the next row of a relationship by columns, in order of position.
  func nextReference() throws -> Reference? {
    guard case .columns = link.source else { return nil }
    while let row = try nextReadableRow() {
      guard owner.parts.firstIndex(where: { $0.takes(row) }) == link.part,
        let key = RowKey(owner.key(of: row), of: owner.table.name, context),
        !context.duplicates.contains(key.identity, row.position, table: owner.table.name)
      else { continue }
      let cells = owner.parts[link.part].references.map { row.cells[$0] }
      return Reference(owner: key, target: RowKey(cells, of: link.mapping.table, context))
    }
    return nil
  }

  /// Returns the rows of the next owner of a relationship by a join table, in the order of the
  /// list.
  ///
  /// - Throws: `tooLarge` for a list of more than `Limits.listMax` rows.
  func nextList() throws -> List? {
    guard case .join(let table, let ownerColumns, let targetColumns, _) = link.source else {
      return nil
    }
    guard let first = try nextRow ?? nextReadableRow() else { return nil }
    let key = Array(first.cells[..<ownerColumns.count])
    var rows = [first]
    nextRow = try nextReadableRow()
    while let row = nextRow, row.cells[..<ownerColumns.count].elementsEqual(key) {
      rows.append(row)
      guard rows.count <= Limits.listMax else {
        throw ImportError(
          .tooLarge, "a list of one record is too long",
          [("table", table.name), ("owner", RowIdentity.excerpt(of: key))])
      }
      nextRow = try nextReadableRow()
    }
    let targets = rows.map { row in
      RowKey(
        Array(row.cells[ownerColumns.count..<ownerColumns.count + targetColumns.count]),
        of: link.mapping.table, context)
    }
    return List(
      owner: RowKey(key, of: owner.table.name, context), targets: targets, rows: rows)
  }

  /// Returns the references that are read between two transactions; none at the end.
  func nextReferences() throws -> [Reference] {
    var references: [Reference] = []
    while references.count < Limits.linkRowsMax, let reference = try nextReference() {
      references.append(reference)
    }
    return references
  }

  /// Returns the lists that are read between two transactions; none at the end.
  func nextLists() throws -> [List] {
    var lists: [List] = []
    var rows = 0
    while rows < Limits.linkRowsMax, let list = try nextList() {
      lists.append(list)
      rows += list.rows.count
    }
    return lists
  }

  private func nextReadableRow() throws -> SourceRow? {
    if isAtEnd { return nil }
    let row = try reader.next()
    isAtEnd = row == nil
    return row
  }
}

/// The key of a row, with the identity of the row.
struct RowKey {
  let table: String
  let cells: [Cell]
  let identity: RowIdentity

  init?(_ cells: [Cell], of table: String, _ context: ImportContext) {
    guard
      let identity = RowIdentity(
        source: context.source, table: context.bound.identityName(of: table), key: cells)
    else { return nil }
    self.table = table
    self.cells = cells
    self.identity = identity
  }

  var text: String { RowIdentity.excerpt(of: cells) }
}

extension BoundLink {
  /// Returns the key that a link leads to, as the row of a reject.
  func text(of target: RowKey?) -> String {
    JSONLiteral.object([mapping.relationship], [target?.text ?? "null"])
  }
}

extension SourceRow {
  /// The row of a join table, as the row of a reject.
  var text: String { "[" + cells.map(\.excerpt).joined(separator: ",") + "]" }
}
