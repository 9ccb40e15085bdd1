import EntityModel

extension EntityComparison {
  mutating func compareRelationships() {
    let before = oldPairs.map(\.definition)
    let after = newPairs.map(\.definition)
    // Relationships by key come last: whether a key stays depends on the relationships that hold
    // its attributes.
    for definition in before.filter(\.key.isEmpty) + before.filter({ !$0.key.isEmpty }) {
      compare(definition, with: after.first { $0.text == definition.text })
    }
    for definition in after where !keptPairs.contains(definition.text) {
      if !before.contains(where: { $0.text == definition.text }) {
        differences.append(
          "relationship \(definition.text) to \(definition.destination) is added")
      }
      add(
        .createRelationship(definition),
        definition.key.isEmpty ? .createRelationships : .createKeys)
    }
  }

  private mutating func compare(
    _ definition: RelationshipDefinition, with other: RelationshipDefinition?
  ) {
    if let other, other.withoutRules == definition.withoutRules {
      if keyStays(definition) {
        keptPairs.insert(definition.text)
      } else {
        differences.append(
          "relationship \(definition.text) is created again, because its key changes; no "
            + "value is lost")
      }
      compareRules(definition, other)
    } else {
      differences.append(
        other == nil
          ? "relationship \(definition.text) is dropped, with all its links"
          : "relationship \(definition.text) is another one: its links are lost")
    }
    if !keptPairs.contains(definition.text) {
      add(
        .dropRelationship(entity: definition.entity, name: definition.side.name),
        definition.key.isEmpty ? .dropRelationships : .dropKeys)
    }
  }

  /// Returns true for an attribute that holds the links of a relationship that stays.
  func isKept(_ attribute: AttributeDescription, of entity: EntityDescription) -> Bool {
    newPairs.contains { pair in
      keptPairs.contains(pair.definition.text)
        && pair.holder.map { $0 == (entity.name, attribute.name) } ?? false
    }
  }

  private mutating func compareRules(
    _ old: RelationshipDefinition, _ new: RelationshipDefinition
  ) {
    var sides = [(new.entity, old.side, new.side)]
    if let before = old.inverse, let after = new.inverse, !new.isItsOwnInverse {
      sides.append((new.destination, before, after))
    }
    for (entity, before, after) in sides where before.deleteRule != after.deleteRule {
      differences.append(
        "relationship \(entity).\(after.name) has the delete rule \(after.deleteRule.rawValue)")
      guard keptPairs.contains(new.text) else { continue }
      add(
        .changeRelationship(entity: entity, name: after.name, deleteRule: after.deleteRule),
        .changeRelationships)
    }
  }

  /// Returns true if a relationship by key can stay. It stores nothing, so it is dropped and
  /// created again where it might not fit between the steps: if an attribute of the key changes, or
  /// a unique index that contains one.
  private func keyStays(_ definition: RelationshipDefinition) -> Bool {
    if definition.key.isEmpty { return true }
    let own = definition.key.map(\.own)
    let other = definition.key.map(\.other)
    return attributesStay(own, of: definition.entity)
      && attributesStay(other, of: definition.destination)
      && indexes(with: own, of: definition.entity, in: old)
        == indexes(with: own, of: definition.entity, in: new)
      && indexes(with: other, of: definition.destination, in: old)
        == indexes(with: other, of: definition.destination, in: new)
  }

  private func attributesStay(_ names: [String], of entity: String) -> Bool {
    guard let before = old.entity(named: entity), let after = new.entity(named: entity) else {
      return false
    }
    return names.allSatisfy { name in
      guard let was = before.attribute(named: name), let now = after.attribute(named: name),
        was.type == now.type, was.isOptional == now.isOptional
      else { return false }
      return !now.holdsLinks || isKept(now, of: after)
    }
  }

  /// Returns the unique indexes that contain at least one of the attributes.
  private func indexes(
    with names: [String], of entity: String, in schema: Schema
  ) -> Set<IndexDefinition> {
    guard let entity = schema.entity(named: entity) else { return [] }
    let unique = entity.indexes.filter { $0.isUnique && !$0.isHidden }.map(entity.definition)
    return Set(unique.filter { $0.keys.contains { names.contains($0.attribute) } })
  }
}
