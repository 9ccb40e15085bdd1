/// The tables and columns that a proposed mapping skips: all that it does not use.
struct SkippedParts {
  private(set) var tables: Set<String> = []
  private(set) var columns: [String: Set<String>] = [:]
  /// Skipped parts that may be data, each on one line.
  private(set) var warnings: [String] = []

  init(of mapping: ImportMapping, _ source: CoreDataSource, in all: [SourceTable]) {
    let used = mapping.columnsTaken
    for table in all where table.kind != .view {
      guard let known = used[table.name] else {
        tables.insert(table.name)
        if table.kind == .table || table.kind == .virtual, !Self.isOfTheSystem(table.name) {
          warnings.append("the table \(table.name) is skipped: no entity of the model is in it")
        }
        continue
      }
      let left = Set(table.columns.map(\.name)).subtracting(known)
      if !left.isEmpty { columns[table.name] = left }
    }
    for (table, names) in source.layout.unexplained.sorted(by: { $0.key < $1.key }) {
      warnings.append(
        "skipped because the model does not explain it: \(table).\(names.shortList)")
    }
    if source.file.model != nil, !source.layout.missing.isEmpty {
      warnings.append(
        "the model names what the file does not have: \(source.layout.missing.shortList)")
    }
    warnDerivedAndUntyped(source)
  }

  private mutating func warnDerivedAndUntyped(_ source: CoreDataSource) {
    for entity in source.model.entities {
      for attribute in entity.attributes {
        guard let column = source.layout.attributes[.init(entity.name, attribute.name)],
          let table = source.layout.tables[entity.name]
        else { continue }
        if attribute.isDerived {
          let name = "\(entity.name).\(attribute.name) (\(table).\(column))"
          warnings.append(
            "Core Data derives \(name): the values of the file are imported, and the store does "
              + "not update them; to leave them out, list the column under skip")
        }
        if attribute.type.target == nil {
          warnings.append(
            "\(entity.name).\(attribute.name) (\(table).\(column)) is skipped: it is of the type "
              + attribute.type.name)
        }
      }
    }
  }

  private static func isOfTheSystem(_ table: String) -> Bool {
    ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
      .contains(table) || table.hasPrefix("ANSCK") || table.hasPrefix("Z_RT_")
  }
}
