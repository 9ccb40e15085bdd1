import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// The last values that the server reported for the user's attributes of an item. The names of the
/// properties are stored, as JSON.
struct LastServerValues: Codable, Equatable {
  /// The last reported values by attribute name.
  var said: [String: Value] = [:]
  /// The values reported before the item existed, to be merged against the defaults.
  var waiting: [String: Value]?

  /// Returns the same JSON as `JSONEncoder`, in the order of the names.
  func encoded() throws -> Data {
    var bytes: [UInt8] = []
    bytes.append(contentsOf: #"{"said":"#.utf8)
    try bytes.appendJSON(said)
    if let waiting {
      bytes.append(contentsOf: #","waiting":"#.utf8)
      try bytes.appendJSON(waiting)
    }
    bytes.append(UInt8(ascii: "}"))
    return Data(bytes)
  }
}

/// Reads and writes the `_UserState` records of one feed by attribute position, because a page may
/// need one for each item.
struct UserStateTable {
  private static let entityName = "_UserState"

  private let feed: Int64
  let entity: EntityLayout
  private let index: IndexLayout
  private let feedID: Int
  private let itemID: Int
  private let revision: Int
  private let values: Int
  private let isPending: Int

  init(feedID feed: Int64, in transaction: ReadTransaction) throws {
    self.feed = feed
    entity = try transaction.layout(Self.entityName)
    index = try entity.uniqueIndex(on: ["feedID", "itemID"])
    feedID = try entity.position(of: "feedID")
    itemID = try entity.position(of: "itemID")
    revision = try entity.position(of: "revision")
    values = try entity.position(of: "values")
    isPending = try entity.position(of: "isPending")
  }

  /// Returns true if there are entries of any feed.
  ///
  /// - Complexity: O(1).
  static func hasEntries(in transaction: ReadTransaction) throws -> Bool {
    try transaction.count(of: entityName) > 0
  }

  /// Returns the item's row, which is valid until the transaction writes.
  func row(of item: String, in transaction: ReadTransaction) throws -> StoredRow? {
    let id = try transaction.identifier(in: entity, index: index) {
      $0 == feedID ? .int64(feed) : .string(item)
    }
    return try id.flatMap { try transaction.row($0, of: entity) }
  }

  func revision(of row: StoredRow) -> Int64? { row.int64(revision) }

  func lastServerValues(of row: StoredRow) throws -> LastServerValues {
    guard case .data(let data) = try row.value(values) else { return LastServerValues() }
    return try JSONDecoder().decode(LastServerValues.self, from: data)
  }

  func newRow() -> RowBuilder { RowBuilder(entity) }

  /// Sets the values of a new record.
  ///
  /// - Parameter said: The encoded `LastServerValues`, of which none waits.
  func set(_ said: [UInt8], of entry: UserEntry, in row: inout RowBuilder) {
    row.set(feed, at: feedID)
    row.set(entry.id, at: itemID)
    row.set(entry.revision, at: revision)
    said.withUnsafeBytes { row.set($0, of: .data, at: values) }
    row.set(.bool(false), at: isPending)
  }

  /// - Parameter id: The item's existing record; nil to insert one.
  func save(
    _ last: LastServerValues, of item: String, revision number: Int64, over id: Int64?,
    in transaction: WriteTransaction
  ) throws {
    var changes = RowChanges()
    changes.set(revision, to: .int64(number))
    changes.set(values, to: .data(try last.encoded()))
    changes.set(isPending, to: .bool(last.waiting != nil))
    if let id { return try transaction.update(changes, id: id, in: entity) }
    changes.set(feedID, to: .int64(feed))
    changes.set(itemID, to: .string(item))
    _ = try transaction.insert(changes, into: entity)
  }
}
