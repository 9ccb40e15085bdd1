/// A relationship of an entity to another one, or to itself.
///
/// Each link is stored once, so that the two sides cannot differ: a to-one relationship is held by
/// its own record (an attribute that holds the other record's number, or values that another
/// record is known by), a to-many relationship is read from the index on the other side, and where
/// both sides are to-many a hidden entity holds one record for each link.
public struct RelationshipDescription: Codable, Hashable, Sendable {
  /// Assigned by the catalog, unique in the schema, never used again.
  public var id: Int
  public var name: String
  /// The name of the entity it leads to.
  public var destination: String
  public var isToMany: Bool
  /// Only of a to-many relationship: whether its records have an order of their own.
  public var isOrdered: Bool
  /// Whether a record may be without. A to-many relationship always may.
  public var isOptional: Bool
  public var deleteRule: DeleteRule
  /// The relationship of the destination that leads back.
  public var inverse: String?
  public var storage: Storage

  public init(
    id: Int = 0, name: String, destination: String, isToMany: Bool = false,
    isOrdered: Bool = false, isOptional: Bool = true, deleteRule: DeleteRule = .nullify,
    inverse: String? = nil, storage: Storage
  ) {
    self.id = id
    self.name = name
    self.destination = destination
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.isOptional = isOptional
    self.deleteRule = deleteRule
    self.inverse = inverse
    self.storage = storage
  }

  /// Where the links are.
  public enum Storage: Codable, Hashable, Sendable {
    /// To-one: this attribute (by id) of the record holds the number of the other one. Its name
    /// is the relationship's, its type `reference`.
    case reference(attribute: Int)
    /// To-one: the values of these attributes are those of the destination's unique index on
    /// their counterparts. Without such a record, or if one of the values is null, there is no
    /// link.
    case key([KeyPair])
    /// The destination's relationship `inverse` holds it. `order` is the attribute (by id) of the
    /// destination that gives the order.
    case inverse(order: Int?)
    /// Both sides are to-many: each link is a record of a hidden entity, with the numbers of both
    /// in these attributes (by id), and the place in each ordered side.
    case link(entity: String, own: Int, other: Int, order: Int?)
  }

  /// Two attributes, by id, that have the same value in linked records.
  public struct KeyPair: Codable, Hashable, Sendable {
    public var own: Int
    public var other: Int

    public init(own: Int, other: Int) {
      self.own = own
      self.other = other
    }
  }
}

/// What deleting a record does to those that a relationship leads to.
public enum DeleteRule: String, Codable, Hashable, Sendable, CaseIterable {
  /// They lose the link; where they must have one, the deletion is refused.
  case nullify
  /// They are deleted, too.
  case cascade
  /// While there is one, the deletion is refused.
  case deny
  /// Nothing: what is left leads to no record and reads as null.
  case noAction
}
