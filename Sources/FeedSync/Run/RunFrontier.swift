import EntityModel
import EntityStore
import Foundation

/// How far a run has come: committed with the rows of its pages, and the place to go on from.
struct RunFrontier: Codable, Sendable {
  var mode: String
  var startedAt: Double
  /// The checkpoint that the run began with in place of the feed's own URL.
  var beganWith: String?
  /// The page to fetch next.
  var next: String
  /// Of the feed when the run began: under other settings the listing is another one.
  var settings: Int64?
  var pages = 0
  /// What all pages of one listing agree on.
  var version: Int64?
  var epoch: String?
  var isPinned = true
  /// Everything that was listed could be read: only then may absence mean deletion.
  var isWhole = true
  /// Older pages were left out, for the last one brought nothing new.
  var isNewestOnly = false
  /// A document ended too early.
  var isCut = false
  /// Hashes of the pages that were asked for, and of the ids that each listed.
  var visited: Set<Int64> = []
  var listings: Set<Int64> = []
  /// The hash of the ids that the first page listed.
  var firstListing: Int64?
  /// Items of kinds that are known, those that were rejected among them.
  var listed = 0
  var format: String?
  var title: String?
  /// Of what reads the pages: a mapping, or homefeed/1 with the attributes that there are.
  var mappingHash: Int64?
  /// How the items are told apart, where that is chosen.
  var identity: String?
  /// Stored with the feed when the run has ended.
  var first: FirstAnswer?
  var bodyHash: Int64?
  var report: SyncReport
}

/// Object ids as bitmaps of 4,096: what a full run has met, one bit per record.
struct IdentifierSet: Sendable {
  private var words: [Int64: [UInt64]] = [:]

  mutating func insert(_ id: Int64) {
    words[id >> 12, default: [UInt64](repeating: 0, count: 64)][Int(id & 0xfff) >> 6] |=
      1 << UInt64(id & 63)
  }

  func contains(_ id: Int64) -> Bool {
    guard let page = words[id >> 12] else { return false }
    return page[Int(id & 0xfff) >> 6] & (1 << UInt64(id & 63)) != 0
  }
}

/// What a full run has seen, per entity, and the part of it that is not committed yet.
struct SeenRecords: Sendable {
  private var sets: [String: IdentifierSet] = [:]
  private(set) var uncommitted: [String: [Int64]] = [:]

  mutating func insert(_ id: ObjectID) {
    sets[id.entity, default: IdentifierSet()].insert(id.number)
    uncommitted[id.entity, default: []].append(id.number)
  }

  func contains(_ id: Int64, of entity: String) -> Bool { sets[entity]?.contains(id) ?? false }

  func contains(_ id: ObjectID) -> Bool { contains(id.number, of: id.entity) }

  mutating func didCommit() { uncommitted = [:] }

  /// Takes back what an interrupted run had committed.
  mutating func load(feedID: Int64, in transaction: ReadTransaction) throws {
    for page in try transaction.fetch(SeenRecords.request(feedID)) {
      guard case .data(let data) = try page["seen"] else { continue }
      let lists = try JSONDecoder().decode([String: [Int64]].self, from: data)
      for (entity, identifiers) in lists {
        for id in identifiers { sets[entity, default: IdentifierSet()].insert(id) }
      }
    }
  }

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
