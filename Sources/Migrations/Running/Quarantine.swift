import EntityModel
import EntityStore
import Foundation

/// Where records go that a migration may not leave in their entity and must not lose: the entity
/// `_Quarantine`.
enum Quarantine {
  /// Keeps a copy of a record, which the caller then deletes.
  static func keep(_ id: ObjectID, reason: String, _ transaction: WriteTransaction) throws {
    guard let record = try transaction.get(id) else { return }
    let values = Dictionary(uniqueKeysWithValues: record.fields.map { ($0.name, $0.value) })
    try transaction.insert(
      "_Quarantine",
      [
        "migration": .string(transaction.author ?? ""), "entity": .string(id.entity),
        "number": .int64(id.number), "reason": .string(reason),
        "record": .data(Data(try CatalogTree.encode(values))), "movedAt": .date(transaction.now),
      ])
  }
}
