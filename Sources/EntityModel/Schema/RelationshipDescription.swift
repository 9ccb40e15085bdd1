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
  /// Only of a to-many relationship: whether its records have an order of their own, which
  /// `moveRelated` changes. One that an attribute orders is not ordered in this sense.
  public var isOrdered: Bool
  /// Whether a record may be without. A to-many relationship always may.
  public var isOptional: Bool
  public var deleteRule: DeleteRule
  /// The relationship of the destination that leads back. One that no migration names is hidden
  /// (`isHidden`), so that there always is one; a relationship may be its own inverse.
  public var inverse: String
  public var storage: Storage

  public init(
    id: Int = 0, name: String, destination: String, isToMany: Bool = false,
    isOrdered: Bool = false, isOptional: Bool = true, deleteRule: DeleteRule = .nullify,
    inverse: String, storage: Storage
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

  /// Made by the catalog to complete a pair; its name begins with an underscore.
  public var isHidden: Bool { name.hasPrefix("_") }

  /// Where the links are. Attributes and indexes are named by id; those that begin with an
  /// underscore were made for the relationship.
  public enum Storage: Codable, Hashable, Sendable {
    /// To-one: this attribute holds the number of the other record. Its name is the
    /// relationship's, its type `reference`. The index, on the attribute and then on what gives the
    /// inverse its order, serves the inverse.
    case reference(attribute: Int, index: Int)
    /// To-one: the values of these attributes are those of the destination's unique index on
    /// exactly their counterparts. Without such a record, or if one of the values is null, there
    /// is no link. The index, on the own attributes and then on what gives the inverse its order,
    /// serves the inverse.
    case key([KeyPair], index: Int)
    /// The destination's relationship `inverse` holds it. `order` is the attribute of the
    /// destination that gives the order.
    case inverse(order: Int?)
    /// Each link is a record of a hidden entity, with the numbers of both records in the attributes
    /// `own` and `other`, and the place among the own record's links in `order`: where both sides
    /// are to-many, and where a relationship is its own inverse (then the lesser number stands in
    /// `own`). The index is on own, order and other.
    case link(entity: String, own: Int, other: Int, order: Int?, index: Int)
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
  /// Nothing: what is left leads to no record and reads as null. A link that is a record of its own
  /// goes with either of its ends all the same.
  case noAction
}
