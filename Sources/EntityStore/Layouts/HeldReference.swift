import EntityModel
import LMDB

/// An attribute that holds the id of another record, with what a write has to check and update.
package struct HeldReference: Sendable {
  package let position: Int
  package let destination: String
  /// The position of the place attribute, and the index that sorts the links of one destination
  /// record by place; `nil` if the links have no order.
  package let order: (position: Int, index: IndexLayout)?
  /// True if a reference may remain when its record is deleted (`noAction`).
  let mayDangle: Bool

  /// Returns the references of an entity.
  ///
  /// - Parameter indexes: The indexes of the entity.
  static func all(
    of entity: EntityDescription, in schema: Schema, indexes: [IndexLayout]
  ) -> [HeldReference] {
    entity.attributes.enumerated().compactMap { position, attribute in
      guard case .reference(let destination) = attribute.type else { return nil }
      for relationship in entity.relationships {
        guard case .reference(attribute.id, let number) = relationship.storage else { continue }
        let inverse = schema.entity(named: destination)?
          .relationship(named: relationship.inverse)
        return HeldReference(
          position: position, destination: destination,
          order: order(of: inverse, entity, indexes.first { $0.description.id == number }),
          mayDangle: inverse?.deleteRule == .noAction)
      }
      return HeldReference(
        position: position, destination: destination, order: nil, mayDangle: false)
    }
  }

  /// Returns true if the changes contain the reference or the place of its link.
  func isTouched(by changes: RowChanges) -> Bool {
    if changes[position] != nil { return true }
    guard let order else { return false }
    return changes[order.position] != nil
  }

  private static func order(
    of inverse: RelationshipDescription?, _ entity: EntityDescription, _ index: IndexLayout?
  ) -> (position: Int, index: IndexLayout)? {
    guard let inverse, inverse.isOrdered, case .inverse(let order?) = inverse.storage, let index,
      let position = entity.attributes.firstIndex(where: { $0.id == order })
    else { return nil }
    return (position, index)
  }
}
