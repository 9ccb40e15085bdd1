public import EntityModel
import LMDB

/// A deletion with all its consequences. It is computed completely, from indexes alone where links
/// are ranges of an index, before anything is written.
package struct Deletion {
  package struct Item: Hashable {
    package let entity: String
    package let id: Int64
  }

  /// The terms of a deletion of many records.
  package struct Terms {
    /// True if delete rules apply. Otherwise links are only removed; a link that the other record
    /// requires still makes the deletion fail.
    var followsRules = true
    /// Returns true for a record that is to be deleted as well: it does not prevent the deletion of
    /// another one. `nil` if there is no such set.
    var isToGo: ((Item) throws -> Bool)?
    /// Returns true for a record that a cascade does not reach: it only loses its link. `nil` if
    /// there is none.
    var mustStay: ((Item) throws -> Bool)?

    package init(
      followsRules: Bool = true, isToGo: ((Item) throws -> Bool)? = nil,
      mustStay: ((Item) throws -> Bool)? = nil
    ) {
      self.followsRules = followsRules
      self.isToGo = isToGo
      self.mustStay = mustStay
    }
  }

  /// A relationship of a record to be deleted, checked when all records to be deleted are known.
  private struct Link {
    let relationship: RelationshipLayout
    let from: Item
    let others: [Item]
  }

  private let transaction: WriteTransaction
  private let terms: Terms
  /// The records to be deleted, in the order in which they were found.
  private var order: [Item]
  private var going: Set<Item>
  private var denials: [Link] = []
  /// Links that other records hold and that are to be removed.
  private var losses: [Link] = []
  /// The records of link entities to be deleted.
  private var links: Set<Item> = []

  /// Deletes a record with all consequences.
  ///
  /// - Parameter old: The record as it is stored now; not valid after the call.
  /// - Returns: The deleted records, without the records of link entities.
  @discardableResult
  package static func run(
    of id: Int64, _ old: RecordView, in entity: EntityLayout, on terms: Terms = Terms(),
    _ transaction: WriteTransaction
  ) throws -> [Item] {
    let first = Item(entity: entity.name, id: id)
    if entity.isDeletedAlone {
      try transaction.replace(old: old, new: nil, id: id, in: entity)
      return [first]
    }
    var deletion = Deletion(
      transaction: transaction, terms: terms, order: [first], going: [first])
    try deletion.collect()
    try deletion.judge()
    try deletion.write()
    return deletion.order
  }

  // MARK: Records to delete

  private mutating func collect() throws {
    var next = 0
    while next < order.count {
      let item = order[next]
      next += 1
      let entity = try transaction.catalog.entity(item.entity)
      for relationship in entity.relationships { try follow(relationship, from: item, in: entity) }
    }
  }

  private mutating func follow(
    _ relationship: RelationshipLayout, from item: Item, in entity: EntityLayout
  ) throws {
    try collectLinks(relationship, of: item)
    let rule = terms.followsRules ? relationship.description.deleteRule : .nullify
    guard rule.isAboutOthers(relationship),
      let view = try transaction.view(of: item.id, in: entity)
    else { return }
    var others: [Item] = []
    try transaction.eachLinked(relationship, from: view, id: item.id) { other in
      others.append(Item(entity: relationship.description.destination, id: other))
      return true
    }
    if others.isEmpty { return }
    let link = Link(relationship: relationship, from: item, others: others)
    switch rule {
    case .nullify:
      losses.append(link)
      if terms.isToGo != nil, try mustKeep(relationship) { try includeInDeletion(others) }
    case .deny:
      denials.append(link)
      try includeInDeletion(others)
    case .cascade:
      let staying = try terms.mustStay.map { try Set(others.filter($0)) } ?? []
      for other in others where !staying.contains(other) && going.insert(other).inserted {
        order.append(other)
      }
      if !staying.isEmpty, DeleteRule.nullify.isAboutOthers(relationship) {
        losses.append(Link(relationship: relationship, from: item, others: Array(staying)))
      }
    case .noAction: break
    }
  }

  private mutating func includeInDeletion(_ others: [Item]) throws {
    guard let isToGo = terms.isToGo else { return }
    for other in others where try !going.contains(other) && isToGo(other) {
      going.insert(other)
      order.append(other)
    }
  }

  private mutating func collectLinks(_ relationship: RelationshipLayout, of item: Item) throws {
    guard case .links(let index, let name, let back) = relationship.access else { return }
    try transaction.prepareToRead(entityNamed: name)
    for index in [index, back].compactMap({ $0 }) {
      try LinkKey.withPrefix(item.id) { prefix in
        try transaction.eachEntry(of: index, prefix) { entry in
          guard let link = index.objectID(key: entry.key, value: entry.value) else {
            throw StoreError.unreadableLink(relationship)
          }
          links.insert(Item(entity: name, id: link))
          return true
        }
      }
    }
  }

  // MARK: Check

  private func judge() throws {
    for link in denials {
      let kept = link.others.count { !going.contains($0) }
      if kept > 0 {
        throw refusal(
          "a delete rule forbids the deletion while others are linked with it", link, kept)
      }
    }
    for link in losses where try mustKeep(link.relationship) {
      let kept = link.others.count { !going.contains($0) }
      if kept > 0 {
        throw refusal("other records require a link with the record", link, kept)
      }
    }
  }

  /// Returns true if the records at the other end cannot exist without their link.
  private func mustKeep(_ relationship: RelationshipLayout) throws -> Bool {
    if !relationship.inverse.isOptional { return true }
    // A link by key that cannot be set to null is left in place and leads to no record.
    guard terms.followsRules else { return false }
    let (entity, inverse) = try otherSide(of: relationship)
    return inverse.clearedPositions(in: entity).isEmpty
  }

  private func otherSide(
    of relationship: RelationshipLayout
  ) throws -> (EntityLayout, RelationshipLayout) {
    let entity = try transaction.destination(of: relationship)
    return (entity, try entity.requiredRelationship(named: relationship.inverse.name))
  }

  private func refusal(_ summary: StaticString, _ link: Link, _ count: Int) -> StoreError {
    StoreError(
      .deletionDenied, summary,
      [
        ("record", ObjectID(entity: link.from.entity, number: link.from.id).description),
        ("relationship", link.relationship.name),
        (
          "inverse",
          "\(link.relationship.description.destination).\(link.relationship.inverse.name)"
        ),
        ("records", String(count)),
      ], advice: "delete those first, or link them with other records")
  }

  // MARK: Writing

  private func write() throws {
    try transaction.together { changes in
      for link in losses {
        let (entity, inverse) = try otherSide(of: link.relationship)
        let positions = inverse.clearedPositions(in: entity)
        for other in link.others where !going.contains(other) {
          try changes.assign(positions.map { ($0, .null) }, to: other.id, in: entity)
        }
      }
    }
    // The checks are complete: no error of a rule is thrown from here on.
    for item in links.sorted(by: { ($0.entity, $0.id) < ($1.entity, $1.id) }) + order {
      let entity = try transaction.catalog.entity(item.entity)
      guard let view = try transaction.view(of: item.id, in: entity) else { continue }
      try transaction.replace(old: view, new: nil, id: item.id, in: entity)
    }
  }
}

extension WriteTransaction {
  /// Deletes a record, its index entries and every link that leads to it. The delete rules of its
  /// relationships determine what happens to the linked records.
  ///
  /// - Returns: `false` if there is no such record.
  /// - Throws: `deletionDenied` if a delete rule forbids the deletion or a record would lose a
  ///   required link; else as `insert`.
  @discardableResult
  public func delete(_ id: ObjectID) throws -> Bool {
    let entity = try catalog.entity(id.entity)
    guard let old = try view(of: id.number, in: entity) else { return false }
    try Deletion.run(of: id.number, old, in: entity, self)
    return true
  }
}

extension RelationshipLayout {
  /// True if a deletion reads the links, under the delete rules or without them.
  var isReadByDeletions: Bool {
    if case .links = access { return true }
    return description.deleteRule.isAboutOthers(self) || DeleteRule.nullify.isAboutOthers(self)
  }
}

extension DeleteRule {
  /// Returns true if a deletion must read the links at the other end. It need not in order to
  /// nullify a link that is deleted with the record, because the record holds it or because the
  /// link is a record of its own.
  fileprivate func isAboutOthers(_ relationship: RelationshipLayout) -> Bool {
    switch self {
    case .cascade, .deny: return true
    case .noAction: return false
    case .nullify:
      switch relationship.access {
      case .holders, .keyHolders: return true
      case .attribute, .key, .links: return false
      }
    }
  }
}
