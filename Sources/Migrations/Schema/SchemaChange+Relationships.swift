import EntityModel
import EntityStore

/// `changeRelationship`, `dropRelationship`, and the checks for what depends on an attribute.
extension SchemaChange {
  mutating func changeRelationship(
    _ name: String, of entity: String, deleteRule: DeleteRule
  ) throws(StoreError) {
    let number = try schema.number(of: entity)
    let position = try relationship(name, of: number)
    schema.entities[number].relationships[position].deleteRule = deleteRule
    try checkUnlinking()
  }

  /// Drops both sides, with everything that was generated for them.
  mutating func dropRelationship(_ name: String, of entity: String) throws(StoreError) {
    let number = try schema.number(of: entity)
    let relationship = schema.entities[number].relationships[
      try relationship(name, of: number)]
    let other = try schema.number(of: relationship.destination)
    guard let inverse = schema.entities[other].relationship(named: relationship.inverse) else {
      throw .damaged("a relationship has no inverse", entity: entity)
    }
    schema.entities[number].relationships.removeAll { $0.id == relationship.id }
    schema.entities[other].relationships.removeAll { $0.id == inverse.id }
    switch (relationship.storage, inverse.storage) {
    case (.link(let links, _, _, _, _), _): schema.entities.removeAll { $0.name == links }
    case (.inverse(let order), _):
      try dropLinks(inverse.storage, order: relationship.isOrdered ? order : nil, of: other)
    case (_, .inverse(let order)):
      try dropLinks(relationship.storage, order: inverse.isOrdered ? order : nil, of: number)
    default: throw .damaged("neither side of a relationship holds its links", entity: entity)
    }
  }

  /// Drops what stores the links of a relationship.
  ///
  /// - Parameter order: The attribute that was generated for the order. One that the migration
  ///   named stays.
  private mutating func dropLinks(
    _ storage: RelationshipDescription.Storage, order: Int?, of number: Int
  ) throws(StoreError) {
    switch storage {
    case .reference(let attribute, let index):
      schema.entities[number].indexes.removeAll { $0.id == index }
      for id in [attribute, order].compactMap({ $0 }) {
        try refuseIndexes(with: id, of: number)
        schema.entities[number].attributes.removeAll { $0.id == id }
      }
      schema.entities[number].addLayout()
    case .key(_, let index): schema.entities[number].indexes.removeAll { $0.id == index }
    case .inverse, .link: break
    }
  }

  private func relationship(_ name: String, of number: Int) throws(StoreError) -> Int {
    let entity = schema.entities[number]
    guard
      let position = entity.relationships.firstIndex(where: { $0.name == name && !$0.isHidden })
    else {
      throw StoreError(
        .migration, "no such relationship", [("entity", entity.name), ("relationship", name)],
        advice: entity.advice(on: name, among: entity.relationships.map(\.name)))
    }
    return position
  }

  /// Checks that a link by key can be set to null where a deletion nullifies it.
  func checkUnlinking() throws(StoreError) {
    for entity in schema.entities {
      for relationship in entity.relationships {
        guard case .key(let pairs, _) = relationship.storage,
          let inverse = schema.entity(named: relationship.destination)?
            .relationship(named: relationship.inverse),
          inverse.deleteRule == .nullify, entity.clearedToUnlink(pairs).isEmpty
        else { continue }
        throw StoreError(
          .migration,
          "no attribute of a relationship's key could be set to null, which nullify does",
          [
            ("relationship", "\(entity.name).\(relationship.name)"),
            ("inverse", "\(relationship.destination).\(relationship.inverse)"),
          ], advice: "choose noAction, cascade or deny (changeRelationship)")
      }
    }
  }

  /// Returns a relationship that depends on an attribute, as `Entity.name`: the attribute holds or
  /// orders its links, or belongs to its key. A relationship that a file can name is preferred.
  func relationship(standingOn id: Int, of number: Int) -> String? {
    let owner = schema.entities[number]
    var found: [(name: String, isHidden: Bool)] = []
    for entity in schema.entities {
      for relationship in entity.relationships {
        let isOwn = entity.id == owner.id
        let leadsThere = relationship.destination == owner.name
        let stands =
          switch relationship.storage {
          case .reference(let attribute, _): isOwn && attribute == id
          case .key(let pairs, _):
            isOwn && pairs.contains { $0.own == id }
              || leadsThere && pairs.contains { $0.other == id }
          case .inverse(let order): leadsThere && order == id
          case .link(let links, let own, let other, let order, _):
            links == owner.name && [own, other, order].contains(id)
          }
        if stands { found.append(("\(entity.name).\(relationship.name)", relationship.isHidden)) }
      }
    }
    return (found.first { !$0.isHidden } ?? found.first)?.name
  }
}
