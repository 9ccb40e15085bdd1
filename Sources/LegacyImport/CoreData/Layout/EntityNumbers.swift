/// A row of `Z_PRIMARYKEY`.
package struct NumberedEntity: Hashable, Sendable {
  package let number: Int64
  package let name: String
  /// The number of the superentity; 0 for none.
  package let above: Int64

  /// True for the entities of Core Data's history and cloud tables.
  package var isOfTheSystem: Bool { number >= 16_000 }
}

/// The number of each entity, by which a row of a table refers to its entity.
package struct EntityNumbers: Hashable, Sendable {
  private(set) var byName: [String: Int64] = [:]
  /// Assumptions and contradictions, each on one line.
  private(set) var warnings: [String] = []

  /// Creates the numbers from the rows of `Z_PRIMARYKEY`. A model that was migrated in place may be
  /// newer than these rows: an entity is then found under its former name.
  package init(of model: ManagedObjectModel, in rows: [NumberedEntity]) {
    var left = Dictionary(
      rows.filter { !$0.isOfTheSystem }.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    for entity in model.entities {
      byName[entity.name] = left.removeValue(forKey: entity.name)?.number
    }
    for entity in model.entities where byName[entity.name] == nil {
      guard let former = entity.renamingIdentifier, let row = left.removeValue(forKey: former)
      else { continue }
      byName[entity.name] = row.number
      warnings.append(
        "the entity \(entity.name) stands in the file as \(row.name), its former name")
    }
    matchSingles(of: model, &left)
    for entity in model.entities where byName[entity.name] == nil {
      warnings.append("the file has no number for the entity \(entity.name); it cannot have rows")
    }
    for row in left.values.sorted(by: { $0.number < $1.number }) {
      warnings.append("the file has an entity \(row.name) that its model does not have")
    }
  }

  /// Pairs the only unmatched entity below a superentity with the only unmatched row there.
  private mutating func matchSingles(
    of model: ManagedObjectModel, _ left: inout [String: NumberedEntity]
  ) {
    let unmatched = Dictionary(
      grouping: model.entities.filter { byName[$0.name] == nil },
      by: { $0.superentity.map { byName[$0] } ?? 0 })
    let rows = Dictionary(grouping: left.values, by: \.above)
    for (above, entities) in unmatched {
      guard let above, entities.count == 1, let candidates = rows[above], candidates.count == 1
      else {
        continue
      }
      byName[entities[0].name] = candidates[0].number
      left[candidates[0].name] = nil
      warnings.append(
        "the entity \(entities[0].name) stands in the file as \(candidates[0].name); "
          + "no other one is left, so they are taken for the same")
    }
    warnings.sort()
  }
}
