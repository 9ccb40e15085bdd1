package import EntityModel

/// The positions and indexes that a relationship uses, found from the descriptions alone, without
/// trees. A pure function, so that the integrity check of a damaged catalog uses the code that
/// binds a sound one.
package struct RelationshipBinding {
  /// An index and the entity whose records it leads to.
  package struct Index {
    let entity: EntityDescription
    let description: IndexDescription
  }

  package enum Access {
    case attribute(position: Int)
    /// A relationship by key. `own` has the own positions in the order of the index's parts.
    case key(Index, own: [Int])
    case holders(Index)
    /// A relationship whose links are keys of the other records. `own` has the own positions in the
    /// order of the index's first parts.
    case keyHolders(Index, own: [Int])
    /// A relationship with a link entity.
    ///
    /// - Parameter back: The index from the other end; only for a relationship that is its own
    ///   inverse.
    case links(Index, back: Index?)
  }

  /// A contradiction in the descriptions.
  package struct Problem: Error {
    package let text: String
  }

  let inverse: RelationshipDescription
  let access: Access

  package init(
    _ relationship: RelationshipDescription, of entity: EntityDescription, in schema: Schema
  ) throws(Problem) {
    guard let destination = schema.entity(named: relationship.destination) else {
      throw Problem(text: "its destination is missing")
    }
    guard let inverse = destination.relationship(named: relationship.inverse),
      inverse.inverse == relationship.name, inverse.destination == entity.name
    else { throw Problem(text: "its inverse does not lead back") }
    self.inverse = inverse
    access = try Frame(
      relationship: relationship, inverse: inverse, entity: entity, destination: destination,
      schema: schema
    ).access()
  }
}

/// A relationship, its inverse, and the entities of both.
private struct Frame {
  package typealias Problem = RelationshipBinding.Problem
  package typealias Index = RelationshipBinding.Index
  package typealias Access = RelationshipBinding.Access

  let relationship: RelationshipDescription
  let inverse: RelationshipDescription
  let entity: EntityDescription
  let destination: EntityDescription
  let schema: Schema

  func access() throws(Problem) -> Access {
    if relationship.isOrdered, !relationship.isToMany || order(of: relationship) == nil {
      throw Problem(text: "it is ordered and has no order")
    }
    switch relationship.storage {
    case .reference(let attribute, let index): return try reference(attribute, index)
    case .key(let pairs, let index): return try key(pairs, index)
    case .inverse: return try held()
    case .link(let name, let own, let other, let order, let index):
      guard let link = schema.entity(named: name) else {
        throw Problem(text: "the entity of its links is missing")
      }
      return try links(link, own: own, other: other, order: order, index: index)
    }
  }

  private func reference(_ attribute: Int, _ index: Int) throws(Problem) -> Access {
    guard !relationship.isToMany,
      let position = entity.attributes.firstIndex(where: { $0.id == attribute }),
      entity.attributes[position].type == .reference(destination.name)
    else { throw Problem(text: "its attribute is no reference to \(destination.name)") }
    _ = try requiredIndex(index, of: entity, beginsWith: [attribute], then: order(of: inverse))
    return .attribute(position: position)
  }

  private func key(_ pairs: [RelationshipDescription.KeyPair], _ index: Int) throws(Problem)
    -> Access
  {
    guard !relationship.isToMany, !pairs.isEmpty else {
      throw Problem(text: "it has no key, or is to-many with one")
    }
    _ = try requiredIndex(index, of: entity, beginsWith: pairs.map(\.own), then: order(of: inverse))
    let unique = destination.indexes.first { index in
      index.isUnique && index.keys.count == pairs.count
        && Set(index.keys.map(\.attributeID)) == Set(pairs.map(\.other))
        && index.keys.allSatisfy { $0.collation == .binary }
    }
    guard let unique else {
      throw Problem(text: "\(destination.name) has no unique index on its key")
    }
    let byOther = Dictionary(pairs.map { ($0.other, $0.own) }) { first, _ in first }
    let own = unique.keys.compactMap { key in byOther[key.attributeID].flatMap { position($0) } }
    guard own.count == unique.keys.count, haveSameKinds(pairs) else {
      throw Problem(text: "its key is not of the kinds of \(destination.name)'s")
    }
    return .key(Index(entity: destination, description: unique), own: own)
  }

  private func haveSameKinds(_ pairs: [RelationshipDescription.KeyPair]) -> Bool {
    pairs.allSatisfy { pair in
      let own = entity.attributes.first { $0.id == pair.own }?.type.kind
      let other = destination.attributes.first { $0.id == pair.other }?.type.kind
      return own != nil && own == other && own != .strings
    }
  }

  /// Returns the access to links that the other side holds.
  private func held() throws(Problem) -> Access {
    switch inverse.storage {
    case .reference(let attribute, let number):
      return .holders(
        try requiredIndex(
          number, of: destination, beginsWith: [attribute], then: order(of: relationship)))
    case .key(let pairs, let number):
      let found = try requiredIndex(
        number, of: destination, beginsWith: pairs.map(\.own), then: order(of: relationship))
      let byHolder = Dictionary(pairs.map { ($0.own, $0.other) }) { first, _ in first }
      let own = found.description.keys.prefix(pairs.count).compactMap { key in
        byHolder[key.attributeID].flatMap { position($0) }
      }
      guard own.count == pairs.count else { throw Problem(text: "its key is not there") }
      return .keyHolders(found, own: own)
    case .inverse, .link: throw Problem(text: "neither side holds its links")
    }
  }

  private func links(
    _ link: EntityDescription, own: Int, other: Int, order: Int?, index number: Int
  ) throws(Problem) -> Access {
    let ends = [(own, entity.name), (other, destination.name)]
    for (id, name) in ends {
      let attribute = link.attributes.first { $0.id == id }
      guard let attribute, attribute.type == .reference(name), !attribute.isOptional else {
        throw Problem(text: "its links do not hold the numbers of both records")
      }
    }
    guard link.indexes.contains(where: { isUnique($0, on: [own, other]) }) else {
      throw Problem(text: "its links are not unique")
    }
    let keys = [own] + [order].compactMap { $0 } + [other]
    let found = try requiredIndex(number, of: link, beginsWith: keys, then: nil)
    guard found.description.keys.map(\.attributeID) == keys else {
      throw Problem(text: "its index has its keys in another order")
    }
    if inverse.id == relationship.id {
      guard let back = link.indexes.first(where: { $0.keys.map(\.attributeID) == [other, own] })
      else { throw Problem(text: "its links cannot be read from both ends") }
      return .links(
        found, back: try requiredIndex(back.id, of: link, beginsWith: [other, own], then: nil))
    }
    guard case .link(link.name, other, own, _, _) = inverse.storage else {
      throw Problem(text: "its inverse has other links")
    }
    return .links(found, back: nil)
  }

  private func isUnique(_ index: IndexDescription, on attributes: Set<Int>) -> Bool {
    index.isUnique && index.keys.count == attributes.count
      && Set(index.keys.map(\.attributeID)) == attributes
  }

  /// Returns the index. Its keys must be these attributes in any order, then that of the order.
  private func requiredIndex(
    _ id: Int, of entity: EntityDescription, beginsWith attributes: [Int], then order: Int?
  ) throws(Problem) -> Index {
    guard let index = entity.indexes.first(where: { $0.id == id }),
      Set(index.keys.prefix(attributes.count).map(\.attributeID)) == Set(attributes),
      index.keys.dropFirst(attributes.count).map(\.attributeID) == [order].compactMap({ $0 }),
      index.keys.allSatisfy({ !$0.isDescending && $0.collation == .binary }),
      index.keys.allSatisfy({ key in entity.attributes.contains { $0.id == key.attributeID } })
    else { throw Problem(text: "its index is missing or has other keys") }
    return Index(entity: entity, description: index)
  }

  private func order(of relationship: RelationshipDescription) -> Int? {
    switch relationship.storage {
    case .inverse(let order), .link(_, _, _, let order, _): order
    case .reference, .key: nil
    }
  }

  private func position(_ attribute: Int) -> Int? {
    entity.attributes.firstIndex { $0.id == attribute }
  }
}
