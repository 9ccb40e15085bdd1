import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// One item converted to a row of its entity, before it is compared with the store.
struct MappedItem {
  let target: FeedTarget
  let id: String
  let revision: Int64?
  let updatedAt: Date?
  let isDeleted: Bool
  let deletedAt: Date?
  /// The complete row: the feed's attributes, `id`, `feedID`, revision and hash, and defaults for
  /// the local attributes.
  let row: [Value]
  /// The hash of the content without volatile attributes.
  let hash: Int64
  /// The positions of attributes whose change does not count as a change of the item.
  let volatile: [Int]

  /// The identity of an item within a run.
  struct Key: Hashable {
    let target: ObjectIdentifier
    let id: String
  }

  var key: Key { Key(target: ObjectIdentifier(target), id: id) }
}

/// Converts the items of a page to rows, validates and hashes them, outside of transactions. Its
/// results depend only on its parameters.
struct ItemMapper {
  private let targets: [String: FeedTarget]
  private let defaultEntity: String
  private let feedID: Int64
  private let now: Date
  /// The validation rules by entity name, created for the first item.
  private var rules: [String: TargetRules] = [:]

  init(targets: [String: FeedTarget], defaultEntity: String, feedID: Int64, now: Date) {
    self.targets = targets
    self.defaultEntity = defaultEntity
    self.feedID = feedID
    self.now = now
  }

  mutating func map(_ page: FeedPage, _ report: inout SyncReport) throws -> [MappedItem] {
    var items: [MappedItem] = []
    items.reserveCapacity(page.items.count)
    for rejected in page.rejected { report.reject(rejected.id, rejected.reason.description) }
    report.count(page)
    for item in page.items {
      guard let rules = try rules(of: item.kind ?? defaultEntity) else {
        report.unknownKinds += 1
        continue
      }
      let volatile = page.volatileAttributes[item.kind ?? ""] ?? []
      if let mapped = try map(item, by: rules, volatile, &report) { items.append(mapped) }
    }
    return items
  }

  private func map(
    _ item: FeedItem, by rules: TargetRules, _ volatile: Set<String>, _ report: inout SyncReport
  ) throws -> MappedItem? {
    let target = rules.target
    let validators = rules.validators
    var row = target.entity.newRow()
    row[target.id] = .string(item.id)
    row[target.feedID] = .int64(feedID)
    if let failure = validators[target.id].failure(of: row[target.id]) {
      report.reject(item.id, "id: \(failure)")
      return nil
    }
    for field in item.fields {
      guard let position = target.feedAttributes[field.name] else { continue }
      let value = field.value.converted(to: target.shapes[position].kind)
      if value == nil { report.typeChanges[field.name, default: 0] += 1 }
      if let value, validators[position].failure(of: value) == nil {
        row[position] = value
      } else if target.shapes[position].isOptional {
        // The item is stored without the invalid value. The old value goes too: it is not in the
        // feed.
        report.drop(item.id, "\(field.name) left out: not a value that is allowed")
      } else {
        let type = target.entity.description.attributes[position].type
        report.reject(item.id, "\(field.name) is no \(type.name) that is allowed")
        return nil
      }
    }
    if !item.isDeleted,
      let required = rules.required.first(where: { row[$0.position].isNull })?.name
    {
      report.reject(item.id, "\(required) is missing")
      return nil
    }
    guard bytes(of: row) <= DocumentLimits.itemBytesMax else {
      report.reject(item.id, "the item is too large")
      return nil
    }
    let volatile = volatile.compactMap { target.feedAttributes[$0] }
    let hash = ContentHash.of(target.entity, content(of: row, target, without: volatile))
    limitFuture(&row, target, &report)
    row[target.revision] = item.revision.map(Value.int64) ?? .null
    row[target.hash] = .int64(hash)
    return MappedItem(
      target: target, id: item.id, revision: item.revision,
      updatedAt: item.updatedAt.map { min($0, latestDate) },
      isDeleted: item.isDeleted, deletedAt: deletedAt(of: item, &report), row: row, hash: hash,
      volatile: volatile)
  }

  private func content(
    of row: [Value], _ target: FeedTarget, without positions: [Int]
  ) -> [Value] {
    var row = row
    for position in positions { row[position] = target.defaults[position] }
    return row
  }

  /// Returns roughly the bytes of the record: those of values that can be large.
  private func bytes(of row: [Value]) -> Int {
    row.reduce(0) { sum, value in
      switch value {
      case .string(let text): sum + text.utf8.count
      case .strings(let list): list.reduce(sum) { $0 + $1.utf8.count + 8 }
      case .url(let url): sum + url.absoluteString.utf8.count
      case .data(let data): sum + data.count
      default: sum
      }
    }
  }

  /// Limits `updatedAt` to the latest allowed date. The hash is computed before, so the same
  /// document stays unchanged later.
  private func limitFuture(
    _ row: inout [Value], _ target: FeedTarget, _ report: inout SyncReport
  ) {
    guard let position = target.updatedAt, case .date(let date) = row[position] else { return }
    guard date > latestDate else { return }
    row[position] = .date(latestDate)
    report.futureDates += 1
  }

  private func deletedAt(of item: FeedItem, _ report: inout SyncReport) -> Date? {
    guard let date = item.deletedAt, date > latestDate else { return item.deletedAt }
    report.futureDates += 1
    return latestDate
  }

  private var latestDate: Date { now.addingTimeInterval(SyncLimits.futureMax) }

  private mutating func rules(of entity: String) throws -> TargetRules? {
    if let known = rules[entity] { return known }
    guard let target = targets[entity] else { return nil }
    let made = try TargetRules(target)
    rules[entity] = made
    return made
  }
}

/// The validation rules of an entity, looked up once for all of its items.
private struct TargetRules {
  let target: FeedTarget
  /// The validators by position.
  let validators: [AttributeValidator]
  /// The feed's attributes that require a value.
  let required: [(name: String, position: Int)]

  init(_ target: FeedTarget) throws {
    self.target = target
    let validators = try target.entity.description.attributes.map { try AttributeValidator($0) }
    self.validators = validators
    required = target.feedAttributes.filter { validators[$1].failure(of: .null) != nil }
      .sorted { $0.value < $1.value }.map { ($0.key, $0.value) }
  }
}
