import EntityModel
import EntityStore
import Foundation

/// The `user` block of homefeed/1: what the server knows of the person's own values.
///
/// A three-way merge per attribute. What the server last said is kept; where the record still has
/// that value, the server's new one is taken over; where it has another one, somebody has changed
/// it here since, and that stands. An entry that is not newer than the last one is nothing.
struct UserStates {
  /// What is kept of an item, as JSON.
  private struct Kept: Codable {
    /// The server's last word, by attribute name.
    var said: [String: Value]
    /// What was said before the item was there: to be merged against the defaults.
    var waiting: [String: Value]?
  }

  private let feedID: Int64
  private let targets: [FeedTarget]
  private let rules: ListingRules
  private let transaction: WriteTransaction

  init(
    feedID: Int64, targets: [String: FeedTarget], rules: ListingRules,
    in transaction: WriteTransaction
  ) {
    self.feedID = feedID
    self.targets = targets.sorted { $0.key < $1.key }.map(\.value)
      .filter { !$0.localAttributes.isEmpty }
    self.rules = rules
    self.transaction = transaction
  }

  /// Whether an entry could change anything: looked at before a write transaction is begun.
  static func isNews(
    _ entry: UserEntry, feedID: Int64, _ rules: ListingRules, in transaction: ReadTransaction
  ) throws -> Bool {
    guard !rules.isNewEpoch,
      let state = try transaction.get("_UserState", by: key(feedID, entry.id)),
      case .int64(let revision) = try state["revision"]
    else { return true }
    return entry.revision > revision
  }

  func apply(_ entry: UserEntry, _ report: inout SyncReport) throws {
    let state = try transaction.get("_UserState", by: UserStates.key(feedID, entry.id))
    // In another data set the revisions start anew; to merge the same values twice does no harm.
    if let state, case .int64(let revision) = try state["revision"], revision >= entry.revision,
      !rules.isNewEpoch
    {
      return
    }
    var kept = try state.map(UserStates.kept) ?? Kept(said: [:])
    guard let (target, id) = try record(of: entry.id) else {
      var waiting = kept.waiting ?? [:]
      for (name, value) in UserStates.values(of: entry) where isTaken(name) {
        waiting[name] = value
      }
      kept.waiting = waiting
      return try save(kept, entry.id, revision: entry.revision)
    }
    try merge(UserStates.values(of: entry), into: &kept, target, id, &report)
    try save(kept, entry.id, revision: entry.revision)
  }

  /// Whether some record could take it: what waits is bounded by what there is.
  private func isTaken(_ name: String) -> Bool {
    targets.contains { $0.localAttributes[name] != nil }
  }

  /// Merges what was said of an item before it was there.
  func applyPending(to itemID: String, _ report: inout SyncReport) throws {
    guard try transaction.count(of: "_UserState") > 0,
      let state = try transaction.get("_UserState", by: UserStates.key(feedID, itemID)),
      case .int64(let revision) = try state["revision"]
    else { return }
    var kept = try UserStates.kept(state)
    guard let waiting = kept.waiting, let (target, id) = try record(of: itemID) else { return }
    kept.waiting = nil
    try merge(waiting, into: &kept, target, id, &report)
    try save(kept, itemID, revision: revision)
  }

  private func merge(
    _ news: [String: Value], into kept: inout Kept, _ target: FeedTarget, _ id: ObjectID,
    _ report: inout SyncReport
  ) throws {
    var taken = 0
    var said = kept.said
    try transaction.update(id) { record in
      for (name, new) in news {
        guard let position = target.localAttributes[name], !target.links.contains(position),
          let value = try UserStates.fit(new, to: target, position)
        else { continue }
        let base = said[name] ?? target.defaults[position]
        if record.values[position] == base, value != base {
          record.values[position] = value
          taken += 1
        }
        said[name] = value
      }
    }
    kept.said = said
    report.userValues += taken
  }

  /// A clear is a null; for an attribute that is not optional it is the default.
  private static func fit(
    _ value: Value, to target: FeedTarget, _ position: Int
  ) throws -> Value? {
    let attribute = target.entity.description.attributes[position]
    if value.isNull { return attribute.isOptional ? .null : attribute.defaultValue }
    let converted: Value? =
      switch (value, attribute.type.kind) {
      case (.string(let text), .date): DateText.rfc3339(text).map(Value.date)
      case (.int64(let number), .double): .double(Double(number))
      default: value.kind == attribute.type.kind ? value : nil
      }
    guard let converted, try AttributeValidator(attribute).failure(of: converted) == nil else {
      return nil
    }
    return converted
  }

  /// A value that cannot be held is left as it is; only an explicit null clears.
  private static func values(of entry: UserEntry) -> [String: Value] {
    var values: [String: Value] = [:]
    for field in entry.values {
      switch field.value {
      case .null: values[field.name] = .null
      case .bool(let flag): values[field.name] = .bool(flag)
      case .int64(let number): values[field.name] = .int64(number)
      case .double(let number): values[field.name] = .double(number)
      case .string(let text): values[field.name] = .string(text)
      case .strings(let list): values[field.name] = .strings(list)
      case .value(let value): values[field.name] = value
      case .unrepresentable: continue
      }
    }
    return values
  }

  private func record(of itemID: String) throws -> (FeedTarget, ObjectID)? {
    for target in targets {
      var row = target.defaults
      row[target.id] = .string(itemID)
      row[target.feedID] = .int64(feedID)
      if let id = try FeedRecords.identifier(of: row, target, in: transaction) {
        return (target, ObjectID(entity: target.entity.description.name, number: id))
      }
    }
    return nil
  }

  private func save(_ kept: Kept, _ itemID: String, revision: Int64) throws {
    var values = UserStates.key(feedID, itemID)
    values["revision"] = .int64(revision)
    values["values"] = .data(try JSONEncoder().encode(kept))
    values["isPending"] = .bool(kept.waiting != nil)
    try transaction.upsert("_UserState", values, by: ["feedID", "itemID"])
  }

  private static func kept(_ state: Record) throws -> Kept {
    guard case .data(let data) = try state["values"] else { return Kept(said: [:]) }
    return try JSONDecoder().decode(Kept.self, from: data)
  }

  private static func key(_ feedID: Int64, _ itemID: String) -> [String: Value] {
    ["feedID": .int64(feedID), "itemID": .string(itemID)]
  }
}
