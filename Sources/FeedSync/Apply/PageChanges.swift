import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// The changes of pages, computed on a snapshot: pages that change nothing need no write
/// transaction, and others hold it only for their writes.
struct PageChanges {
  /// The items that are new or newer than the stored ones, in the order of the feed.
  private(set) var items: [MappedItem] = []
  var users: [UserEntry] = []
  /// The positions in `items` by key. If an id occurs twice, the highest-ranked copy wins.
  private var positions: [MappedItem.Key: Int] = [:]

  var isEmpty: Bool { items.isEmpty && users.isEmpty }

  /// Compares the items of a page with the stored ones, and counts those that change nothing.
  mutating func add(
    _ mapped: [MappedItem], feedID: Int64, _ rules: ListingRules, seen: inout SeenRecords,
    _ report: inout SyncReport, in transaction: ReadTransaction
  ) throws {
    for item in deduplicated(mapped, &report) {
      if let position = positions[item.key] {
        items[position] = preferred(item, items[position], &report)
      } else if try isNews(item, feedID: feedID, rules, seen: &seen, &report, in: transaction) {
        positions[item.key] = items.count
        items.append(item)
      }
    }
  }

  /// Returns the items without duplicates. If an id occurs twice, the highest-ranked copy wins.
  private func deduplicated(
    _ mapped: [MappedItem], _ report: inout SyncReport
  ) -> [MappedItem] {
    var positions: [MappedItem.Key: Int] = [:]
    positions.reserveCapacity(mapped.count)
    var result: [MappedItem] = []
    result.reserveCapacity(mapped.count)
    for item in mapped {
      guard let position = positions[item.key] else {
        positions[item.key] = result.count
        result.append(item)
        continue
      }
      result[position] = preferred(item, result[position], &report)
    }
    return result
  }

  /// Returns the higher-ranked copy of an item, the earlier one of equals, and counts the other.
  private func preferred(
    _ item: MappedItem, _ earlier: MappedItem, _ report: inout SyncReport
  ) -> MappedItem {
    report.skipped += 1
    if isClash(item, earlier) { report.revisionClashes += 1 }
    return Rank(of: item) > Rank(of: earlier) ? item : earlier
  }

  private func isClash(_ item: MappedItem, _ other: MappedItem) -> Bool {
    item.revision != nil && item.revision == other.revision && item.hash != other.hash
      && !item.isDeleted && !other.isDeleted
  }

  private func isNews(
    _ item: MappedItem, feedID: Int64, _ rules: ListingRules, seen: inout SeenRecords,
    _ report: inout SyncReport, in transaction: ReadTransaction
  ) throws -> Bool {
    guard let stored = try FeedRecords.row(of: item, in: transaction) else {
      guard let tombstone = try Tombstones.find(item, feedID, transaction),
        tombstone.refuses(item, rules, wasMet: seen.contains(tombstone.id))
      else { return true }
      report.skipped += 1
      return false
    }
    if item.isDeleted { return true }
    let id = ObjectID(entity: item.target.entity.name, number: stored.id)
    let verdict = try Verdict(of: item, over: stored, rules, wasMet: seen.contains(id))
    switch verdict {
    case .changed, .sameContent, .refreshed, .clash(isWon: true): return true
    case .unchanged: report.unchanged += 1
    case .outdated: report.skipped += 1
    case .clash(isWon: false):
      report.revisionClashes += 1
      report.skipped += 1
    }
    seen.insert(id)
    return false
  }
}

/// Looks up the records of a feed.
enum FeedRecords {
  static func row(of item: MappedItem, in transaction: ReadTransaction) throws -> StoredRow? {
    let target = item.target
    let id = try transaction.identifier(in: target.entity, index: target.index) { item.row[$0] }
    return try id.flatMap { try transaction.row($0, of: target.entity) }
  }

  static func identifier(
    of itemID: String, feedID: Int64, _ target: FeedTarget, in transaction: ReadTransaction
  ) throws -> Int64? {
    try transaction.identifier(in: target.entity, index: target.index) {
      $0 == target.id ? .string(itemID) : .int64(feedID)
    }
  }
}
