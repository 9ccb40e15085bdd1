/// A relationship of an entity to another one, or to itself.
///
/// Each link is stored once, so that the two sides cannot differ. A to-one relationship is stored
/// in its own record: in an attribute that holds the other record's id, or in values that identify
/// the other record. A to-many relationship is read from the index of the other side. If both sides
/// are to-many, a hidden entity has one record for each link.
public struct RelationshipDescription: Codable, Hashable, Sendable {
  /// The id that the catalog has assigned, unique in the schema and never used again.
  public var id: Int
  public var name: String
  /// The name of the entity it leads to.
  public var destination: String
  public var isToMany: Bool
  /// True for a to-many relationship whose links have a stored order, which `moveRelated` changes.
  /// False for a relationship that is ordered by an attribute.
  public var isOrdered: Bool
  /// True if a record may have no link. Always true for a to-many relationship.
  public var isOptional: Bool
  public var deleteRule: DeleteRule
  /// The relationship of the destination that follows the same links in the other direction. If no
  /// migration names one, the catalog creates a hidden one (`isHidden`), so that it always exists.
  /// A relationship may be its own inverse.
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

  /// True for a relationship that the catalog created as an inverse; its name begins with an
  /// underscore.
  public var isHidden: Bool { name.hasPrefix("_") }

  /// The place where the links are stored. Attributes and indexes are given by id; those whose
  /// names begin with an underscore were created for the relationship.
  public enum Storage: Codable, Hashable, Sendable {
    /// To-one: this attribute holds the record id of the other record. It has the relationship's
    /// name and the type `reference`. The index, on the attribute and then on the attribute that
    /// orders the inverse, serves the inverse.
    case reference(attribute: Int, index: Int)
    /// To-one: the values of these attributes equal those of the destination's unique index on
    /// exactly their counterparts. There is no link without such a record, or if one of the values
    /// is null. The index, on the own attributes and then on the attribute that orders the inverse,
    /// serves the inverse.
    case key([KeyPair], index: Int)
    /// The links are stored by the destination's relationship `inverse`. `order` is the attribute
    /// of the destination that orders them.
    case inverse(order: Int?)
    /// Each link is a record of a hidden entity. The attributes `own` and `other` hold the ids of
    /// both records, `order` the position among the own record's links. Used if both sides are
    /// to-many, and if a relationship is its own inverse (then `own` holds the lesser id). The
    /// index is on own, order and other.
    case link(entity: String, own: Int, other: Int, order: Int?, index: Int)
  }

  /// Two attributes, given by id, that have equal values in linked records.
  public struct KeyPair: Codable, Hashable, Sendable {
    public var own: Int
    public var other: Int

    public init(own: Int, other: Int) {
      self.own = own
      self.other = other
    }
  }
}

/// The effect of a record's deletion on the records that a relationship leads to.
public enum DeleteRule: String, Codable, Hashable, Sendable, CaseIterable {
  /// They lose the link. If they are required to have one, the deletion is refused.
  case nullify
  /// They are deleted, too.
  case cascade
  /// The deletion is refused while there is one.
  case deny
  /// They stay unchanged: the link leads to no record and reads as null. A link that is stored as a
  /// record is deleted with either of its ends.
  case noAction
}
