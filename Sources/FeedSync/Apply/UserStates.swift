import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// Merges the `user` block of homefeed/1: the server's copy of the user's own values.
///
/// A three-way merge per attribute, with the last value that the server reported as its base. If
/// the record still has that value, it gets the server's new one. Otherwise the user has changed it
/// here, and it stays. An entry that is not newer than the last one is ignored.
struct UserStates {
  private let feedID: Int64
  private let targets: [UserTarget]
  private let rules: ListingRules
  private let table: UserStateTable
  private let transaction: WriteTransaction
  private let entries: NewUserEntries?

  init(
    feedID: Int64, targets: [String: FeedTarget], rules: ListingRules,
    in transaction: WriteTransaction
  ) throws {
    self.feedID = feedID
    self.targets = try targets.sorted { $0.key < $1.key }.map(\.value)
      .filter { !$0.localAttributes.isEmpty }.map { try UserTarget($0) }
    self.rules = rules
    self.transaction = transaction
    table = try UserStateTable(feedID: feedID, in: transaction)
    // If records of several entities may have the id of an entry, the first of them gets its
    // values.
    entries = self.targets.count == 1 ? NewUserEntries(self.targets[0], table) : nil
  }

  /// Returns the entries that may change something, before a write transaction is begun.
  ///
  /// - Parameter hasEntries: False if the store had no entries when the listing began. All are then
  ///   returned, and the write decides about those that are listed again.
  static func news(
    of entries: [UserEntry], feedID: Int64, _ rules: ListingRules, hasEntries: Bool,
    in transaction: ReadTransaction
  ) throws -> [UserEntry] {
    if rules.isNewEpoch || !hasEntries || entries.isEmpty { return entries }
    let table = try UserStateTable(feedID: feedID, in: transaction)
    return try entries.filter { entry in
      guard let row = try table.row(of: entry.id, in: transaction),
        let revision = table.revision(of: row)
      else { return true }
      return entry.revision > revision
    }
  }

  func apply(_ entry: UserEntry, _ counts: inout WriteCounts) throws {
    let row = try table.row(of: entry.id, in: transaction)
    // Revisions of another data set cannot be compared. Merging the same values twice is harmless.
    if let row, let revision = table.revision(of: row), revision >= entry.revision,
      !rules.isNewEpoch
    {
      return
    }
    let id = row?.id
    var last = try row.map(table.lastServerValues) ?? LastServerValues()
    if let (target, record) = try record(of: entry.id) {
      try merge(UserStates.values(of: entry), into: &last, target, record, &counts)
    } else {
      var waiting = last.waiting ?? [:]
      for (name, value) in UserStates.values(of: entry) where isLocalAttribute(name) {
        waiting[name] = value
      }
      last.waiting = waiting
      counts.usersWaiting += 1
    }
    try table.save(last, of: entry.id, revision: entry.revision, over: id, in: transaction)
  }

  /// A new item's record with the values of an entry.
  struct NewRecord {
    let row: RowCopy
    /// The number of values that differ from the defaults.
    fileprivate let changed: Int
  }

  /// Merges the first entry for an item into the record that is about to be inserted.
  ///
  /// - Returns: `nil` if the item had an entry before, or if records of several entities may have
  ///   its id: the first of them gets the values.
  func newRecord(of item: MappedItem, with entry: UserEntry) throws -> NewRecord? {
    guard let entries, entries.target.feed === item.target,
      try table.row(of: entry.id, in: transaction) == nil
    else { return nil }
    var row = item.row
    let changed = entries.merge(entry, into: &row)
    return NewRecord(row: row, changed: changed)
  }

  /// Stores the entry that was merged last, of a record that was inserted.
  func save(_ record: NewRecord, of entry: UserEntry, _ counts: inout WriteCounts) throws {
    counts.userValues += record.changed
    try entries?.save(entry, in: transaction)
  }

  /// Returns true if an entity has such a local attribute. This bounds the values that wait.
  private func isLocalAttribute(_ name: String) -> Bool {
    targets.contains { $0.feed.localAttributes[name] != nil }
  }

  /// Merges the values that were reported before the item existed.
  func applyPending(to itemID: String, _ counts: inout WriteCounts) throws {
    guard let row = try table.row(of: itemID, in: transaction),
      let revision = table.revision(of: row)
    else { return }
    let id = row.id
    var last = try table.lastServerValues(of: row)
    guard let waiting = last.waiting, let (target, record) = try record(of: itemID) else { return }
    last.waiting = nil
    try merge(waiting.map { ($0, $1) }, into: &last, target, record, &counts)
    try table.save(last, of: itemID, revision: revision, over: id, in: transaction)
  }

  private func merge(
    _ news: [(name: String, value: Value)], into last: inout LastServerValues, _ target: UserTarget,
    _ id: Int64, _ counts: inout WriteCounts
  ) throws {
    let entity = target.feed.entity
    guard let row = try transaction.row(id, of: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    let changes = try merge(news, into: &last, target) { try row.value($0) }
    counts.userValues += changes.entries.count
    if !changes.isEmpty { try transaction.update(changes, id: id, in: entity) }
  }

  /// Returns the changes of a record by values of the server, and notes those values.
  ///
  /// - Parameter value: Returns the record's value at a position.
  private func merge(
    _ news: [(name: String, value: Value)], into last: inout LastServerValues, _ target: UserTarget,
    over value: (Int) throws -> Value
  ) rethrows -> RowChanges {
    var changes = RowChanges()
    for (name, new) in news {
      guard let position = target.feed.localAttributes[name],
        !target.feed.links.contains(position), let new = target.fit(new, at: position)
      else { continue }
      let base = last.said[name] ?? target.feed.defaults[position]
      if try new != base && value(position) == base { changes.set(position, to: new) }
      last.said[name] = new
    }
    return changes
  }

  /// Returns the values of an entry. One that cannot be represented is left out; only an explicit
  /// null clears an attribute.
  private static func values(of entry: UserEntry) -> [(name: String, value: Value)] {
    entry.values.compactMap { field in field.value.unconverted.map { (field.name, $0) } }
  }

  private func record(of itemID: String) throws -> (UserTarget, Int64)? {
    for target in targets {
      if let id = try FeedRecords.identifier(
        of: itemID, feedID: feedID, target.feed, in: transaction)
      {
        return (target, id)
      }
    }
    return nil
  }
}
