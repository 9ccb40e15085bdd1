public import EntityModel
import EntityStore

/// Changes of relationships.
///
/// A to-one relationship that is stored as a reference, and whose inverse is to-many, is changed at
/// once, like an attribute. All other changes are recorded in order and applied by the save; the
/// draft's reads do not see them.
///
/// All methods throw `unknownEntity`, `unknownRelationship`; `missingRecord` if the draft has no
/// such record; `invalidRequest` for a record of another entity, or for a relationship of the wrong
/// kind.
extension Draft {
  /// Links a record with another one, or with none, by a to-one relationship.
  public func setRelated(_ id: ObjectID, _ relationship: String, to other: ObjectID?) throws {
    let others = [other].compactMap { $0 }
    if let attribute = try check(id, relationship, others: others, toMany: false) {
      let value = other.map { Value.int64($0.number) } ?? .null
      return try update(id) { try $0.set(attribute, to: value) }
    }
    try record(.setOne, id, relationship, others)
  }

  /// Replaces the links of a to-many relationship; see `WriteTransaction.setRelated(_:_:to:)`.
  public func setRelated(
    _ id: ObjectID, _ relationship: String, to others: [ObjectID]
  ) throws {
    try check(id, relationship, others: others, toMany: true)
    try record(.set, id, relationship, others)
  }

  /// Adds links to a to-many relationship; see `WriteTransaction.addRelated`.
  public func addRelated(
    _ others: [ObjectID], to id: ObjectID, _ relationship: String, at index: Int? = nil
  ) throws {
    try check(id, relationship, others: others, toMany: true)
    try record(.add(index: index), id, relationship, others)
  }

  /// Removes links from a to-many relationship; see `WriteTransaction.removeRelated`.
  public func removeRelated(
    _ others: [ObjectID], from id: ObjectID, _ relationship: String
  ) throws {
    try check(id, relationship, others: others, toMany: true)
    try record(.remove, id, relationship, others)
  }

  private func record(
    _ kind: PendingLink.Change, _ owner: ObjectID, _ relationship: String, _ others: [ObjectID]
  ) throws {
    try change {
      try $0.add(
        PendingLink(owner: owner, relationship: relationship, change: kind, others: others))
    }
  }

  /// Checks everything that can be checked before the save.
  ///
  /// - Returns: The attribute that holds the link, if there is one. It is `nil` also for a
  ///   one-to-one relationship, because the other record may have to be unlinked from its former
  ///   partner.
  @discardableResult
  private func check(
    _ id: ObjectID, _ name: String, others: [ObjectID], toMany: Bool
  ) throws -> String? {
    try read { transaction -> String? in
      let entity = try transaction.catalog.entity(id.entity)
      let relationship = try entity.requiredRelationship(named: name)
      guard try transaction.exists(id.number, in: entity) else { throw StoreError.missing(id) }
      let destination = try transaction.destination(of: relationship)
      guard relationship.isToMany == toMany else {
        throw StoreError(
          .invalidRequest,
          toMany ? "the relationship is to-one" : "the relationship is to-many",
          [("entity", id.entity), ("relationship", name)],
          advice: toMany ? "use setRelated with one record or nil" : "pass a list")
      }
      for other in others {
        try StoreError.requireEntity(destination.name, of: other)
        guard try transaction.exists(other.number, in: destination) else {
          throw StoreError.missing(other)
        }
      }
      guard case .attribute(let position, _) = relationship.access, relationship.inverse.isToMany
      else { return nil }
      return entity.description.attributes[position].name
    }
  }
}
