import EntityModel

/// The proposed entity of a table, with its attributes and its references.
struct TableGuess: Sendable {
  let table: SourceTable
  let profile: TableProfile
  /// The name of the entity, derived from the table's unless a preset has one.
  var entity: String
  var key: [String]
  /// The columns that become attributes, in the order of the table.
  var columns: [ColumnGuess] = []
  var references: [ReferenceGuess] = []
  var skippedColumns: Set<String> = []
  var evidence: [String] = []
  var warnings: [String] = []

  /// The greatest number of attributes. Together with those of relationships it stays below the
  /// limit of an entity (`StoreLimits`).
  private static let attributesMax = 400

  init(_ table: SourceTable, _ profile: TableProfile) {
    self.table = table
    self.profile = profile
    entity = NameWords(table.name).capitalizedCamelCase
    key = Self.key(of: table, profile)
    for (column, values) in zip(table.columns, profile.columns).prefix(Self.attributesMax) {
      var guess = ColumnGuess(column, values)
      let isNeverNull =
        table.rowIDAlias == column.name
        || (!table.hasRowID && table.primaryKey.contains(column.name))
      if isNeverNull, values.nulls == 0, guess.conversion == .none { guess.isOptional = false }
      columns.append(guess)
    }
    skippedColumns = Set(table.columns.dropFirst(Self.attributesMax).map(\.name))
    evidence.append(Self.rows(profile))
    noteKey()
    if !skippedColumns.isEmpty {
      let names = table.columns.dropFirst(Self.attributesMax).map {
        ImportMapping.quoted($0.name)
      }
      warnings.append(
        "the table \(ImportMapping.quoted(table.name)) has \(table.columns.count) columns; those "
          + "after the \(Self.attributesMax)th are in skip, \(names.shortList): to import one of "
          + "them, add an attribute for it and skip another")
    }
  }

  // MARK: Keys

  /// Returns the declared primary key, or the shortest unique index without null, or the row id.
  private static func key(of table: SourceTable, _ profile: TableProfile) -> [String] {
    if let alias = table.rowIDAlias { return [alias] }
    if !table.primaryKey.isEmpty { return table.primaryKey }
    let nullable = Set(
      zip(table.columns, profile.columns).filter {
        !$0.isRequired && ($1.nulls > 0 || !profile.isWhole)
      }
      .map(\.0.name))
    let unique = table.uniqueKeys.filter { !$0.isEmpty && nullable.isDisjoint(with: $0) }
    return unique.min { $0.count < $1.count } ?? [SourceTable.rowIDKey]
  }

  private mutating func noteKey() {
    if key == [SourceTable.rowIDKey], table.column(SourceTable.rowIDKey) == nil {
      evidence.append("no key is declared: the row id stands for it")
      return
    }
    for name in key {
      guard let nulls = profile(of: name)?.nulls, nulls > 0 else { continue }
      let text = "\(nulls) rows have no \(ImportMapping.quoted(name)), which is of the key"
      evidence.append(text + ", and become rejects")
      warnings.append("\(ImportMapping.quoted(table.name)): \(text); they become rejects")
    }
  }

  private static func rows(_ profile: TableProfile) -> String {
    var text = profile.total == 1 ? "1 row" : "\(profile.total) rows"
    if !profile.isWhole {
      text += ", of which \(profile.rows) were read; a plan reads all of them"
    }
    if let lost = profile.lost, !lost.isFound {
      text += ", and \(lost.count) that cannot be read"
    }
    return text
  }

  // MARK: Parts

  func profile(of column: String) -> ColumnProfile? {
    table.columns.firstIndex { $0.name == column }.map { profile.columns[$0] }
  }

  func guess(of column: String) -> ColumnGuess? { columns.first { $0.column == column } }

  /// The column that is the whole key.
  var onlyKeyColumn: String? {
    guard key.count == 1, let name = key.first, table.column(name) != nil else { return nil }
    return name
  }

  /// The column of text that is the whole key, which other sources may have as well.
  var naturalKey: ColumnGuess? {
    guard let guess = onlyKeyColumn.flatMap(guess(of:)), guess.type == .string,
      guess.conversion == .none
    else { return nil }
    return guess
  }
}
