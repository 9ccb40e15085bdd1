/// The tables of many-to-many relationships, found by their columns: the rule for their names is
/// not known.
struct JoinTables {
  /// The column at the other end of a relationship that is its own inverse.
  static let reflexive = "REFLEXIVE"

  /// The greatest number of tables with the same column that are considered.
  private static let candidatesMax = 64

  private(set) var used: Set<String> = []
  private var tables: [String: SourceTable] = [:]
  /// The tables that have a column of this name, with and without the digits at its end.
  private var byColumn: [String: [(table: String, column: String)]] = [:]

  init(among tables: [SourceTable]) {
    for table in tables where table.kind == .table && Self.isJoinTable(table) {
      self.tables[table.name] = table
      for column in Self.ends(of: table) {
        byColumn[column, default: []].append((table.name, column))
        let trimmed = Self.withoutDigits(column)
        if trimmed != column { byColumn[trimmed, default: []].append((table.name, column)) }
      }
    }
  }

  /// Returns the table with these two columns, and marks it as used.
  ///
  /// - Returns: `nil` if none is left that has them, or more than one.
  mutating func take(owner: String, target: String) -> StoreLayout.Join? {
    var candidates: [StoreLayout.Join] = []
    for (table, column) in byColumn[target, default: []].prefix(Self.candidatesMax)
    where !used.contains(table) {
      let others = (tables[table].map(Self.ends(of:)) ?? []).filter { $0 != column }
      guard let other = others.first, [other, Self.withoutDigits(other)].contains(owner) else {
        continue
      }
      candidates.append(join(table, owner: other, target: column))
    }
    // A column without digits is meant before one with them.
    let exact = candidates.filter { $0.owner == owner && $0.target == target }
    let chosen = exact.isEmpty ? candidates : exact
    guard chosen.count == 1 else { return nil }
    used.insert(chosen[0].table)
    return chosen[0]
  }

  /// Returns the same table, seen from the other end.
  func reversed(_ join: StoreLayout.Join) -> StoreLayout.Join {
    self.join(join.table, owner: join.target, target: join.owner)
  }

  private func join(_ table: String, owner: String, target: String) -> StoreLayout.Join {
    let order = "Z_FOK_" + target.dropFirst("Z_".count)
    let isOrdered = tables[table]?.column(order) != nil
    return .init(table: table, owner: owner, target: target, order: isOrdered ? order : nil)
  }

  // MARK: What a join table looks like

  /// Returns true if the columns are those of a join table: two ends, and perhaps their order.
  static func isJoinTable(_ table: SourceTable) -> Bool {
    table.name.hasPrefix("Z_") && (2...4).contains(table.columns.count)
      && ends(of: table).count == 2
  }

  /// The columns that hold keys.
  static func ends(of table: SourceTable) -> [String] {
    table.columns.map(\.name).filter { $0 == reflexive || End($0) != nil }
  }

  /// The meaning of the name of a key column.
  struct End: Equatable {
    let number: Int64
    /// The relationship that leads there.
    let name: String

    init?(_ column: String) {
      guard column.hasPrefix("Z_") else { return nil }
      let rest = column.dropFirst("Z_".count)
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard let number = Int64(digits), digits.count < rest.count else { return nil }
      self.number = number
      name = String(rest.dropFirst(digits.count))
    }
  }

  private static func withoutDigits(_ column: String) -> String {
    var column = column
    while column.last?.isNumber == true { column.removeLast() }
    return column
  }
}
