public import EntityModel

/// Another record that a to-one relationship leads to.
///
/// The value holds the other record's identity; the record itself is available if the fetch
/// prefetched the relationship.
///
/// ```swift
/// var path: ToOne<LearningPath>?
/// ```
public struct ToOne<T: Entity>: Sendable {
  public let id: ObjectID
  // A list of at most one, so that an entity may lead to itself.
  private let fetched: [T]

  public init(_ id: ObjectID) { self.init(id, nil) }

  init(_ id: ObjectID, _ value: T?) {
    self.id = id
    fetched = value.map { [$0] } ?? []
  }

  /// The record, if it was prefetched; `nil` otherwise. In a `#Predicate` it means the record in
  /// either case.
  public var value: T? { fetched.first }
}

/// Two values are equal when they lead to the same record.
extension ToOne: Hashable {
  public static func == (left: ToOne, right: ToOne) -> Bool { left.id == right.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The records that a to-many relationship leads to.
///
/// The value holds the identity of the record and the name of the relationship; the linked records
/// are available if the fetch prefetched the relationship.
///
/// ```swift
/// var episodes = ToMany<Episode>("episodes")
/// ```
public struct ToMany<T: Entity>: Sendable {
  /// The record with the relationship; `nil` in a value that was not read from a store.
  public let owner: ObjectID?
  /// The name of the relationship.
  public let relationship: String
  /// The records in the relationship's order, if they were prefetched; `nil` otherwise. In a
  /// `#Predicate` it means the records in either case.
  public internal(set) var values: [T]?

  /// Creates the relationship of a value that is about to be inserted.
  public init(_ relationship: String) { self.init(of: nil, relationship) }

  init(of owner: ObjectID?, _ relationship: String) {
    self.owner = owner
    self.relationship = relationship
  }
}

/// Two values are equal when they are the same relationship of the same record.
extension ToMany: Hashable {
  public static func == (left: ToMany, right: ToMany) -> Bool {
    left.owner == right.owner && left.relationship == right.relationship
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(owner)
    hasher.combine(relationship)
  }
}

/// The value of a relationship, for code that does not know its type.
protocol RelationshipLink {
  /// Returns true if this property means the records that the relationship leads to.
  static func leadsToTheRecord(_ keyPath: AnyKeyPath) -> Bool
}

protocol ToOneLink: RelationshipLink { var id: ObjectID { get } }

extension ToOne: ToOneLink {
  static func leadsToTheRecord(_ keyPath: AnyKeyPath) -> Bool {
    keyPath == \ToOne<T>.value || keyPath == \ToOne<T>.id
  }
}

extension ToMany: RelationshipLink {
  static func leadsToTheRecord(_ keyPath: AnyKeyPath) -> Bool { keyPath == \ToMany<T>.values }
}
