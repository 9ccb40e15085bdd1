import EntityModel
import EntityStore
import Foundation

/// The remains of a deleted item: enough to refuse an older copy that comes later, and the user's
/// values for its return.
struct Tombstone {
  let id: ObjectID
  let revision: Int64?
  let deletedAt: Date?
  /// The local values by attribute name.
  let local: [String: Value]

  /// Returns true if the item is not newer than the deletion, so that it stays deleted; for another
  /// deletion, if it adds nothing to this one.
  ///
  /// - Parameter wasMet: True if this run has left the tombstone.
  func refuses(_ item: MappedItem, _ rules: ListingRules, wasMet: Bool) -> Bool {
    // The revisions of another data set or mapping cannot be compared.
    if rules.hasNewRevisions, !wasMet { return item.isDeleted && revision == item.revision }
    if let revision, let new = item.revision { return new <= revision }
    if item.isDeleted {
      // The later of two dates counts.
      guard let deletedAt, let new = item.deletedAt else { return item.revision == nil }
      return item.revision == nil && new <= deletedAt
    }
    if let deletedAt, let new = item.updatedAt { return new <= deletedAt }
    // A listing that contains the item shows that it exists.
    return false
  }
}

enum Tombstones {
  private static let entity = "_Tombstone"

  static func exist(in transaction: ReadTransaction) throws -> Bool {
    try transaction.count(of: entity) > 0
  }

  static func find(
    _ item: MappedItem, _ feedID: Int64, _ transaction: ReadTransaction
  ) throws -> Tombstone? {
    guard try exist(in: transaction),
      let record = try transaction.get(
        entity, by: key(feedID, item.target.entity.name, item.id))
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

  /// Writes a tombstone for an item, with the local values of its record.
  ///
  /// - Parameter row: The record's row. Nil if there is none: then the local values of an earlier
  ///   tombstone stay.
  @discardableResult
  static func leave(
    for itemID: String, of target: FeedTarget, feedID: Int64, revision: Int64?,
    deletedAt: Date?, row: [Value]?, in transaction: WriteTransaction
  ) throws -> ObjectID {
    var values = key(feedID, target.entity.name, itemID)
    values["revision"] = revision.map(Value.int64) ?? .null
    values["deletedAt"] = deletedAt.map(Value.date) ?? .null
    values["removedAt"] = .date(transaction.now)
    if let row { values["local"] = try localValues(row, target) }
    return try transaction.upsert(entity, values, by: ["feedID", "entity", "itemID"])
  }

  private static func localValues(_ row: [Value], _ target: FeedTarget) throws -> Value {
    var local: [String: Value] = [:]
    for (name, position) in target.localAttributes
    where row[position] != target.defaults[position] && !target.links.contains(position) {
      local[name] = row[position]
    }
    if local.isEmpty { return .null }
    var bytes: [UInt8] = []
    try bytes.appendJSON(local)
    return .data(Data(bytes))
  }

  private static func key(
    _ feedID: Int64, _ entity: String, _ itemID: String
  ) -> [String: Value] {
    ["feedID": .int64(feedID), "entity": .string(entity), "itemID": .string(itemID)]
  }
}
