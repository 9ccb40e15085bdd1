import EntityModel
import EntityStore

/// `createEntity`, `renameEntity`, `dropEntity`.
extension SchemaChange {
  mutating func createEntity(
    _ name: String, _ attributes: [AttributeDescription], keepsHistory: Bool
  ) throws(StoreError) {
    try requireFree(name)
    var entity = schema.makeEntity(named: name, keepsHistory: keepsHistory)
    for attribute in attributes { entity.add(attribute) }
    entity.addLayout()
    schema.entities.append(entity)
  }

  /// Renames an entity, and everything that refers to it by name. Generated names of relationships
  /// stay.
  mutating func renameEntity(_ name: String, to newName: String) throws(StoreError) {
    let renamed = try schema.number(of: name)
    try requireFree(newName)
    try refuseLinks(name)
    schema.entities[renamed].name = newName
    for number in schema.entities.indices {
      for position in schema.entities[number].attributes.indices
      where schema.entities[number].attributes[position].type == .reference(name) {
        schema.entities[number].attributes[position].type = .reference(newName)
      }
      for position in schema.entities[number].relationships.indices
      where schema.entities[number].relationships[position].destination == name {
        schema.entities[number].relationships[position].destination = newName
      }
    }
    for position in schema.templates.indices {
      schema.templates[position].request.renameEntity(name, to: newName)
    }
  }

  mutating func dropEntity(_ name: String) throws(StoreError) {
    let number = try schema.number(of: name)
    try refuseLinks(name)
    if let relationship = schema.entities[number].relationships.first {
      let isHidden = relationship.isHidden
      throw StoreError(
        .migration, "an entity with relationships cannot be dropped",
        [
          ("entity", name),
          (
            "relationship",
            isHidden
              ? "\(relationship.destination).\(relationship.inverse)"
              : "\(name).\(relationship.name)"
          ),
        ], advice: "drop them first (dropRelationship)")
    }
    schema.entities.remove(at: number)
  }

  private func requireFree(_ name: String) throws(StoreError) {
    if schema.entity(named: name) != nil {
      throw StoreError(.migration, "the entity exists already", [("entity", name)])
    }
  }

  /// Throws for an entity that holds links, which is created and dropped with its relationship.
  private func refuseLinks(_ name: String) throws(StoreError) {
    for entity in schema.entities {
      for relationship in entity.relationships {
        guard case .link(name, _, _, _, _) = relationship.storage else { continue }
        throw StoreError(
          .migration, "the entity holds the links of a relationship",
          [("entity", name), ("relationship", "\(entity.name).\(relationship.name)")],
          advice: "drop the relationship instead (dropRelationship)")
      }
    }
  }
}
