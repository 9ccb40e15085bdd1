import TextFormats

/// Reads the rows that lead to other rows: no more of them than their keys.
struct LinkReader {
  private let link: BoundLink
  private let owner: BoundTable
  private let target: BoundTable
  private let context: ImportContext
  /// The owner's table without its attributes: its key, what tells the entity, and what leads on.
  private let slim: BoundTable

  init(_ link: BoundLink, _ context: ImportContext) throws {
    guard let target = context.bound.table(named: link.mapping.table) else {
      throw BoundMapping.missing(link.mapping.table)
    }
    self.link = link
    self.context = context
    self.target = target
    owner = context.bound.tables[link.table]
    slim = try owner.slim(relationship: link.mapping.relationship)
  }

  /// A row of the owner's table with where it leads.
  struct Reference {
    let owner: RowKey
    /// `nil` where a part of it is null: it leads nowhere.
    let target: RowKey?
  }

  /// Rows of a join table that have one owner.
  struct List {
    /// `nil` where a part of it is null.
    let owner: RowKey?
    let targets: [RowKey?]
    /// The rows themselves, for rejects.
    let rows: [SourceRow]
  }

  /// Calls the closure with the rows that a relationship by columns is of, in order of position.
  ///
  /// - Returns: The rows that cannot be read, in words.
  func eachReference(_ body: (Reference) throws -> Void) throws -> [String] {
    guard case .columns = link.source else { return [] }
    var unreadable: [String] = []
    let reader = try context.database.rows(of: slim.table, columns: slim.columns)
    while let event = try reader.next() {
      guard case .row(let row) = event else {
        if case .unreadable(let rows, _, _) = event { unreadable.append(rows) }
        continue
      }
      guard slim.parts.firstIndex(where: { $0.takes(row) }) == link.part,
        let owner = RowKey(slim.key(of: row), of: owner.table.name, context.source),
        !context.duplicates.contains(owner.identity, row.position, table: owner.table)
      else { continue }
      let cells = slim.parts[link.part].references.map { row.cells[$0] }
      let target = RowKey(cells, of: target.table.name, context.source)
      try body(Reference(owner: owner, target: target))
    }
    return unreadable
  }

  /// Calls the closure with the rows of a join table, owner by owner; each list in its order.
  ///
  /// - Returns: The rows that cannot be read, in words.
  func eachList(_ body: (List) throws -> Void) throws -> [String] {
    guard case .join(let table, let ownerColumns, let targetColumns, let order) = link.source else {
      return []
    }
    var unreadable: [String] = []
    let columns = ownerColumns + targetColumns + [order].compactMap { $0 }
    let reader = try context.database.sortedRows(
      of: table, columns: columns, by: ownerColumns + [order].compactMap { $0 } + targetColumns)
    var key: [Cell]?
    var rows: [SourceRow] = []
    func flush() throws {
      guard let key, !rows.isEmpty else { return }
      let targets = rows.map { row in
        RowKey(
          Array(row.cells[ownerColumns.count..<ownerColumns.count + targetColumns.count]),
          of: target.table.name, context.source)
      }
      try body(
        List(owner: RowKey(key, of: owner.table.name, context.source), targets: targets, rows: rows)
      )
      rows = []
    }
    while let event = try reader.next() {
      switch event {
      case .unreadable(let which, _, _): unreadable.append(which)
      case .row(let row):
        let found = Array(row.cells[..<ownerColumns.count])
        if found != key {
          try flush()
          key = found
        }
        rows.append(row)
        guard rows.count <= Limits.listMax else {
          throw ImportError(
            .tooLarge, "a list of one record is too long",
            [("table", table.name), ("owner", RowIdentity.excerpt(of: found))])
        }
      }
    }
    try flush()
    return unreadable
  }
}

/// The key of a row with its identity.
struct RowKey {
  let table: String
  let cells: [Cell]
  let identity: RowIdentity

  init?(_ cells: [Cell], of table: String, _ source: Int64) {
    guard let identity = RowIdentity(source: source, table: table, key: cells) else { return nil }
    self.table = table
    self.cells = cells
    self.identity = identity
  }

  var text: String { RowIdentity.excerpt(of: cells) }
}

extension BoundLink {
  /// Where a link leads, as the row of a reject.
  func text(of target: RowKey?) -> String {
    JSONLiteral.object([mapping.relationship], [target?.text ?? "null"])
  }
}

extension SourceRow {
  /// A row of a join table, as the row of a reject.
  var text: String { "[" + cells.map(\.excerpt).joined(separator: ",") + "]" }
}
