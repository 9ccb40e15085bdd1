import EntityModel

/// The parts of an entity's changes that the history stores.
package struct HistoryShape: Sendable {
  /// A link that is stored as a record of its own, seen as a change of a record at its end.
  struct LinkEnd: Sendable {
    let entityID: Int
    let relationshipID: Int
    /// The position of the attribute that holds the id of that record.
    let position: Int
  }

  let entityID: Int
  package let isKept: Bool
  /// The attribute ids by position.
  let attributeIDs: [Int]
  /// The attributes by position: true if the replaced values of the attribute are stored.
  let areValuesKept: [Bool]
  let keepsValues: Bool
  /// The ends of a hidden entity of links; empty for any other entity.
  let linkEnds: [LinkEnd]

  /// True if the history stores changes of this entity's records at all.
  var isRecorded: Bool { isKept || !linkEnds.isEmpty }

  init(_ entity: EntityDescription, in schema: Schema) {
    entityID = entity.id
    isKept = entity.keepsHistory && !entity.isSystem
    attributeIDs = entity.attributes.map(\.id)
    areValuesKept = entity.attributes.map(\.keepsHistory)
    keepsValues = areValuesKept.contains(true)
    linkEnds = entity.isSystem ? HistoryShape.linkEnds(of: entity, in: schema) : []
  }

  private static func linkEnds(
    of link: EntityDescription, in schema: Schema
  ) -> [LinkEnd] {
    var ends: [LinkEnd] = []
    for entity in schema.entities where entity.keepsHistory {
      for relationship in entity.relationships where !relationship.isHidden {
        guard case .link(link.name, let own, let other, _, _) = relationship.storage else {
          continue
        }
        let isItsOwnInverse = relationship.inverse == relationship.name
        for attribute in isItsOwnInverse ? [own, other] : [own] {
          guard let position = link.attributes.firstIndex(where: { $0.id == attribute }) else {
            continue
          }
          ends.append(
            LinkEnd(entityID: entity.id, relationshipID: relationship.id, position: position))
        }
      }
    }
    return ends
  }
}
