import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// One item converted to a row of its entity, before it is compared with the store.
///
/// A class, because an item passes through several collections, and its properties hold references
/// that each copy would count.
final class MappedItem: Sendable {
  let target: FeedTarget
  let id: String
  let revision: Int64?
  let updatedAt: Date?
  let isDeleted: Bool
  let deletedAt: Date?
  /// The complete record: the feed's attributes, `id`, `feedID`, revision and hash, and defaults
  /// for the local attributes. Its values have been validated.
  let row: RowCopy
  /// The hash of the content without volatile attributes.
  let hash: Int64
  /// The positions of attributes whose change does not count as a change of the item.
  let volatile: [Int]
  let key: Key

  /// The identity of an item within a run. Its hash is computed once, because each item is looked
  /// up in several tables. It is seeded, so that a feed cannot choose ids with equal hashes.
  struct Key: Hashable {
    let target: ObjectIdentifier
    let id: String
    private let idHash: Int

    init(_ id: String, of target: FeedTarget) {
      self.target = ObjectIdentifier(target)
      self.id = id
      var hasher = Hasher()
      // The bytes, as in the index: two spellings of a character are two ids.
      var id = id
      id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      idHash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(idHash) }
  }

  init(
    _ item: FeedItem, of target: FeedTarget, row: RowCopy, hash: Int64, volatile: [Int],
    updatedAt: Date?, deletedAt: Date?
  ) {
    self.target = target
    id = item.id
    revision = item.revision
    self.updatedAt = updatedAt
    isDeleted = item.isDeleted
    self.deletedAt = deletedAt
    self.row = row
    self.hash = hash
    self.volatile = volatile
    key = Key(item.id, of: target)
  }

  private static let distinctive = [
    "title", "url", "mediaURL", "publishedAt", "summary", "contentText", "contentHTML",
  ]

  /// True if the id is a hash of several values, because the item has no id of its own.
  var isKnownByHash: Bool { IdentityLevel.isHash(id) }

  /// The item in a message, by its title or by what else distinguishes it.
  var shownTitle: String {
    for name in Self.distinctive {
      guard let position = target.feedAttributes[name], !row.isNull(position),
        let text = row.value(position).text.shortened()
      else { continue }
      return "the item \"\(text)\""
    }
    return "one of them"
  }
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
  /// The rules of the last item's entity.
  private var last: (entity: String, rules: TargetRules)?
  /// The values of the current item. A property, so that its memory is used again.
  private var values = RowChanges()

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
        report.countUnknownKind(item.kind ?? defaultEntity)
        continue
      }
      let volatile =
        page.volatileAttributes.isEmpty ? [] : page.volatileAttributes[item.kind ?? ""] ?? []
      if let mapped = try map(item, by: rules, volatile, &report) { items.append(mapped) }
    }
    return items
  }

  private mutating func map(
    _ item: FeedItem, by rules: TargetRules, _ volatile: Set<String>, _ report: inout SyncReport
  ) throws -> MappedItem? {
    let target = rules.target
    let revision = item.revision.map(Value.int64) ?? .null
    values.removeAll()
    values.set(target.id, to: .string(item.id))
    values.set(target.feedID, to: .int64(feedID))
    if let failure = rules.validator.failure(of: .string(item.id), at: target.id) {
      report.reject(item.id, "id: \(failure)")
      return nil
    }
    if let failure = rules.validator.failure(of: revision, at: target.revision) {
      report.reject(item.id, "feedRevision: \(failure)")
      return nil
    }
    rules.positions.beginItem()
    for number in item.fields.indices {
      // Read in place: a copy of a field would retain its value.
      guard let position = rules.positions.next(item.fields[number].name) else { continue }
      if let value = rules.value(of: item.fields[number], at: position, &report) {
        values.set(position, to: value)
        continue
      }
      let name = item.fields[number].name
      guard target.shapes[position].isOptional else {
        let type = target.entity.description.attributes[position].type
        report.reject(item.id, "\(name) is no \(type.name) that is allowed")
        return nil
      }
      // The item is stored without the invalid value. The old value goes too: it is not in the
      // feed.
      report.drop(item.id, "\(name) left out: not a value that is allowed")
    }
    if !item.isDeleted, let required = rules.missing(in: values) {
      report.reject(item.id, "\(required) is missing")
      return nil
    }
    var row = target.entity.newRowCopy(with: values)
    guard row.byteCount <= DocumentLimits.itemBytesMax else {
      report.reject(item.id, "the item is too large")
      return nil
    }
    let volatile = volatile.compactMap { target.feedAttributes[$0] }
    // Without revision and hash, and before the date is limited: the same document has the same
    // hash later.
    let hash = try row.contentHash(ignoring: volatile)
    limitFuture(&row, target, &report)
    row.set(revision, at: target.revision)
    row.set(.int64(hash), at: target.hash)
    return MappedItem(
      item, of: target, row: row, hash: hash, volatile: volatile,
      updatedAt: item.updatedAt.map { min($0, latestDate) },
      deletedAt: deletedAt(of: item, &report))
  }

  /// Limits `updatedAt` to the latest allowed date.
  private func limitFuture(_ row: inout RowCopy, _ target: FeedTarget, _ report: inout SyncReport) {
    guard let position = target.updatedAt, case .date(let date)? = values[position],
      date > latestDate
    else { return }
    row.set(.date(latestDate), at: position)
    report.futureDates += 1
  }

  private func deletedAt(of item: FeedItem, _ report: inout SyncReport) -> Date? {
    guard let date = item.deletedAt, date > latestDate else { return item.deletedAt }
    report.futureDates += 1
    return latestDate
  }

  private var latestDate: Date { now.addingTimeInterval(SyncLimits.futureMax) }

  private mutating func rules(of entity: String) throws -> TargetRules? {
    if let last, last.entity == entity { return last.rules }
    guard let found = try rules[entity] ?? targets[entity].map(TargetRules.init) else { return nil }
    rules[entity] = found
    last = (entity, found)
    return found
  }
}

/// The validation rules of an entity, looked up once for all of its items.
private final class TargetRules {
  let target: FeedTarget
  let validator: RowValidator
  /// The feed's attributes that require a value and have no default.
  private let required: [(name: String, position: Int)]
  /// The attributes that are URLs without further rules.
  private let plainURLs: Set<Int>
  // SAFETY (`@exclusivity(unchecked)`): only the mapper uses this object, on one thread, and no
  // access to the property runs code that accesses it again.
  @exclusivity(unchecked) var positions: FieldPositions

  init(_ target: FeedTarget) throws {
    self.target = target
    let attributes = target.entity.description.attributes
    let validator = try RowValidator(attributes)
    self.validator = validator
    required = target.feedAttributes.filter {
      target.defaults[$1].isNull && validator.failure(of: .null, at: $1) != nil
    }.sorted { $0.value < $1.value }.map { ($0.key, $0.value) }
    plainURLs = Set(
      attributes.indices.filter {
        attributes[$0].type.kind == .url && attributes[$0].validation == .none
      })
    positions = FieldPositions(target.feedAttributes)
  }

  /// Returns the value of a field; `nil` if the attribute does not allow it.
  func value(of field: Field, at position: Int, _ report: inout SyncReport) -> Value? {
    let kind = target.shapes[position].kind
    if kind == .url, case .string(let text) = field.value, plainURLs.contains(position),
      PlainURL.isPlain(text)
    {
      // Its bytes are stored as they are.
      return .string(text)
    }
    guard let value = field.value.converted(to: kind) else {
      report.typeChanges[field.name, default: 0] += 1
      return nil
    }
    if validator.failure(of: value, at: position) != nil { return nil }
    return value
  }

  /// Returns the first attribute that requires a value and has none.
  func missing(in values: RowChanges) -> String? {
    required.first { !values.has($0.position) }?.name
  }
}

/// The attributes of fields. Items mostly have the same fields in the same order, so that the next
/// one is guessed, which takes less time than a hash of its name.
private struct FieldPositions {
  /// The attributes of the feed, in the order in which items have had them.
  private var known: [(name: String, position: Int)]
  private let positions: [String: Int]
  private var expected = 0

  init(_ positions: [String: Int]) {
    self.positions = positions
    known = []
  }

  mutating func beginItem() { expected = 0 }

  /// Returns the position of the attribute that a field fills; `nil` if there is none.
  mutating func next(_ name: String) -> Int? {
    for place in expected..<known.count where known[place].name == name {
      expected = place + 1
      return known[place].position
    }
    guard let position = positions[name] else { return nil }
    if !known.contains(where: { $0.position == position }) { known.append((name, position)) }
    return position
  }
}
