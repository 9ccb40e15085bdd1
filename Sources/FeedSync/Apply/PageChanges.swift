import EntityModel
import EntityStore
import Foundation

/// What a page changes: worked out on a snapshot, so that a page that changes nothing needs no
/// write transaction, and one that does holds the writer only for its writes.
struct PageChanges {
  /// Items that are new or newer than what is stored, in the order of the feed.
  private(set) var items: [MappedItem] = []
  var users: [UserEntry] = []

  var isEmpty: Bool { items.isEmpty && users.isEmpty }

  /// Compares items with what is stored; counts those that change nothing.
  ///
  /// The rules are those of an event that may come late, twice, or out of order: a higher
  /// revision wins; under an equal one equal content is nothing, and different content is a clash
  /// that every replica settles alike; without revisions a newer date wins over an older one in a
  /// delta, and a listing wins over dates, because publishers do roll back.
  mutating func add(
    _ mapped: [MappedItem], feedID: Int64, mode: FeedMode, seen: inout SeenRecords,
    _ report: inout SyncReport, in transaction: ReadTransaction
  ) throws {
    let hasTombstones = try transaction.count(of: "_Tombstone") > 0
    for item in newestOfEach(mapped, &report) {
      let stored = try FeedRecords.row(of: item, in: transaction)
      if let stored { seen.insert(ObjectID(entity: item.target.entity.name, number: stored.id)) }
      if item.isDeleted {
        // What is gone already, or was never here, needs no tombstone of its own twice.
        if stored == nil, try hasTombstones && Tombstones.find(item, feedID, transaction) != nil {
          report.skipped += 1
        } else {
          items.append(item)
        }
      } else if let stored {
        if try isNewer(item, than: stored, mode: mode, &report) { items.append(item) }
      } else if hasTombstones, let tombstone = try Tombstones.find(item, feedID, transaction),
        !tombstone.yields(to: item, mode: mode)
      {
        report.skipped += 1
      } else {
        items.append(item)
      }
    }
  }

  /// Of an id that is listed twice the highest revision counts, among equal ones the first.
  private func newestOfEach(
    _ mapped: [MappedItem], _ report: inout SyncReport
  ) -> [MappedItem] {
    var places: [String: Int] = [:]
    var result: [MappedItem] = []
    result.reserveCapacity(mapped.count)
    for item in mapped {
      let key = item.target.entity.name + "\0" + item.id
      guard let place = places[key] else {
        places[key] = result.count
        result.append(item)
        continue
      }
      report.skipped += 1
      if (item.revision ?? 0) > (result[place].revision ?? 0) { result[place] = item }
    }
    return result
  }

  private func isNewer(
    _ item: MappedItem, than stored: StoredRow, mode: FeedMode, _ report: inout SyncReport
  ) throws -> Bool {
    let isSame = stored.int64(item.target.hash) == item.hash
    if let revision = item.revision, let old = stored.int64(item.target.revision) {
      if revision < old {
        report.skipped += 1
        return false
      }
      if revision > old {
        if isSame { report.unchanged += 1 }
        return !isSame
      }
      if isSame {
        report.unchanged += 1
        return false
      }
      report.revisionClashes += 1
      let wins = try winsClash(item, stored)
      if !wins { report.skipped += 1 }
      return wins
    }
    if isSame {
      report.unchanged += 1
      return false
    }
    if mode == .delta, let date = item.updatedAt, let position = item.target.updatedAt,
      case .date(let old) = try stored.value(position), date < old
    {
      report.skipped += 1
      return false
    }
    return true
  }

  /// The later date wins, among equal dates the greater hash.
  private func winsClash(_ item: MappedItem, _ stored: StoredRow) throws -> Bool {
    if let position = item.target.updatedAt, case .date(let old) = try stored.value(position),
      case .date(let new) = item.row[position], old != new
    {
      return new > old
    }
    return item.hash > (stored.int64(item.target.hash) ?? .min)
  }
}

/// Finds the records of a feed.
enum FeedRecords {
  static func row(of item: MappedItem, in transaction: ReadTransaction) throws -> StoredRow? {
    guard let id = try identifier(of: item.row, item.target, in: transaction) else { return nil }
    return try transaction.row(id, of: item.target.entity)
  }

  static func identifier(
    of row: [Value], _ target: FeedTarget, in transaction: ReadTransaction
  ) throws -> Int64? {
    let index = try target.entity.uniqueIndex(on: ["id", "feedID"])
    return try transaction.identifier(in: target.entity, index: index) { row[$0] }
  }
}
