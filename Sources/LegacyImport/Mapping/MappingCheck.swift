import EntityModel
import TextFormats

/// Checks a mapping against the tables of a source: all that it names exists, and every table and
/// column is mapped or skipped.
///
/// Names of tables are compared exactly, although SQLite ignores the case of letters.
package struct MappingCheck {
  /// The problems, each on one line with a correction. A run needs an empty list.
  package private(set) var problems: [String] = []
  /// Facts that a person should know and that do not stop a run.
  package private(set) var warnings: [String] = []
  /// The warnings about virtual tables that the mapping does not mention, as one of an earlier
  /// version does not.
  package private(set) var unmentioned: [String] = []

  private let mapping: ImportMapping
  private let tables: [SourceTable]
  private let tableNames: [String]
  /// The columns that the mapping reads, by table.
  private let taken: [String: Set<String>]

  package init(of mapping: ImportMapping, against tables: [SourceTable]) {
    self.mapping = mapping
    self.tables = tables
    taken = mapping.columnsTaken
    tableNames = tables.filter(\.isReadable).map(\.name)
    for entity in mapping.entities { check(entity) }
    for entity in mapping.entities { checkRelationships(of: entity) }
    checkSharedTables()
    checkSkipped()
    checkCoverage()
    checkVirtual()
  }

  // MARK: Entities

  private mutating func check(_ entity: EntityMapping) {
    guard let table = ordinaryTable(entity.table, for: entity.entity) else { return }
    checkKey(of: entity, table)
    for column in entity.filter.columns {
      require(column, of: table, for: "the filter of \(entity.entity)")
    }
    for attribute in entity.attributes {
      guard case .column(let column) = attribute.source else { continue }
      require(column, of: table, for: "\(entity.entity).\(attribute.attribute)")
    }
  }

  private mutating func checkKey(of entity: EntityMapping, _ table: SourceTable) {
    if entity.key == [SourceTable.rowIDKey], table.column(SourceTable.rowIDKey) == nil {
      return checkRowIDKey(of: entity, table)
    }
    for column in entity.key { require(column, of: table, for: "the key of \(entity.entity)") }
    if table.isUnique(entity.key) { return }
    warnings.append(
      "the table \(quoted(table.name)) may have several rows with the same "
        + "\(entity.key.joined(separator: ", ")), the key of \(entity.entity); all but "
        + "the first are "
        + "rejects")
  }

  private mutating func checkRowIDKey(of entity: EntityMapping, _ table: SourceTable) {
    guard table.hasRowID else {
      problems.append(
        "the table \(quoted(table.name)) has no rowid; use its primary key, "
          + "\(table.primaryKey.joined(separator: ", ")), as the key of \(entity.entity)")
      return
    }
    if let name = table.rowIDAlias {
      problems.append(
        "the rowid of the table \(quoted(table.name)) has the name \(quoted(name)); use "
          + "that as the "
          + "key of \(entity.entity)")
      return
    }
    warnings.append(
      "the key of \(entity.entity) is the rowid of \(quoted(table.name)), which changes "
        + "when the file "
        + "is compacted (VACUUM): a later run may take old rows for new ones")
  }

  /// Checks that no row of a table fits two entities, and that these have the same key.
  private mutating func checkSharedTables() {
    for entity in mapping.entities {
      guard let former = entity.formerTable else { continue }
      let isTaken = mapping.entities.contains {
        ($0.formerTable ?? $0.table) == former && $0.table != entity.table
      }
      if isTaken {
        problems.append(
          "the rows of the tables \(quoted(entity.table)) and \(quoted(former)) would be taken for "
            + "each other; remove formerTable of \(entity.entity)")
      }
    }
    for (number, first) in mapping.entities.enumerated() {
      for second in mapping.entities.dropFirst(number + 1) where first.table == second.table {
        let names = "\(first.entity) and \(second.entity)"
        if first.formerTable != second.formerTable {
          problems.append(
            "\(names) come from the table \(quoted(first.table)); give both the same formerTable")
        }
        if first.key != second.key {
          problems.append(
            "\(names) come from the table \(quoted(first.table)) and have different keys; "
              + "give both "
              + "the same")
        }
        if !first.filter.excludes(second.filter) {
          problems.append(
            "\(names) may get the same row of the table \(quoted(first.table)); tell them "
              + "apart by the "
              + "values of one column (where, unless)")
        }
      }
    }
  }

  // MARK: Relationships

  private mutating func checkRelationships(of entity: EntityMapping) {
    guard let table = tables.first(where: { $0.name == entity.table && $0.isReadable }) else {
      return
    }
    for relationship in entity.relationships {
      let name = "\(entity.entity).\(relationship.relationship)"
      let key = key(of: relationship.table)
      if key == nil {
        let mapped = mapping.entities.map(\.table)
        problems.append(
          "\(name) leads to the table \(quoted(relationship.table)), of which nothing is mapped; "
            + nearest(relationship.table, mapped, otherwise: "map it to an entity"))
      }
      switch relationship.source {
      case .columns(let columns):
        for column in columns { require(column, of: table, for: name) }
        checkCount(columns, key, relationship.table, of: name)
      case .join(let join, let owner, let target, let order):
        guard let join = ordinaryTable(join, for: name) else { continue }
        for column in owner + target + [order].compactMap({ $0 }) {
          require(column, of: join, for: name)
        }
        checkCount(owner, entity.key, entity.table, of: name)
        checkCount(target, key, relationship.table, of: name)
      }
    }
  }

  private func key(of table: String) -> [String]? {
    mapping.entities.first { $0.table == table }?.key
  }

  private mutating func checkCount(
    _ columns: [String], _ key: [String]?, _ table: String, of name: String
  ) {
    guard let key, key.count != columns.count else { return }
    problems.append(
      "\(name) has \(columns.count) columns (\(columns.joined(separator: ", "))) for the "
        + "key of the table \(quoted(table)), which has \(key.count) "
        + "(\(key.joined(separator: ", "))); name one "
        + "for each")
  }

  // MARK: Coverage

  private mutating func checkSkipped() {
    let used = Set(mapping.entities.map(\.table)).union(taken.keys)
    for name in mapping.skippedTables.sorted() {
      if !tables.contains(where: { $0.name == name }) {
        let advice = nearest(name, tableNames, otherwise: "remove it from skip")
        problems.append("there is no table \(quoted(name)) to skip; \(advice)")
      } else if used.contains(name) {
        problems.append("the table \(quoted(name)) is skipped and mapped; remove one of the two")
      }
    }
    for (name, columns) in mapping.skippedColumns.sorted(by: { $0.key < $1.key }) {
      guard let table = tables.first(where: { $0.name == name }) else {
        let advice = nearest(name, tableNames, otherwise: "remove it from skip")
        problems.append("there is no table \(quoted(name)) to skip columns of; \(advice)")
        continue
      }
      for column in columns.sorted() {
        if table.column(column) == nil {
          problems.append(unknown(column, of: table, for: "skip"))
        } else if taken[name]?.contains(column) == true {
          problems.append(
            "the column \(quoted(column)) of the table \(quoted(name)) is skipped and "
              + "mapped; remove "
              + "one of the two")
        }
      }
    }
  }

  /// Checks that every column of every table is mapped or skipped.
  private mutating func checkCoverage() {
    for table in tables
    where (table.isOrdinary || taken[table.name] != nil && table.isReadable)
      && !mapping.skippedTables.contains(table.name)
      && (!table.isLost || taken[table.name] != nil)
    {
      if Set(table.columns.map(\.name)).count < table.columns.count {
        problems.append(
          "the table \(quoted(table.name)) has columns whose names are the same text in different "
            + "bytes; skip the table")
        continue
      }
      let known = (taken[table.name] ?? []).union(mapping.skippedColumns[table.name] ?? [])
      let isUntouched = taken[table.name] == nil && mapping.skippedColumns[table.name] == nil
      let unsaid = table.columns.map(\.name).filter { !known.contains($0) }
      if isUntouched, !mapping.entities.contains(where: { $0.table == table.name }) {
        problems.append(
          "the table \(quoted(table.name)) is neither mapped nor skipped; do one of them")
      } else if !unsaid.isEmpty {
        problems.append(
          "of the table \(quoted(table.name)) nothing takes \(list(unsaid)); map what is "
            + "wanted, and "
            + "list the rest in skip")
      }
    }
  }

  // MARK: Virtual tables

  /// Reports the contents of virtual tables that are not imported.
  private mutating func checkVirtual() {
    for table in tables where table.kind == .virtual {
      let name = quoted(table.name)
      let left: String
      if let content = table.definition?.content {
        if taken[content] != nil { continue }
        left =
          "the texts of the full-text table \(name) are left out; they are in the table "
          + quoted(content) + ", which a mapping can read"
      } else if table.definition?.isFullText == true {
        left = "the full-text table \(name) has no texts of its own and is left out"
      } else {
        let module = table.definition?.module ?? ""
        left =
          "the rows of the virtual table \(name) (\(module)) are left out: only its module can "
          + "read them"
      }
      warnings.append(left)
      if !mapping.skippedTables.contains(table.name) {
        unmentioned.append(left + "; list \(name) in skip if that is right")
      }
    }
  }

  // MARK: Parts

  private mutating func ordinaryTable(_ name: String, for use: String) -> SourceTable? {
    guard let table = tables.first(where: { $0.name == name }) else {
      let advice = nearest(
        name, tableNames, otherwise: "the file has \(list(tableNames.sorted()))")
      problems.append("\(use) is from the table \(quoted(name)), which is not there; \(advice)")
      return nil
    }
    guard table.isReadable else {
      problems.append(
        "\(use) is from \(quoted(name)), which is no table of data (\(table.kindText)); "
          + "only tables "
          + "are read")
      return nil
    }
    return table
  }

  private mutating func require(_ column: String, of table: SourceTable, for use: String) {
    if table.column(column) == nil {
      problems.append(unknown(column, of: table, for: use))
    }
  }

  private func unknown(_ column: String, of table: SourceTable, for use: String) -> String {
    let names = table.columns.map(\.name)
    return
      "\(use) names the column \(quoted(column)), which the table \(quoted(table.name)) has not; "
      + nearest(column, names, otherwise: "it has \(list(names))")
  }

  private func nearest(_ name: String, _ names: [String], otherwise: String) -> String {
    NearestName.advice(on: name, among: names, otherwise: otherwise)
  }

  private func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.map(quoted).shortList
  }

  private func quoted(_ name: String) -> String { ImportMapping.quoted(name) }
}

extension RowFilter {
  var columns: Set<String> { Set(isOneOf.keys).union(isNoneOf.keys) }

  /// Returns true if the values of one column show that no row can pass both filters.
  fileprivate func excludes(_ other: RowFilter) -> Bool {
    columns.union(other.columns).contains { column in
      let (ours, theirs) = (isOneOf[column], other.isOneOf[column])
      if let ours, let theirs, ours.isDisjoint(with: theirs) { return true }
      if let ours, let never = other.isNoneOf[column], ours.isSubset(of: never) { return true }
      if let theirs, let never = isNoneOf[column], theirs.isSubset(of: never) { return true }
      return false
    }
  }
}
