import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// The changes of pages, computed on a snapshot: pages that change nothing need no write
/// transaction, and others hold it only for their writes.
struct PageChanges {
  /// The items that are new or newer than the stored ones, in the order of the feed.
  private(set) var items: [Change] = []
  var users: [UserEntry] = []
  /// The positions in `items`. If pages list an id twice, the highest-ranked copy wins.
  private var positions = ItemPositions()

  struct Change {
    var item: MappedItem
    /// True if the snapshot had neither a record nor a tombstone of the item.
    let isNew: Bool
  }

  private enum News {
    case none
    case change(isNew: Bool)
  }

  var isEmpty: Bool { items.isEmpty && users.isEmpty }

  /// Compares the items of a page with the stored ones, and counts those that change nothing.
  ///
  /// - Parameter hasRecords: False if the snapshot has no records of items except those of earlier
  ///   pages of this listing. All items then count as new; the unique index refuses those that are
  ///   listed again, and the write decides about them.
  /// - Parameter pending: The changes of earlier pages that are not in the snapshot yet. The write
  ///   decides about an item of theirs that is listed again.
  mutating func add(
    _ mapped: [MappedItem], feedID: Int64, _ rules: ListingRules, hasRecords: Bool,
    pending: [PageChanges], seen: inout SeenRecords, _ report: inout SyncReport,
    in transaction: ReadTransaction
  ) throws {
    let hasTombstones = try Tombstones.exist(in: transaction)
    let hasEarlier = !positions.isEmpty
    for item in deduplicated(mapped, rules, &report) {
      if hasEarlier, let position = position(of: item.key) {
        items[position].item = preferred(item, items[position].item, &report)
        continue
      }
      let stored =
        hasRecords ? try FeedRecords.row(of: item, feedID: feedID, in: transaction) : nil
      let news: News =
        if stored == nil, !hasTombstones {
          .change(isNew: true)
        } else if pending.contains(where: { $0.position(of: item.key) != nil }) {
          .change(isNew: false)
        } else {
          try news(of: item, stored, feedID: feedID, rules, seen: &seen, &report, in: transaction)
        }
      guard case .change(let isNew) = news else { continue }
      _ = positions.insert(item.key, at: items.count) { items[$0].item }
      items.append(Change(item: item, isNew: isNew))
    }
  }

  private func position(of key: MappedItem.Key) -> Int? {
    positions.position(of: key) { items[$0].item }
  }

  /// Returns the items of a page without duplicates, and lists those that are lost to another item
  /// with the same id.
  private func deduplicated(
    _ mapped: [MappedItem], _ rules: ListingRules, _ report: inout SyncReport
  ) -> [MappedItem] {
    var positions = ItemPositions()
    var result: [MappedItem] = []
    result.reserveCapacity(mapped.count)
    for item in mapped {
      guard let position = positions.insert(item.key, at: result.count, { result[$0] }) else {
        result.append(item)
        continue
      }
      let earlier = result[position]
      result[position] = preferred(item, earlier, of: rules, &report)
      if item.hash != earlier.hash, !item.isDeleted, !earlier.isDeleted {
        report.duplicates += 1
        let lost = result[position].hash == item.hash ? earlier : item
        let reason =
          item.isKnownByHash ? "another item has the same values for the id" : "listed twice"
        report.remark(item.id, "\(reason), so \(lost.shownTitle) was not stored")
      }
    }
    return result
  }

  /// Returns the higher-ranked copy of an item, and counts the other.
  ///
  /// - Parameter rules: The rules of the page that has both. A window has its newest items first,
  ///   so there the first one of equal rank is returned, whatever its hash.
  private func preferred(
    _ item: MappedItem, _ earlier: MappedItem, of rules: ListingRules? = nil,
    _ report: inout SyncReport
  ) -> MappedItem {
    report.skipped += 1
    if isClash(item, earlier) { report.revisionClashes += 1 }
    let (rank, other) = (Rank(of: item), Rank(of: earlier))
    if rules?.mode == .window { return rank.isNewer(than: other) ? item : earlier }
    return rank > other ? item : earlier
  }

  private func isClash(_ item: MappedItem, _ other: MappedItem) -> Bool {
    item.revision != nil && item.revision == other.revision && item.hash != other.hash
      && !item.isDeleted && !other.isDeleted
  }

  private func news(
    of item: MappedItem, _ stored: StoredRow?, feedID: Int64, _ rules: ListingRules,
    seen: inout SeenRecords, _ report: inout SyncReport, in transaction: ReadTransaction
  ) throws -> News {
    guard let stored else {
      guard let tombstone = try Tombstones.find(item, feedID, transaction) else {
        return .change(isNew: true)
      }
      guard tombstone.refuses(item, rules, wasMet: seen.contains(tombstone.id)) else {
        return .change(isNew: false)
      }
      report.skipped += 1
      return .none
    }
    if item.isDeleted { return .change(isNew: false) }
    let id = ObjectID(entity: item.target.entity.name, number: stored.id)
    let verdict = try Verdict(of: item, over: stored, rules, wasMet: seen.contains(id))
    switch verdict {
    case .changed, .sameContent, .refreshed, .clash(isWon: true): return .change(isNew: false)
    case .unchanged: report.unchanged += 1
    case .outdated: report.skipped += 1
    case .clash(isWon: false):
      report.revisionClashes += 1
      report.skipped += 1
    }
    seen.insert(id)
    return .none
  }
}

/// Looks up the records of a feed.
enum FeedRecords {
  static func row(
    of item: MappedItem, feedID: Int64, in transaction: ReadTransaction
  ) throws -> StoredRow? {
    let id = try identifier(of: item.id, feedID: feedID, item.target, in: transaction)
    return try id.flatMap { try transaction.row($0, of: item.target.entity) }
  }

  static func identifier(
    of itemID: String, feedID: Int64, _ target: FeedTarget, in transaction: ReadTransaction
  ) throws -> Int64? {
    try transaction.identifier(in: target.entity, index: target.index) {
      $0 == target.id ? .string(itemID) : .int64(feedID)
    }
  }
}
