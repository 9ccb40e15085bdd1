import EntityModel

/// Two sides of a relationship in a schema, in the form in which a migration would define them.
struct RelationshipPair {
  /// The definition. It is the same for the same pair, whichever side a migration has named first.
  let definition: RelationshipDefinition
  /// The entity and the attribute that hold the links, or `nil` if no attribute holds them.
  let holder: (entity: String, attribute: String)?

  static func all(in schema: Schema) -> [RelationshipPair] {
    schema.entities.flatMap { entity in
      entity.relationships.compactMap { RelationshipPair($0, of: entity, in: schema) }
    }
  }

  /// Returns the relationships of an entity that a migration has named. Of a pair of inverses, the
  /// one with the lesser id was named first.
  static func definitions(
    of entity: EntityDescription, among entities: [EntityDescription]
  ) -> [RelationshipDefinition] {
    entity.relationships.compactMap { relationship in
      guard !relationship.isHidden,
        let destination = entities.first(where: { $0.name == relationship.destination }),
        let inverse = destination.relationship(named: relationship.inverse),
        relationship.id <= inverse.id
      else { return nil }
      return RelationshipDefinition(
        entity: entity.name, destination: destination.name,
        side: .init(relationship, orderedIn: destination),
        inverse: inverse.isHidden ? nil : .init(inverse, orderedIn: entity),
        key: key(of: relationship, entity, destination))
    }
  }

  private static func key(
    of relationship: RelationshipDescription, _ entity: EntityDescription,
    _ destination: EntityDescription
  ) -> [RelationshipDefinition.KeyPair] {
    guard case .key(let pairs, _) = relationship.storage else { return [] }
    return pairs.compactMap { pair in
      guard let own = entity.name(of: pair.own), let other = destination.name(of: pair.other)
      else { return nil }
      return .init(own: own, other: other)
    }
  }

  /// Creates the pair of a relationship and its inverse.
  ///
  /// - Returns: `nil` for a side that the definition of the other side covers.
  private init?(
    _ relationship: RelationshipDescription, of entity: EntityDescription, in schema: Schema
  ) {
    guard !relationship.isHidden,
      let destination = schema.entity(named: relationship.destination),
      let inverse = destination.relationship(named: relationship.inverse)
    else { return nil }
    let isFirst = Self.isFirst(relationship, of: entity, inverse, of: destination)
    guard isFirst || inverse.isHidden else { return nil }
    let isItsOwnInverse = entity.id == destination.id && inverse.id == relationship.id
    var holder: (String, String)?
    switch relationship.storage {
    case .reference: holder = (entity.name, relationship.name)
    case .inverse: holder = (destination.name, inverse.name)
    case .key, .link: break
    }
    self.holder = holder
    definition = RelationshipDefinition(
      entity: entity.name, destination: destination.name,
      side: .init(relationship, orderedIn: destination),
      inverse: isItsOwnInverse || !inverse.isHidden ? .init(inverse, orderedIn: entity) : nil,
      key: Self.key(of: relationship, entity, destination).sorted { $0.own < $1.own })
  }

  /// Returns true for the side that holds the links. Of two sides that share a hidden entity, it is
  /// the one whose name sorts first.
  private static func isFirst(
    _ relationship: RelationshipDescription, of entity: EntityDescription,
    _ inverse: RelationshipDescription, of destination: EntityDescription
  ) -> Bool {
    switch relationship.storage {
    case .reference, .key: true
    case .inverse: false
    case .link:
      (entity.name, relationship.name) <= (destination.name, inverse.name)
    }
  }
}

extension RelationshipDefinition {
  /// The part of the definition that stays when only delete rules change.
  var withoutRules: RelationshipDefinition {
    RelationshipDefinition(
      entity: entity, destination: destination, side: side.withoutRule,
      inverse: inverse?.withoutRule, key: key)
  }

  var text: String { "\(entity).\(side.name)" }
}

extension RelationshipDefinition.Side {
  /// Creates the definition of a side from its description in a schema.
  ///
  /// - Parameter entity: The entity whose records the relationship leads to.
  fileprivate init(_ relationship: RelationshipDescription, orderedIn entity: EntityDescription) {
    var orderBy: String?
    if case .inverse(let order?) = relationship.storage, !relationship.isOrdered {
      orderBy = entity.name(of: order)
    }
    self.init(
      name: relationship.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered, orderBy: orderBy, isOptional: relationship.isOptional,
      deleteRule: relationship.deleteRule)
  }

  fileprivate var withoutRule: Self {
    Self(
      name: name, isToMany: isToMany, isOrdered: isOrdered, orderBy: orderBy,
      isOptional: isOptional, deleteRule: .nullify)
  }
}

extension EntityDescription {
  /// Returns the name of an attribute, or `nil` if there is none with this id.
  func name(of id: Int) -> String? { attributes.first { $0.id == id }?.name }
}
