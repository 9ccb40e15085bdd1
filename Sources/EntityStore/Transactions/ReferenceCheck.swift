import EntityModel
import LMDB

extension WriteTransaction {
  /// Validates the references of a row that is about to be written: each new one must lead to a
  /// record, and gets the last place if its links have an order.
  ///
  /// - Throws: `validation`, naming the missing record. Nothing is written.
  func resolveReferences(
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
      advice: "set the related records again, which gives them new places")
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
