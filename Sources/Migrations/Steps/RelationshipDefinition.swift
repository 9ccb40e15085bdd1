public import EntityModel

/// A relationship and its inverse as a migration names them, before the catalog has chosen where
/// the links are kept.
public struct RelationshipDefinition: Hashable, Sendable {
  public struct Side: Hashable, Sendable {
    public let name: String
    public let isToMany: Bool
    /// To-many: its records have an order of their own.
    public let isOrdered: Bool
    /// To-many: the attribute of its records that gives the order.
    public let orderBy: String?
    /// To-one: a record may be without.
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
  /// Not empty: linked by these values, sorted by own name.
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

  /// Whether both sides are one and the same relationship.
  public var isItsOwnInverse: Bool { entity == destination && inverse?.name == side.name }
}
