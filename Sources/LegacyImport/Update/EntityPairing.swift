import EntityModel

/// Pairs the entries of a mapping with those that an inspection proposes for a newer version of the
/// file.
///
/// Numbers of entities change with the model. Entries of the same table are compared by the names
/// of their entities, now and before. An entity that a person has renamed is alone in its table, or
/// has the same columns as before.
struct EntityPairing {
  /// The places of proposed entries, by the places of the entries of the mapping.
  private(set) var pairs: [Int: Int] = [:]
  /// Pairs whose names differ, each on one line.
  private(set) var warnings: [String] = []

  init(_ old: ImportMapping, _ suggested: SuggestedImport) {
    let former = suggested.formerNames
    var candidates: [(likeness: Likeness, old: Int, new: Int)] = []
    for (number, entity) in old.entities.enumerated() {
      for (place, other) in suggested.mapping.entities.enumerated()
      where [other.table, former.tables[other.table]].contains(entity.table) {
        let likeness = Likeness(entity, other, former)
        let isOnly =
          old.entities.count { $0.table == entity.table } == 1
          && suggested.mapping.entities.count { $0.table == other.table } == 1
        if isOnly || likeness.isSame { candidates.append((likeness, number, place)) }
      }
    }
    candidates.sort { ($1.likeness, $0.old, $0.new) < ($0.likeness, $1.old, $1.new) }
    var taken: Set<Int> = []
    for candidate in candidates where pairs[candidate.old] == nil {
      guard taken.insert(candidate.new).inserted else { continue }
      pairs[candidate.old] = candidate.new
      if candidate.likeness.isOfSameName || old.dialect == .plain { continue }
      let entity = suggested.mapping.entities[candidate.new]
      warnings.append(
        "rows that become \(old.entities[candidate.old].entity) are taken for those of "
          + "\(entity.entity): check that they are the same")
    }
  }

  private struct Likeness: Comparable {
    let isOfSameName: Bool
    private let hasAllColumns: Bool
    private let columns: Int

    var isSame: Bool { isOfSameName || hasAllColumns }

    init(_ old: EntityMapping, _ new: EntityMapping, _ former: FormerNames) {
      // All kinds of a merged hierarchy have the name of one entity.
      let names = new.constants.isEmpty ? [new.entity] : new.constants
      let known = names.union(names.compactMap { former.entities[$0] })
      isOfSameName = !known.isDisjoint(with: old.constants.union([old.entity]))
      hasAllColumns = new.columns.isSuperset(of: old.columns)
      columns = old.columns.intersection(new.columns).count
    }

    static func < (one: Self, other: Self) -> Bool {
      if one.isOfSameName != other.isOfSameName { return other.isOfSameName }
      return one.columns < other.columns
    }
  }
}

extension EntityMapping {
  /// The constant texts, which distinguish the entries of a merged hierarchy.
  fileprivate var constants: Set<String> {
    var constants: Set<String> = []
    for case .constant(.string(let text)) in attributes.map(\.source) { constants.insert(text) }
    return constants
  }

  fileprivate var columns: Set<String> {
    var columns: Set<String> = []
    for case .column(let column) in attributes.map(\.source) { columns.insert(column) }
    return columns
  }
}
