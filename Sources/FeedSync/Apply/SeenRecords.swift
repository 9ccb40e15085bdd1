import EntityModel
import EntityStore
import Foundation
import SystemSupport

/// The records that a run has seen, by entity, and the part that is not committed yet. One bit per
/// record.
struct SeenRecords: Sendable {
  private var sets: [String: NumberSet] = [:]
  private(set) var uncommitted: [String: [Int64]] = [:]

  mutating func insert(_ id: ObjectID) {
    sets[id.entity, default: NumberSet()].insert(id.number)
    uncommitted[id.entity, default: []].append(id.number)
  }

  func contains(_ id: Int64, of entity: String) -> Bool { sets[entity]?.contains(id) ?? false }

  func contains(_ id: ObjectID) -> Bool { contains(id.number, of: id.entity) }

  mutating func didCommit() { uncommitted = [:] }

  /// Adds the records that an interrupted run has committed.
  mutating func load(feedID: Int64, in transaction: ReadTransaction) throws {
    for page in try transaction.fetch(SeenRecords.request(feedID)) {
      guard case .data(let data) = try page["seen"] else { continue }
      let lists = try JSONDecoder().decode([String: [Int64]].self, from: data)
      for (entity, identifiers) in lists {
        for id in identifiers { sets[entity, default: NumberSet()].insert(id) }
      }
    }
  }

  /// Saves the part that is not committed yet.
  func save(feedID: Int64, number: Int, in transaction: WriteTransaction) throws {
    if uncommitted.isEmpty { return }
    try transaction.upsert(
      "_SyncPage",
      [
        "feedID": .int64(feedID), "number": .int64(Int64(number)),
        "seen": .data(try JSONEncoder().encode(uncommitted)),
      ], by: ["feedID", "number"])
  }

  static func removeAll(feedID: Int64, in transaction: WriteTransaction) throws {
    for id in try transaction.fetchIdentifiers(request(feedID)) { try transaction.delete(id) }
  }

  private static func request(_ feedID: Int64) -> FetchRequest {
    FetchRequest(
      entityName: "_SyncPage", predicate: .comparison("feedID", .equal, .int64(feedID)),
      sortBy: [SortKey("number")])
  }
}
