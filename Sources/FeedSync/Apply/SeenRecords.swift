import EntityModel
import EntityStore
import Foundation
import SystemSupport
import TextFormats

/// The records that a run has seen, by entity, and the part that is not committed yet. One bit per
/// record.
struct SeenRecords: Sendable {
  private struct Part {
    let entity: String
    var numbers = NumberSet()
    var uncommitted: [Int64] = []
  }

  /// The parts by entity: few, and mostly the one that was used last.
  private var parts: [Part] = []

  /// The part that is not committed yet, by entity.
  var uncommitted: [String: [Int64]] {
    Dictionary(
      uniqueKeysWithValues: parts.lazy.filter { !$0.uncommitted.isEmpty }
        .map { ($0.entity, $0.uncommitted) })
  }

  mutating func insert(_ id: ObjectID) {
    let place = place(of: id.entity)
    parts[place].numbers.insert(id.number)
    parts[place].uncommitted.append(id.number)
  }

  /// Adds records by entity.
  mutating func insert(_ records: [String: [Int64]]) {
    insert(committed: records)
    for (entity, numbers) in records { parts[place(of: entity)].uncommitted += numbers }
  }

  /// Adds records whose part is committed.
  mutating func insert(committed records: [String: [Int64]]) {
    for (entity, numbers) in records {
      let place = place(of: entity)
      for number in numbers { parts[place].numbers.insert(number) }
    }
  }

  private mutating func place(of entity: String) -> Int {
    if let found = parts.firstIndex(where: { $0.entity == entity }) { return found }
    parts.append(Part(entity: entity))
    return parts.count - 1
  }

  func contains(_ id: Int64, of entity: String) -> Bool {
    parts.first { $0.entity == entity }?.numbers.contains(id) ?? false
  }

  func contains(_ id: ObjectID) -> Bool { contains(id.number, of: id.entity) }

  mutating func didCommit() {
    for place in parts.indices { parts[place].uncommitted.removeAll() }
  }

  /// Adds the records that an interrupted run has committed.
  mutating func load(feedID: Int64, in transaction: ReadTransaction) throws {
    for page in try transaction.fetch(SeenRecords.request(feedID)) {
      guard case .data(let data) = try page["seen"] else { continue }
      insert(committed: try JSONDecoder().decode([String: [Int64]].self, from: data))
    }
  }

  /// Saves the part that is not committed yet.
  func save(feedID: Int64, number: Int, in transaction: WriteTransaction) throws {
    let uncommitted = uncommitted
    if uncommitted.isEmpty { return }
    try transaction.upsert(
      "_SyncPage",
      [
        "feedID": .int64(feedID), "number": .int64(Int64(number)),
        "seen": .data(Self.encoded(uncommitted)),
      ], by: ["feedID", "number"])
  }

  /// Returns JSON that `load` decodes.
  private static func encoded(_ records: [String: [Int64]]) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      for (entity, numbers) in records.sorted(by: { $0.key < $1.key }) {
        writer.array(entity) { writer in
          for number in numbers { writer.number(nil, Int(number)) }
        }
      }
    }
    return Data(writer.bytes)
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
