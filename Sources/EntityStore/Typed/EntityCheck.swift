import EntityModel

/// Checks Swift types against the catalog.
enum EntityCheck {
  /// Checks that the schema has the entities, attributes and relationships of the types.
  ///
  /// - Throws: `schemaMismatch`, listing every difference of every type.
  static func check(_ types: [any Entity.Type], against schema: Schema) throws(StoreError) {
    let differences = types.flatMap { describe($0, schema) }
    if differences.isEmpty { return }
    throw StoreError(
      .schemaMismatch, "the program's types do not fit the store's schema",
      differences.map { ($0.where, $0.what) },
      advice: "change the types, or the schema with a migration")
  }

  private static func describe<T: Entity>(
    _ type: T.Type, _ schema: Schema
  ) -> [(where: String, what: String)] {
    guard let entity = schema.entity(named: type.entityName) else {
      return [(type.entityName, "no such entity")]
    }
    return type.attributes.compactMap { describe($0, entity) }
      + type.relationships.compactMap { describe($0, entity) }
  }

  private static func describe<T: Entity>(
    _ needed: EntityAttribute<T>, _ entity: EntityDescription
  ) -> (where: String, what: String)? {
    let place = "\(entity.name).\(needed.name)"
    guard let attribute = entity.attribute(named: needed.name) else {
      return (place, "no such attribute")
    }
    if attribute.type.kind != needed.kind {
      return (place, "\(needed.kind.rawValue) here, \(attribute.type.name) in the store")
    }
    if attribute.isOptional, !needed.isOptional {
      return (place, "required here, optional in the store")
    }
    return nil
  }

  private static func describe<T: Entity>(
    _ needed: EntityRelationship<T>, _ entity: EntityDescription
  ) -> (where: String, what: String)? {
    let place = "\(entity.name).\(needed.name)"
    guard let relationship = entity.relationship(named: needed.name) else {
      return (place, "no such relationship")
    }
    if relationship.isToMany != needed.isToMany {
      return (
        place,
        needed.isToMany ? "to-many here, to-one in the store" : "to-one here, to-many in the store"
      )
    }
    let destination = needed.destination.entityName
    if relationship.destination != destination {
      return (place, "leads to \(destination) here, to \(relationship.destination) in the store")
    }
    if !needed.isToMany, !needed.isOptional, relationship.isOptional {
      return (place, "required here, optional in the store")
    }
    return nil
  }
}

extension Store {
  /// Checks Swift types against the catalog.
  ///
  /// - Throws: `schemaMismatch` that lists every difference.
  public func require(_ types: [any Entity.Type]) throws {
    try EntityCheck.check(types, against: try catalog().schema)
  }
}
