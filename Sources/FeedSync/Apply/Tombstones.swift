import EntityModel
import EntityStore
import Foundation

/// What is left of a deleted item: enough to refuse an older copy of it that comes late, and what
/// the person had said of it, for its return.
struct Tombstone {
  let id: ObjectID
  let revision: Int64?
  let deletedAt: Date?
  /// Local values by attribute name.
  let local: [String: Value]

  /// Whether the item is newer than its deletion, so that it comes back.
  func yields(to item: MappedItem, mode: FeedMode) -> Bool {
    if let revision, let new = item.revision { return new > revision }
    if let deletedAt, let new = item.updatedAt, mode == .delta { return new > deletedAt }
    // A listing that has it says that it is there.
    return true
  }
}

enum Tombstones {
  static func find(
    _ item: MappedItem, _ feedID: Int64, _ transaction: ReadTransaction
  ) throws -> Tombstone? {
    guard
      let record = try transaction.get(
        "_Tombstone", by: key(feedID, item.target.entity.name, item.id))
    else { return nil }
    let stored = (try record["local"], try record["revision"], try record["deletedAt"])
    var local: [String: Value] = [:]
    if case .data(let data) = stored.0 {
      local = try JSONDecoder().decode([String: Value].self, from: data)
    }
    var revision: Int64?
    if case .int64(let number) = stored.1 { revision = number }
    var deletedAt: Date?
    if case .date(let date) = stored.2 { deletedAt = date }
    return Tombstone(id: record.id, revision: revision, deletedAt: deletedAt, local: local)
  }

  /// Leaves a tombstone for an item; the local values of its record are kept in it.
  static func leave(
    for itemID: String, of target: FeedTarget, feedID: Int64, revision: Int64?,
    deletedAt: Date?, row: [Value]?, in transaction: WriteTransaction
  ) throws {
    var local: [String: Value] = [:]
    if let row {
      for (name, position) in target.localAttributes where row[position] != target.defaults[position]
      {
        local[name] = row[position]
      }
    }
    var values = key(feedID, target.entity.name, itemID)
    values["revision"] = revision.map(Value.int64) ?? .null
    values["deletedAt"] = deletedAt.map(Value.date) ?? .null
    values["removedAt"] = .date(transaction.now)
    values["local"] = local.isEmpty ? .null : .data(try JSONEncoder().encode(local))
    try transaction.upsert("_Tombstone", values, by: ["feedID", "entity", "itemID"])
  }

  private static func key(
    _ feedID: Int64, _ entity: String, _ itemID: String
  ) -> [String: Value] {
    ["feedID": .int64(feedID), "entity": .string(entity), "itemID": .string(itemID)]
  }
}
