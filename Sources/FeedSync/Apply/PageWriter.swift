import EntityModel
import EntityStore
import Foundation

/// Writes the changes of pages. Compares each item again inside the transaction: local values may
/// have changed since, and pages of one commit may contain an item twice.
struct PageWriter {
  let feedID: Int64
  let rules: ListingRules
  let transaction: WriteTransaction
  private let users: UserStates

  init(
    feedID: Int64, rules: ListingRules, targets: [String: FeedTarget],
    in transaction: WriteTransaction
  ) throws {
    self.feedID = feedID
    self.rules = rules
    self.transaction = transaction
    users = try UserStates(feedID: feedID, targets: targets, rules: rules, in: transaction)
  }

  func write(
    _ changes: PageChanges, seen: inout SeenRecords, _ report: inout SyncReport
  ) throws {
    for item in changes.items {
      if let stored = try FeedRecords.row(of: item, in: transaction) {
        let id = ObjectID(entity: item.target.entity.name, number: stored.id)
        if item.isDeleted {
          try delete(stored, id, item, seen: &seen, &report)
        } else {
          try update(stored, id, item, wasMet: seen.contains(id), &report)
          seen.insert(id)
        }
      } else {
        try writeAbsent(item, seen: &seen, &report)
      }
    }
    for entry in changes.users { try users.apply(entry, &report) }
  }

  private func update(
    _ stored: StoredRow, _ id: ObjectID, _ item: MappedItem, wasMet: Bool,
    _ report: inout SyncReport
  ) throws {
    switch try Verdict(of: item, over: stored, rules, wasMet: wasMet) {
    case .changed: report.changed += 1
    case .sameContent, .refreshed: report.unchanged += 1
    case .clash(isWon: true):
      report.revisionClashes += 1
      report.changed += 1
    case .clash(isWon: false):
      report.revisionClashes += 1
      report.skipped += 1
      return
    case .unchanged:
      report.unchanged += 1
      return
    case .outdated:
      report.skipped += 1
      return
    }
    var row = item.row
    for position in item.target.localAttributes.values {
      row[position] = try stored.value(position)
    }
    try transaction.update(row, id: id.number, in: item.target.entity)
  }

  private func delete(
    _ stored: StoredRow, _ id: ObjectID, _ item: MappedItem, seen: inout SeenRecords,
    _ report: inout SyncReport
  ) throws {
    let wasMet = seen.contains(id)
    if let revision = item.revision, let old = stored.int64(item.target.revision),
      revision < old, wasMet || !rules.hasNewRevisions
    {
      report.skipped += 1
      return
    }
    if item.revision == nil, try Rank(of: stored, item.target) > Rank(of: item) {
      report.skipped += 1
      return
    }
    try leaveTombstone(for: item, row: try stored.values(), &seen)
    try transaction.delete(id)
    report.deleted += 1
  }

  /// Writes an item without a record: a new or returning one, or the deletion of an unknown one.
  /// That leaves a tombstone, too, because an older copy may come later.
  private func writeAbsent(
    _ item: MappedItem, seen: inout SeenRecords, _ report: inout SyncReport
  ) throws {
    let tombstone = try Tombstones.find(item, feedID, transaction)
    if let tombstone, tombstone.refuses(item, rules, wasMet: seen.contains(tombstone.id)) {
      report.skipped += 1
      return
    }
    if item.isDeleted {
      try leaveTombstone(for: item, row: nil, &seen)
      report.skipped += 1
      return
    }
    var row = item.row
    if let tombstone {
      for (name, value) in tombstone.local {
        if let position = item.target.localAttributes[name] { row[position] = value }
      }
      try transaction.delete(tombstone.id)
    }
    let id = try transaction.insert(row, into: item.target.entity)
    report.new += 1
    try users.applyPending(to: item.id, &report)
    seen.insert(ObjectID(entity: item.target.entity.name, number: id))
  }

  private func leaveTombstone(
    for item: MappedItem, row: [Value]?, _ seen: inout SeenRecords
  ) throws {
    let id = try Tombstones.leave(
      for: item.id, of: item.target, feedID: feedID, revision: item.revision,
      deletedAt: item.deletedAt ?? item.updatedAt, row: row, in: transaction)
    seen.insert(id)
  }
}
