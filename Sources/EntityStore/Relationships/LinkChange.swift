package import EntityModel
import LMDB

/// Changes the links of one relationship where they are stored: in the records that hold them, or
/// as records of a link entity. A refused change throws an error, and `together` then undoes the
/// earlier ones.
struct LinkChange {
  private let relationship: RelationshipLayout
  private let entity: EntityLayout
  private let destination: EntityLayout
  private let transaction: WriteTransaction

  init(
    _ relationship: RelationshipLayout, of entity: EntityLayout, in transaction: WriteTransaction
  ) throws {
    self.relationship = relationship
    self.entity = entity
    self.transaction = transaction
    destination = try transaction.destination(of: relationship)
  }

  /// Links two records. Where a record may have only one link, its former link is removed.
  ///
  /// - Parameter place: The place in an ordered relationship; `nil` for the last.
  func link(
    _ id: Int64, to other: Int64, at place: Int64? = nil, _ changes: inout RecordChanges
  ) throws {
    let inverse = try inverse()
    try makeRoom(for: other, at: id, &changes)
    try inverse.makeRoom(for: id, at: other, &changes)
    switch relationship.access {
    case .attribute, .key: try hold(other, by: id, at: nil, &changes)
    case .holders, .keyHolders: try inverse.hold(id, by: other, at: place, &changes)
    case .links: try insertLink(id, other, at: place, &changes)
    }
  }

  /// Removes the link between two records.
  ///
  /// - Throws: `validation` if the record that holds it requires a link.
  func unlink(_ id: Int64, from other: Int64, _ changes: inout RecordChanges) throws {
    switch relationship.access {
    case .attribute, .key: try release(id, &changes)
    case .holders, .keyHolders: try inverse().release(other, &changes)
    case .links: try removeLink(id, other, &changes)
    }
  }

  /// Removes all links of a record, and clears references to records that do not exist any more.
  func unlinkAll(of id: Int64, _ changes: inout RecordChanges) throws {
    switch relationship.access {
    case .attribute, .key: try release(id, &changes)
    case .holders, .keyHolders, .links:
      for other in try others(of: id) { try unlink(id, from: other, &changes) }
    }
  }

  func others(of id: Int64) throws -> [Int64] {
    guard let view = try transaction.view(of: id, in: entity) else { return [] }
    var others: [Int64] = []
    try transaction.eachLinked(relationship, from: view, id: id) { other in
      others.append(other)
      return true
    }
    return others
  }

  private func inverse() throws -> LinkChange {
    let inverse = try destination.requiredRelationship(named: relationship.inverse.name)
    return try LinkChange(inverse, of: destination, in: transaction)
  }

  /// Removes the former link of a record that may have only one.
  private func makeRoom(
    for other: Int64, at id: Int64, _ changes: inout RecordChanges
  ) throws {
    if relationship.isToMany { return }
    switch relationship.access {
    case .attribute, .key: return  // the record holds the link, and the new one overwrites it
    case .holders, .keyHolders, .links:
      for former in try others(of: id) where former != other {
        try unlink(id, from: former, &changes)
      }
    }
  }

  // MARK: Links that a record holds

  /// Sets the attributes by which the record holds its link.
  private func hold(
    _ other: Int64, by id: Int64, at place: Int64?, _ changes: inout RecordChanges
  ) throws {
    var values: [(position: Int, value: Value)] = []
    switch relationship.access {
    case .attribute(let position, _):
      values.append((position, .int64(other)))
      if let order = order(at: position) {
        let former = try transaction.row(id, of: entity)?.int64(position)
        if let place {
          values.append((order.position, .int64(place)))
        } else if former != other {
          let last = try transaction.placeAfterLast(of: other, order.index, of: entity.name)
          values.append((order.position, .int64(last)))
        }
      }
    case .key(let index, let own):
      guard let row = try transaction.row(other, of: destination) else {
        throw StoreError.missing(ObjectID(entity: destination.name, number: other))
      }
      for (part, position) in zip(index.parts, own) {
        let value = try row.value(part.position)
        if value.isNull { throw StoreError.required(part.position, in: destination) }
        values.append((position, value))
      }
    case .holders, .keyHolders, .links: return  // this side holds nothing
    }
    try changes.assign(values, to: id, in: entity)
  }

  /// Clears the attributes by which the record holds its link.
  private func release(_ id: Int64, _ changes: inout RecordChanges) throws {
    let positions = relationship.clearedPositions(in: entity)
    guard relationship.description.isOptional, !positions.isEmpty else {
      throw StoreError(
        .validation, "a record must have a link",
        [
          ("record", ObjectID(entity: entity.name, number: id).description),
          ("relationship", relationship.name),
        ], advice: "link it with another record, or delete it")
    }
    try changes.assign(positions.map { ($0, .null) }, to: id, in: entity)
  }

  private func order(at position: Int) -> (position: Int, index: IndexLayout)? {
    entity.references.first { $0.position == position }?.order
  }

  // MARK: Links that are records

  private func insertLink(
    _ id: Int64, _ other: Int64, at place: Int64?, _ changes: inout RecordChanges
  ) throws {
    guard let links = try LinkEntity(relationship, in: transaction) else { return }
    var row = links.entity.newRow()
    let (own, back) = links.ends(id, other)
    row[links.own] = .int64(own)
    row[links.other] = .int64(back)
    if let order = links.order {
      let last = try place ?? transaction.placeAfterLast(of: id, links.index, of: links.entity.name)
      row[order] = .int64(last)
    }
    if let inverse = try LinkEntity(try inverse().relationship, in: transaction),
      let order = inverse.order
    {
      row[order] = .int64(
        try transaction.placeAfterLast(of: other, inverse.index, of: links.entity.name))
    }
    try changes.insert(row, into: links.entity)
  }

  private func removeLink(_ id: Int64, _ other: Int64, _ changes: inout RecordChanges) throws {
    guard let links = try LinkEntity(relationship, in: transaction),
      let link = try links.find(id, other)
    else { return }
    try changes.remove(link, from: links.entity)
  }

  // MARK: Order

  /// Returns the linked records of an ordered relationship in their order, with their places.
  func places(of id: Int64) throws -> [(other: Int64, place: Int64)] {
    var places: [(other: Int64, place: Int64)] = []
    func collect(_ index: IndexLayout, _ other: (Cursor.Entry) -> Int64?) throws {
      try LinkKey.withPrefix(id) { prefix in
        try transaction.eachEntry(of: index, prefix) { entry in
          guard let other = other(entry), let place = LinkKey.number(1, of: entry.key) else {
            throw StoreError.unreadableLink(relationship)
          }
          places.append((other, place))
          return true
        }
      }
    }
    switch relationship.access {
    case .holders(let index):
      try transaction.prepareToRead(destination)
      try collect(index) { index.objectID(key: $0.key, value: $0.value) }
    case .links(let index, let name, _):
      try transaction.prepareToRead(entityNamed: name)
      try collect(index) { LinkKey.last(of: index, $0.key) }
    case .attribute, .key, .keyHolders: break  // never ordered
    }
    return places
  }

  /// Sets the place of a linked record.
  func setPlace(
    _ place: Int64, of other: Int64, at id: Int64, _ changes: inout RecordChanges
  ) throws {
    switch relationship.access {
    case .holders: try inverse().hold(id, by: other, at: place, &changes)
    case .links:
      guard let links = try LinkEntity(relationship, in: transaction), let order = links.order,
        let link = try links.find(id, other)
      else { return }
      try changes.assign([(order, .int64(place))], to: link, in: links.entity)
    case .attribute, .key, .keyHolders: return
    }
  }
}

extension RelationshipLayout {
  /// Returns the positions of the attributes that are set to null to remove a link that a record
  /// holds.
  func clearedPositions(in entity: EntityLayout) -> [Int] {
    let attributes = entity.description.attributes
    switch description.storage {
    case .reference:
      guard case .attribute(let position, _) = access else { return [] }
      let order = entity.references.first { $0.position == position }?.order
      return [position] + [order?.position].compactMap { $0 }
    case .key(let pairs, _):
      let cleared = entity.description.clearedToUnlink(pairs)
      return attributes.indices.filter { cleared.contains(attributes[$0].id) }
    case .inverse, .link: return []
    }
  }
}

extension StoreError {
  static func required(_ position: Int, in entity: EntityLayout) -> StoreError {
    .validation(
      .required, entity: entity.name, attribute: entity.description.attributes[position].name)
  }
}

extension EntityDescription {
  /// Returns the positions of the key attributes that are set to null to remove a link: those that
  /// may be null and that belong to no unique index, because a unique index identifies the record.
  package func clearedToUnlink(_ pairs: [RelationshipDescription.KeyPair]) -> [Int] {
    let own = indexes.filter { $0.isUnique && !$0.name.hasPrefix("_") }
    let identifying = Set(own.flatMap(\.keys).map(\.attributeID))
    return pairs.map(\.own).filter { id in
      !identifying.contains(id) && attributes.contains { $0.id == id && $0.isOptional }
    }
  }
}
