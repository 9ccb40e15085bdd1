import EntityModel

/// The hidden entity whose records are the links of a relationship, as seen from one side.
struct LinkEntity {
  let entity: EntityLayout
  /// The positions of the two record ids: that of the record itself (`own`) and that of the linked
  /// one.
  let own: Int
  let other: Int
  /// The position of the place among the own record's links; `nil` if they have no order.
  let order: Int?
  /// The index on own id, place, other id.
  let index: IndexLayout
  private let pair: IndexLayout
  private let isItsOwnInverse: Bool
  private let transaction: ReadTransaction

  /// Creates the view of a relationship from one side.
  ///
  /// - Returns: `nil` for a relationship that is not stored in a link entity.
  init?(_ relationship: RelationshipLayout, in transaction: ReadTransaction) throws {
    guard case .links(let index, let name, let back) = relationship.access,
      case .link(_, let ownID, let otherID, let orderID, _) = relationship.description.storage
    else { return nil }
    let entity = try transaction.catalog.entity(name)
    func position(_ id: Int) throws -> Int {
      guard let position = entity.description.attributes.firstIndex(where: { $0.id == id }) else {
        throw StoreError.damaged("a link lacks an attribute", entity: name)
      }
      return position
    }
    self.entity = entity
    self.index = index
    self.transaction = transaction
    own = try position(ownID)
    other = try position(otherID)
    order = try orderID.map(position)
    isItsOwnInverse = back != nil
    let names = [own, other].map { entity.description.attributes[$0].name }
    pair = try entity.uniqueIndex(on: names)
  }

  /// Returns two record ids in the order in which a link stores them: unchanged, but the lesser one
  /// first if both sides are the same relationship.
  func ends(_ id: Int64, _ other: Int64) -> (own: Int64, other: Int64) {
    isItsOwnInverse && other < id ? (other, id) : (id, other)
  }

  /// Returns the record id of the link between two records, or `nil`.
  func find(_ id: Int64, _ other: Int64) throws -> Int64? {
    let ends = ends(id, other)
    return try transaction.identifier(in: entity, index: pair) { position in
      position == own ? .int64(ends.own) : .int64(ends.other)
    }
  }
}
