/// Compares the attributes of an entry with those that an inspection proposes for it.
struct AttributeUpdate {
  /// The attributes with their sources of today; the former column if it was another one.
  private(set) var kept: [(attribute: AttributeMapping, before: String?)] = []
  /// Attributes whose columns are gone.
  private(set) var gone: [(attribute: String, column: String)] = []
  private(set) var new: [AttributeMapping] = []

  /// - Parameters:
  ///   - skipped: The columns that the mapping leaves out.
  ///   - columns: Those of the table of today.
  init(
    entity old: EntityMapping, new proposed: EntityMapping, former: FormerNames,
    skipped: Set<String>, columns: Set<String>
  ) {
    let formerColumns = former.columns[proposed.table] ?? [:]
    let formerNames = former.properties[proposed.entity] ?? [:]
    var used: Set<String> = []
    for attribute in old.attributes {
      guard case .column(let column) = attribute.source else {
        kept.append((attribute, nil))
        continue
      }
      let same =
        proposed.attributes.first { $0.column == column }
        ?? proposed.attributes.first { other in
          other.column.flatMap { formerColumns[$0] }.map { $0 == column.withoutDigits } == true
        }
        ?? proposed.attributes.first {
          $0.column != nil
            && [$0.attribute, formerNames[$0.attribute]].contains(attribute.attribute)
        }
      let current = same?.column ?? (columns.contains(column) ? column : nil)
      guard let current else {
        gone.append((attribute.attribute, column))
        continue
      }
      used.insert(current)
      var moved = attribute
      moved.source = .column(current)
      kept.append((moved, current == column ? nil : column))
    }
    let constants = old.attributes.contains { $0.column == nil }
    // A column that the entry reads in another way is not new: a confirmed relationship has
    // replaced its plain attribute.
    var read = skipped.union(old.key)
    for case .columns(let columns) in old.relationships.map(\.source) { read.formUnion(columns) }
    for attribute in proposed.attributes {
      if let column = attribute.column {
        let names = [column, formerColumns[column]].compactMap(\.self)
        if used.contains(column) || names.contains(where: read.contains) { continue }
      } else if constants || old.entity != proposed.entity {
        // The kind of a merged hierarchy; a person may have given the entries their own entities.
        continue
      }
      new.append(attribute)
    }
  }
}

extension AttributeMapping {
  /// The column; `nil` for a constant.
  fileprivate var column: String? {
    if case .column(let column) = source { column } else { nil }
  }
}

extension String {
  fileprivate var withoutDigits: String {
    var text = self
    while text.last?.isNumber == true { text.removeLast() }
    return text
  }
}
