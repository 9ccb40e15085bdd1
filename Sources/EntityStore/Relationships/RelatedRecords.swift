public import EntityModel

extension ReadTransaction {
  /// Returns the records that a relationship of a record leads to: those of an ordered relationship
  /// in its order, others in order of record id. A to-one relationship gives at most one.
  ///
  /// - Throws: `unknownEntity`, `unknownRelationship`, `missingRecord`, `damaged`, `storage`.
  /// - Complexity: O(log *n* + *k*) for *k* linked records, which are not read.
  public func related(_ id: ObjectID, _ relationship: String) throws -> [ObjectID] {
    let (link, view) = try link(id, relationship)
    var others: [ObjectID] = []
    try eachLinked(link, from: view, id: id.number) { other in
      others.append(ObjectID(entity: link.description.destination, number: other))
      return true
    }
    return others
  }

  /// Returns the record that a to-one relationship leads to.
  ///
  /// - Returns: `nil` without a link.
  /// - Throws: `invalidRequest` for a to-many relationship; else as `related`.
  public func relatedObject(_ id: ObjectID, _ relationship: String) throws -> ObjectID? {
    let (link, view) = try link(id, relationship)
    if link.isToMany {
      throw StoreError(
        .invalidRequest, "the relationship is to-many",
        [("entity", id.entity), ("relationship", relationship)], advice: "read all related records")
    }
    return try linked(link, from: view, id: id.number).map {
      ObjectID(entity: link.description.destination, number: $0)
    }
  }

  private func link(
    _ id: ObjectID, _ relationship: String
  ) throws -> (RelationshipLayout, RecordView) {
    let entity = try catalog.entity(id.entity)
    let link = try entity.requiredRelationship(named: relationship)
    guard let view = try view(of: id.number, in: entity) else { throw StoreError.missing(id) }
    return (link, view)
  }
}

extension EntityLayout {
  /// Returns the relationship with this name.
  ///
  /// - Throws: `unknownRelationship`; the message lists the existing ones.
  package func requiredRelationship(named name: String) throws(StoreError) -> RelationshipLayout {
    if let found = relationship(named: name) { return found }
    let names = relationships.map(\.description).filter { !$0.isHidden }.map(\.name)
    throw StoreError(
      .unknownRelationship, "no such relationship",
      [("entity", self.name), ("relationship", name)],
      advice: names.isEmpty ? "it has none" : "it has " + names.joined(separator: ", "))
  }
}
