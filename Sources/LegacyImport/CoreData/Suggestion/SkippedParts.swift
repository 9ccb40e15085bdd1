/// What of a file a suggested mapping leaves out. All that it does not use is named.
struct SkippedParts {
  private static let namesShownMax = 20

  private(set) var tables: Set<String> = []
  private(set) var columns: [String: Set<String>] = [:]
  /// What may be data.
  private(set) var warnings: [String] = []

  init(of mapping: ImportMapping, _ source: CoreDataSource, in all: [SourceTable]) {
    let used = Self.used(by: mapping)
    for table in all where table.kind != .view {
      guard let known = used[table.name] else {
        tables.insert(table.name)
        if table.kind == .table, !Self.isOfTheSystem(table.name) {
          warnings.append("the table \(table.name) is skipped: no entity of the model is in it")
        }
        continue
      }
      let left = Set(table.columns.map(\.name)).subtracting(known)
      if !left.isEmpty { columns[table.name] = left }
    }
    for (table, names) in source.layout.unexplained.sorted(by: { $0.key < $1.key }) {
      warnings.append(
        "skipped because the model does not explain it: \(table).\(Self.list(names))")
    }
    if source.file.model != nil, !source.layout.missing.isEmpty {
      warnings.append(
        "the model names what the file does not have: \(Self.list(source.layout.missing))")
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
          warnings.append(
            "\(entity.name).\(attribute.name) (\(table).\(column)) is skipped: Core Data derives it"
          )
        } else if attribute.type.target == nil {
          warnings.append(
            "\(entity.name).\(attribute.name) (\(table).\(column)) is skipped: it is of the type "
              + attribute.type.name)
        }
      }
    }
  }

  private static func used(by mapping: ImportMapping) -> [String: Set<String>] {
    var used: [String: Set<String>] = [:]
    for entity in mapping.entities {
      var columns = Set(entity.key)
      columns.formUnion(entity.filter.isOneOf.keys)
      columns.formUnion(entity.filter.isNoneOf.keys)
      for case .column(let column) in entity.attributes.map(\.source) { columns.insert(column) }
      for relationship in entity.relationships {
        switch relationship.source {
        case .columns(let own): columns.formUnion(own)
        case .join(let table, let owner, let target, let order):
          used[table, default: []].formUnion(owner + target + [order].compactMap(\.self))
        }
      }
      used[entity.table, default: []].formUnion(columns)
    }
    return used
  }

  private static func isOfTheSystem(_ table: String) -> Bool {
    ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
      .contains(table) || table.hasPrefix("ANSCK") || table.hasPrefix("Z_RT_")
  }

  static func list(_ names: [String]) -> String {
    let shown = names.prefix(namesShownMax).joined(separator: ", ")
    return names.count > namesShownMax ? "\(shown) and \(names.count - namesShownMax) more" : shown
  }
}
