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

extension WriteTransaction {
  /// Validates the references of a row that is about to be written: each new one must lead to a
  /// record, and gets the last place if its links have an order.
  ///
  /// - Throws: `validation`, naming the missing record. Nothing is written.
  func settleReferences(
    of row: inout [Value], id: Int64, old: RecordView?, in entity: EntityLayout
  ) throws {
    for reference in entity.references {
      let field = old.map { $0.field(reference.position) }
      let before = field.flatMap { $0.isNull ? nil : $0.int64 }
      guard case .int64(let other) = row[reference.position] else {
        // Null, or a value of another kind, which the check of the attribute refuses.
        if let order = reference.order { row[order.position] = .null }
        continue
      }
      if other == before {
        if let order = reference.order, let old {
          row[order.position] = try old.value(order.position)
        }
        continue
      }
      let destination = try catalog.entity(reference.destination)
      let isItself = other == id && destination === entity
      guard
        try isItself || isReserved(other, of: destination) || exists(other, in: destination)
      else {
        throw StoreError(
          .validation, "a reference leads to no record",
          [
            ("entity", entity.name),
            ("attribute", entity.description.attributes[reference.position].name),
            ("record", ObjectID(entity: destination.name, number: other).description),
          ])
      }
      if let order = reference.order {
        row[order.position] = .int64(try placeAfterLast(of: other, order.index, of: entity.name))
      }
    }
  }

  /// Returns the place after the last link of a record, from an index on record id and place.
  func placeAfterLast(
    of id: Int64, _ index: IndexLayout, of entity: String
  ) throws -> Int64 {
    try prepareToRead(entityNamed: entity)
    let last = try lastPlace(of: id, index)
    if let place = OrderedPlaces.after(last) { return place }
    throw StoreError(
      .validation, "an ordered relationship has no place left at its end",
      [("entity", entity), ("index", index.description.name)],
      advice: "set the related records anew, which gives them new places")
  }

  private func lastPlace(of id: Int64, _ index: IndexLayout) throws -> Int64? {
    try LinkKey.withPrefix(id) { prefix in
      var cursor = try transaction.cursor(index.tree)
      let upper = KeyRange.successor(of: Array(prefix))
      let entry =
        if let upper { try upper.withUnsafeBytes { try cursor.seek(below: $0) } } else {
          try cursor.last()
        }
      guard let entry, LinkKey.begins(entry.key, with: prefix) else { return nil }
      return LinkKey.number(1, of: entry.key)
    }
  }
}
