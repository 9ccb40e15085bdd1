public import EntityModel

/// A relationship and its inverse as a migration names them, before the catalog has chosen where
/// the links are stored.
public struct RelationshipDefinition: Hashable, Sendable {
  /// One side of the relationship.
  public struct Side: Hashable, Sendable {
    public let name: String
    public let isToMany: Bool
    /// True if the records of a to-many relationship have their own order.
    public let isOrdered: Bool
    /// The attribute that gives the order of the records of a to-many relationship.
    public let orderBy: String?
    /// True if a record may have no link, for a to-one relationship.
    public let isOptional: Bool
    public let deleteRule: DeleteRule

    package init(
      name: String, isToMany: Bool = false, isOrdered: Bool = false, orderBy: String? = nil,
      isOptional: Bool = true, deleteRule: DeleteRule = .nullify
    ) {
      self.name = name
      self.isToMany = isToMany
      self.isOrdered = isOrdered
      self.orderBy = orderBy
      self.isOptional = isOptional
      self.deleteRule = deleteRule
    }
  }

  /// Two attributes that have the same value in linked records.
  public struct KeyPair: Hashable, Sendable {
    public let own: String
    public let other: String
  }

  public let entity: String
  public let destination: String
  public let side: Side
  public let inverse: Side?
  /// The key. If it is not empty, records are linked by these values, sorted by own name.
  public let key: [KeyPair]

  package init(
    entity: String, destination: String, side: Side, inverse: Side?, key: [KeyPair] = []
  ) {
    self.entity = entity
    self.destination = destination
    self.side = side
    self.inverse = inverse
    self.key = key
  }

  /// True if both sides are the same relationship.
  public var isItsOwnInverse: Bool { entity == destination && inverse?.name == side.name }
}
