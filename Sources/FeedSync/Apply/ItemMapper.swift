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
  struct Key: Equatable {
    let target: ObjectIdentifier
    let id: String
    let idHash: Int

    init(_ id: String, of target: FeedTarget) {
      self.target = ObjectIdentifier(target)
      self.id = id
      var hasher = Hasher()
      // The bytes, as in the index: two spellings of a character are two ids.
      var id = id
      id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      idHash = hasher.finalize()
    }
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
    rules.row.removeAll()
    rules.row.set(item.id, at: target.id)
    rules.row.set(feedID, at: target.feedID)
    if !rules.validator.surelyAllowsText(
      of: .string, byteCount: item.id.utf8.count, at: target.id),
      let failure = rules.validator.failure(of: .string(item.id), at: target.id)
    {
      report.reject(item.id, "id: \(failure)")
      return nil
    }
    if let failure = rules.validator.failure(of: revision, at: target.revision) {
      report.reject(item.id, "feedRevision: \(failure)")
      return nil
    }
    guard rules.setFields(of: item, &report) else { return nil }
    if !item.isDeleted, let required = rules.firstMissing {
      report.reject(item.id, "\(required) is missing")
      return nil
    }
    guard rules.row.byteCount <= DocumentLimits.itemBytesMax else {
      report.reject(item.id, "the item is too large")
      return nil
    }
    var row = rules.row.row()
    let volatile = volatile.isEmpty ? [] : volatile.compactMap { target.feedAttributes[$0] }
    // Without revision and hash, and before the date is limited: the same document has the same
    // hash later.
    let hash = try row.contentHash(of: rules.row.marks, ignoring: volatile)
    limitFuture(&row, target, &report)
    row.set(revision, at: target.revision)
    row.set(hash, at: target.hash)
    return MappedItem(
      item, of: target, row: row, hash: hash, volatile: volatile,
      updatedAt: item.updatedAt.map { min($0, latestDate) },
      deletedAt: deletedAt(of: item, &report))
  }

  /// Limits `updatedAt` to the latest allowed date.
  private func limitFuture(_ row: inout RowCopy, _ target: FeedTarget, _ report: inout SyncReport) {
    guard let position = target.updatedAt, target.shapes[position].kind == .date,
      let seconds = row.double(position), seconds > latestDate.timeIntervalSinceReferenceDate
    else { return }
    row.set(latestDate, at: position)
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
  // SAFETY (`@exclusivity(unchecked)`): only the mapper uses this object, on one thread, and no
  // access to a property runs code that accesses it again.
  /// The row of the current item.
  @exclusivity(unchecked) var row: RowBuilder
  /// The fields of the current page, and the positions of their attributes by the numbers of their
  /// names; −1 for a field without an attribute.
  @exclusivity(unchecked) private var page: FieldValues?
  @exclusivity(unchecked) private var positions: [Int] = []

  init(_ target: FeedTarget) throws {
    self.target = target
    let validator = try RowValidator(target.entity.description.attributes)
    self.validator = validator
    required = target.feedAttributes.filter {
      target.defaults[$1].isNull && validator.failure(of: .null, at: $1) != nil
    }.sorted { $0.value < $1.value }.map { ($0.key, $0.value) }
    row = RowBuilder(target.entity)
  }

  /// Sets the values of an item's fields.
  ///
  /// - Returns: False if the item is rejected.
  func setFields(of item: FeedItem, _ report: inout SyncReport) -> Bool {
    var isAccepted = true
    item.fields.withEntries { fields in
      use(fields.values)
      for entry in fields.entries {
        let position = positions[Int(entry.name)]
        if position < 0 || setPlainValue(entry, of: fields, at: position) { continue }
        let field = fields.values.field(entry)
        if let value = value(of: field, at: position, &report) {
          row.set(value, at: position)
          continue
        }
        guard target.shapes[position].isOptional else {
          let type = target.entity.description.attributes[position].type
          report.reject(item.id, "\(field.name) is no \(type.name) that is allowed")
          isAccepted = false
          return
        }
        // The item is stored without the invalid value. The old value goes too: it is not in the
        // feed.
        report.drop(item.id, "\(field.name) left out: not a value that is allowed")
      }
    }
    return isAccepted
  }

  /// Looks the attributes of a page's fields up, once for all of its items.
  private func use(_ values: FieldValues) {
    if values === page { return }
    page = values
    positions = values.names.map { target.feedAttributes[$0] ?? -1 }
  }

  /// Sets the value of a field that has the bytes of a valid value of the attribute.
  ///
  /// - Returns: False if the value must be converted or checked first.
  private func setPlainValue(
    _ entry: FieldEntry, of fields: FieldEntries, at position: Int
  ) -> Bool {
    let shape = target.shapes[position]
    switch (entry.kind, shape.kind) {
    case (.null, _):
      guard shape.isOptional else { return false }
      row.setNull(position)
    case (.int64, .int64):
      let number = Int64(bitPattern: entry.bits)
      guard validator.surelyAllows(number, at: position) else { return false }
      row.set(number, at: position)
    case (.double, .double):
      let number = Double(bitPattern: entry.bits)
      guard validator.surelyAllows(number, of: .double, at: position) else { return false }
      row.set(number, at: position)
    case (.text, .string), (.text, .url):
      let text = fields.text(entry)
      // The bytes of a plain URL are stored as they are.
      guard validator.surelyAllowsText(of: shape.kind, byteCount: text.count, at: position),
        shape.kind == .string || PlainURL.isPlain(text)
      else { return false }
      row.set(text, of: shape.kind, at: position)
    case (.text, .date):
      guard let date = DateText.rfc3339(fields.text(entry)),
        validator.surelyAllows(date.timeIntervalSinceReferenceDate, of: .date, at: position)
      else { return false }
      row.set(date, at: position)
    default: return false
    }
    return true
  }

  /// Returns the value of a field; `nil` if the attribute does not allow it.
  private func value(of field: Field, at position: Int, _ report: inout SyncReport) -> Value? {
    guard let value = field.value.converted(to: target.shapes[position].kind) else {
      report.typeChanges[field.name, default: 0] += 1
      return nil
    }
    // With `?:`, the literal would be a null value.
    if validator.failure(of: value, at: position) != nil { return nil }
    return value
  }

  /// The first attribute that requires a value and has none.
  var firstMissing: String? { required.first { row.isNull($0.position) }?.name }
}
