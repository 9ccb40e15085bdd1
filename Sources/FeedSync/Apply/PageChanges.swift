import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// What pages change: worked out on a snapshot, so that pages that change nothing need no write
/// transaction, and those that do hold the writer only for their writes.
struct PageChanges {
  /// Items that are new or newer than what is stored, in the order of the feed.
  private(set) var items: [MappedItem] = []
  var users: [UserEntry] = []
  /// The places of the keys of `items`: of what comes again the copy of the highest rank is kept.
  private var places: [MappedItem.Key: Int] = [:]

  var isEmpty: Bool { items.isEmpty && users.isEmpty }

  /// Compares the items of one page with what is stored; counts those that change nothing.
  mutating func add(
    _ mapped: [MappedItem], feedID: Int64, _ rules: ListingRules, seen: inout SeenRecords,
    _ report: inout SyncReport, in transaction: ReadTransaction
  ) throws {
    for item in foremostOfEach(mapped, &report) {
      if let place = places[item.key] {
        replace(place, with: item, &report)
      } else if try isNews(item, feedID: feedID, rules, seen: &seen, &report, in: transaction) {
        places[item.key] = items.count
        items.append(item)
      }
    }
  }

  private mutating func replace(
    _ place: Int, with item: MappedItem, _ report: inout SyncReport
  ) {
    report.skipped += 1
    if isClash(item, items[place]) { report.revisionClashes += 1 }
    if Rank(of: item) > Rank(of: items[place]) { items[place] = item }
  }

  /// Of an identifier that a page has twice the copy of the highest rank counts.
  private func foremostOfEach(
    _ mapped: [MappedItem], _ report: inout SyncReport
  ) -> [MappedItem] {
    var places: [MappedItem.Key: Int] = [:]
    places.reserveCapacity(mapped.count)
    var result: [MappedItem] = []
    result.reserveCapacity(mapped.count)
    for item in mapped {
      guard let place = places[item.key] else {
        places[item.key] = result.count
        result.append(item)
        continue
      }
      report.skipped += 1
      if isClash(item, result[place]) { report.revisionClashes += 1 }
      if Rank(of: item) > Rank(of: result[place]) { result[place] = item }
    }
    return result
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

/// Finds the records of a feed.
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
