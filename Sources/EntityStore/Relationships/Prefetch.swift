public import EntityModel

/// Records that were read together with others, and the links that lead to them. They are copies,
/// independent of any transaction.
public struct Prefetched: Sendable {
  /// The records that the paths lead to.
  public private(set) var records: [ObjectID: Record] = [:]
  /// `false` if there were more than `StoreLimits.prefetchedMax` records; the missing ones can be
  /// read individually.
  public private(set) var isComplete = true
  private var links: [Link: [ObjectID]] = [:]
  private var linkCount = 0

  private struct Link: Hashable {
    let from: ObjectID
    let relationship: String
  }

  /// Returns the records that a relationship leads to, in its order.
  ///
  /// - Returns: `nil` if the relationship of this record was not prefetched.
  public func related(_ id: ObjectID, _ relationship: String) -> [ObjectID]? {
    links[Link(from: id, relationship: relationship)]
  }
}

extension ReadTransaction {
  /// Reads the records that the request's `relationshipKeyPathsForPrefetching` lead to.
  ///
  /// A path consists of the names of relationships, to-one or to-many, separated by points. Each
  /// record is read once, even if several links lead to it, and the records of one path component
  /// are read in order of record id.
  ///
  /// - Parameter records: Records of the request's entity.
  /// - Throws: `unknownEntity`, `unknownRelationship`, before anything is read; `damaged`,
  ///   a storage failure.
  public func prefetch(
    _ request: FetchRequest, for records: [Record]
  ) throws -> Prefetched {
    let entity = try catalog.entity(request.entityName)
    let paths = try request.relationshipKeyPathsForPrefetching.map { path in
      try steps(of: path, from: entity)
    }
    var prefetched = Prefetched()
    for steps in paths {
      var identifiers = records.map(\.id)
      for (entity, relationship) in steps {
        identifiers = try prefetched.follow(relationship, of: entity, from: identifiers, in: self)
      }
    }
    return prefetched
  }

  private func steps(
    of path: String, from entity: EntityLayout
  ) throws -> [(EntityLayout, RelationshipLayout)] {
    var entity = entity
    return try path.split(separator: ".", omittingEmptySubsequences: false).map { name in
      let relationship = try entity.requiredRelationship(named: String(name))
      let step = (entity, relationship)
      entity = try destination(of: relationship)
      return step
    }
  }
}

extension Prefetched {
  /// Reads the links of some records and the records that they lead to.
  ///
  /// - Returns: The identities of the linked records, without duplicates, in order of record id.
  fileprivate mutating func follow(
    _ relationship: RelationshipLayout, of entity: EntityLayout, from identifiers: [ObjectID],
    in transaction: ReadTransaction
  ) throws -> [ObjectID] {
    var found: Set<ObjectID> = []
    for id in identifiers {
      let link = Link(from: id, relationship: relationship.name)
      if let known = links[link] {
        found.formUnion(known)
        continue
      }
      guard hasRoom() else { break }
      guard let view = try transaction.view(of: id.number, in: entity) else { continue }
      var others: [ObjectID] = []
      try transaction.eachLinked(relationship, from: view, id: id.number) { other in
        others.append(ObjectID(entity: relationship.description.destination, number: other))
        return linkCount + others.count <= StoreLimits.prefetchedMax
      }
      linkCount += others.count
      guard hasRoom() else { break }  // the list may lack its end
      links[link] = others
      found.formUnion(others)
    }
    let sorted = found.sorted { $0.number < $1.number }
    try read(sorted, in: transaction)
    return sorted
  }

  private mutating func read(_ identifiers: [ObjectID], in transaction: ReadTransaction) throws {
    for id in identifiers where records[id] == nil {
      guard hasRoom() else { return }
      records[id] = try transaction.get(id)
    }
  }

  private mutating func hasRoom() -> Bool {
    if records.count < StoreLimits.prefetchedMax, linkCount <= StoreLimits.prefetchedMax {
      return true
    }
    isComplete = false
    return false
  }
}
