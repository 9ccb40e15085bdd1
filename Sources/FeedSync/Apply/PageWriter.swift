import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// Writes the changes of pages. Compares each item again inside the transaction: local values may
/// have changed since, and pages of one commit may contain an item twice.
struct PageWriter {
  let feedID: Int64
  let rules: ListingRules
  let transaction: WriteTransaction
  private let users: UserStates
  /// True if the store had entries of users when the listing began: some may wait for their item.
  private let hasUserStates: Bool

  init(
    feedID: Int64, rules: ListingRules, targets: [String: FeedTarget], hasUserStates: Bool,
    in transaction: WriteTransaction
  ) throws {
    self.feedID = feedID
    self.rules = rules
    self.transaction = transaction
    self.hasUserStates = hasUserStates
    users = try UserStates(feedID: feedID, targets: targets, rules: rules, in: transaction)
  }

  func write(
    _ changes: PageChanges, seen: inout SeenRecords, _ counts: inout WriteCounts
  ) throws {
    // A new item has no tombstone of this page, because no page has an item twice.
    let hasTombstones = try Tombstones.exist(in: transaction)
    var entries = changes.users[...]
    for change in changes.items {
      let item = change.item
      if change.isNew, !hasTombstones, !item.isDeleted,
        try insert(item, &entries, seen: &seen, &counts)
      {
        continue
      }
      if let stored = try FeedRecords.row(of: item, feedID: feedID, in: transaction) {
        let id = ObjectID(entity: item.target.entity.name, number: stored.id)
        if item.isDeleted {
          try delete(stored, id, item, seen: &seen, &counts)
        } else {
          try update(stored, id, item, wasMet: seen.contains(id), &counts)
          seen.insert(id)
        }
      } else {
        try writeAbsent(item, seen: &seen, &counts)
      }
    }
    for entry in entries { try users.apply(entry, &counts) }
  }

  /// Inserts an item that the snapshot did not have, without looking it up again: the unique index
  /// refuses it if another writer was faster.
  ///
  /// - Parameter entries: The page's entries of users. If the first one is for the item, it is
  ///   merged before the insertion and removed, which saves an update: entries mostly have the
  ///   order of the items.
  /// - Returns: False if the item must be compared with what is stored now.
  private func insert(
    _ item: MappedItem, _ entries: inout ArraySlice<UserEntry>, seen: inout SeenRecords,
    _ counts: inout WriteCounts
  ) throws -> Bool {
    var merged: UserStates.NewRecord?
    if let entry = entries.first, entry.id == item.id, !mayHaveWaitingState(counts) {
      merged = try users.newRecord(of: item, with: entry)
    }
    let id: Int64
    do {
      id = try transaction.insert(merged?.row ?? item.row, into: item.target.entity)
    } catch let error as StoreError where error.code == .uniqueViolation {
      return false
    }
    try complete(item, id, seen: &seen, &counts)
    if let merged, let entry = entries.popFirst() { try users.save(merged, of: entry, &counts) }
    return true
  }

  /// Returns true if there may be an entry of a user that waits for its item.
  private func mayHaveWaitingState(_ counts: WriteCounts) -> Bool {
    hasUserStates || counts.usersWaiting > 0
  }

  /// Counts a new record, and merges the user's values that were reported before it existed.
  private func complete(
    _ item: MappedItem, _ id: Int64, seen: inout SeenRecords, _ counts: inout WriteCounts
  ) throws {
    counts.new += 1
    if mayHaveWaitingState(counts) { try users.applyPending(to: item.id, &counts) }
    seen.insert(ObjectID(entity: item.target.entity.name, number: id))
  }

  private func update(
    _ stored: StoredRow, _ id: ObjectID, _ item: MappedItem, wasMet: Bool,
    _ counts: inout WriteCounts
  ) throws {
    switch try Verdict(of: item, over: stored, rules, wasMet: wasMet) {
    case .changed: counts.changed += 1
    case .sameContent, .refreshed: counts.unchanged += 1
    case .clash(isWon: true):
      counts.revisionClashes += 1
      counts.changed += 1
    case .clash(isWon: false):
      counts.revisionClashes += 1
      counts.skipped += 1
      return
    case .unchanged:
      counts.unchanged += 1
      return
    case .outdated:
      counts.skipped += 1
      return
    }
    var row = item.row.values()
    for position in item.target.localAttributes.values {
      row[position] = try stored.value(position)
    }
    try transaction.update(row, id: id.number, in: item.target.entity)
  }

  private func delete(
    _ stored: StoredRow, _ id: ObjectID, _ item: MappedItem, seen: inout SeenRecords,
    _ counts: inout WriteCounts
  ) throws {
    let wasMet = seen.contains(id)
    if let revision = item.revision, let old = stored.int64(item.target.revision),
      revision < old, wasMet || !rules.hasNewRevisions
    {
      counts.skipped += 1
      return
    }
    if item.revision == nil, try Rank(of: stored, item.target) > Rank(of: item) {
      counts.skipped += 1
      return
    }
    try leaveTombstone(for: item, row: try stored.values(), &seen)
    try transaction.delete(id)
    counts.deleted += 1
  }

  /// Writes an item without a record: a new or returning one, or the deletion of an unknown one.
  /// That leaves a tombstone, too, because an older copy may come later.
  private func writeAbsent(
    _ item: MappedItem, seen: inout SeenRecords, _ counts: inout WriteCounts
  ) throws {
    let tombstone = try Tombstones.find(item, feedID, transaction)
    if let tombstone, tombstone.refuses(item, rules, wasMet: seen.contains(tombstone.id)) {
      counts.skipped += 1
      return
    }
    if item.isDeleted {
      try leaveTombstone(for: item, row: nil, &seen)
      counts.skipped += 1
      return
    }
    var row = item.row.values()
    if let tombstone {
      for (name, value) in tombstone.local {
        if let position = item.target.localAttributes[name] { row[position] = value }
      }
      try transaction.delete(tombstone.id)
    }
    try complete(item, try transaction.insert(row, into: item.target.entity), seen: &seen, &counts)
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
