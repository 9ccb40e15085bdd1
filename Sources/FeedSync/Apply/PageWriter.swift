import EntityModel
import EntityStore
import Foundation

/// Writes the changes of pages. Everything is looked up again inside the transaction, because
/// local values may have changed since the page was compared.
struct PageWriter {
  let feedID: Int64
  let mode: FeedMode
  let transaction: WriteTransaction
  private let hasTombstones: Bool
  private let users: UserStates

  init(
    feedID: Int64, mode: FeedMode, targets: [String: FeedTarget], in transaction: WriteTransaction
  ) throws {
    self.feedID = feedID
    self.mode = mode
    self.transaction = transaction
    hasTombstones = try transaction.count(of: "_Tombstone") > 0
    users = try UserStates(feedID: feedID, targets: targets, in: transaction)
  }

  func write(
    _ changes: PageChanges, seen: inout SeenRecords, _ report: inout SyncReport
  ) throws {
    for item in changes.items {
      if item.isDeleted {
        try delete(item, &report)
      } else {
        seen.insert(try put(item, &report))
      }
    }
    for entry in changes.users { try users.apply(entry, &report) }
  }

  private func put(_ item: MappedItem, _ report: inout SyncReport) throws -> ObjectID {
    let entity = item.target.entity
    let name = entity.description.name
    if let stored = try FeedRecords.row(of: item, in: transaction) {
      var row = item.row
      for position in item.target.localAttributes.values { row[position] = try stored.value(position) }
      let id = stored.id
      try transaction.update(row, id: id, in: entity)
      report.changed += 1
      return ObjectID(entity: name, number: id)
    }
    var row = item.row
    if hasTombstones, let tombstone = try Tombstones.find(item, feedID, transaction) {
      for (name, value) in tombstone.local {
        if let position = item.target.localAttributes[name] { row[position] = value }
      }
      try transaction.delete(tombstone.id)
    }
    let id = try transaction.insert(row, into: entity)
    report.new += 1
    try users.applyPending(to: item.id, &report)
    return ObjectID(entity: name, number: id)
  }

  private func delete(_ item: MappedItem, _ report: inout SyncReport) throws {
    let stored = try FeedRecords.row(of: item, in: transaction)
    if let stored, let revision = item.revision, let old = stored.int64(item.target.revision),
      revision < old
    {
      report.skipped += 1
      return
    }
    let row = try stored?.values()
    let id = stored?.id
    try Tombstones.leave(
      for: item.id, of: item.target, feedID: feedID, revision: item.revision,
      deletedAt: item.deletedAt ?? item.updatedAt, row: row, in: transaction)
    if let id {
      try transaction.delete(ObjectID(entity: item.target.entity.name, number: id))
      report.deleted += 1
    } else {
      report.skipped += 1
    }
  }
}
