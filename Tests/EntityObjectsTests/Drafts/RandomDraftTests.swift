import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Random drafts: a fetch from the draft equals the fetch from the store after the save.
@Suite struct RandomDraftTests {
  @Test("Every type of attribute and every kind of index", arguments: [71, 72, 73] as [UInt64])
  func samples(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed) { temporary in
      var run = RandomDraft(temporary.store, entity: "Sample", temporary.random)
      for _ in 0..<(isThorough ? 40 : 5) {
        try await run.round(changes: run.random.number(1...40)) { random, records, entity in
          random.request(entity, records: records)
        }
      }
      #expect(run.merged > 0)
    }
  }

  @Test("Through to-one paths, between new, changed and stored records", arguments: [81, 82, 83])
  func paths(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed, migrations: [Staff.source]) { temporary in
      var run = RandomDraft(temporary.store, entity: "Employee", temporary.random)
      for _ in 0..<(isThorough ? 40 : 5) {
        try await run.round(changes: run.random.number(1...30)) { random, _, _ in
          Self.pathRequest(&random)
        }
      }
      #expect(run.merged > 0)
    }
  }

  private static func pathRequest(_ random: inout SeededRandom) -> FetchRequest {
    let paths = ["salary", "mentor.salary", "mentor.mentor.salary", "desk.salary"]
    func condition(_ random: inout SeededRandom) -> FetchPredicate {
      let test = random.pick([ComparisonOperator.less, .greaterOrEqual, .equal, .notEqual])
      let path = random.pick(paths)
      if random.oneIn(5) { return .comparison(path, random.pick([.equal, .notEqual]), .null) }
      return .comparison(path, test, .int64(Int64(random.number(0...6))))
    }
    var request = FetchRequest(entityName: "Employee")
    switch random.number(0...4) {
    case 0: break
    case 1: request.predicate = .and([condition(&random), condition(&random)])
    case 2: request.predicate = .or([condition(&random), condition(&random)])
    case 3: request.predicate = .not(condition(&random))
    default: request.predicate = condition(&random)
    }
    request.sortBy = (0..<random.number(0...2)).map { _ in
      SortKey(random.pick(paths), descending: random.oneIn(2))
    }
    if random.oneIn(2) { request.fetchLimit = random.number(1...10) }
    if random.oneIn(3) { request.fetchOffset = random.number(0...10) }
    return request
  }
}

/// A store whose only changes are saved drafts.
private struct RandomDraft {
  private let store: Store
  private let entity: String
  private var names = 0
  var random: SeededRandom
  /// How many fetches had new records among others.
  var merged = 0

  init(_ store: Store, entity: String, _ random: SeededRandom) {
    self.store = store
    self.entity = entity
    self.random = random
  }

  mutating func round(
    changes: Int,
    _ request: (inout SeededRandom, [Int64: [Value]], EntityDescription) -> FetchRequest
  ) async throws {
    let draft = store.draft()
    for _ in 0..<changes { try change(draft) }
    let all = try draft.fetch(FetchRequest(entityName: entity))
    let records = Dictionary(uniqueKeysWithValues: all.map { ($0.id.number, $0.values) })
    let description = try #require(try store.schema.entity(named: entity))
    let requests = (0..<40).map { _ in request(&random, records, description) }
    var before: [[Record]] = []
    for request in requests { before.append(try fetch(request, draft)) }

    let deleted = Set(draft.deletedObjects)
    let identities = try await draft.save()
    for (request, expected) in zip(requests, before) {
      let found = try store.fetch(request)
      try #require(
        found.map(\.id) == expected.map { identities[$0.id] ?? $0.id }, "\(request)")
      try #require(
        found.map(\.values) == expected.map { saved($0, identities, deleted) }, "\(request)")
    }
  }

  /// Requires that all kinds of fetches from a draft agree.
  private mutating func fetch(_ request: FetchRequest, _ draft: Draft) throws -> [Record] {
    let found = try draft.fetch(request)
    try #require(try draft.fetchIdentifiers(request) == found.map(\.id), "\(request)")
    try #require(try draft.count(request) == found.count, "\(request)")
    let isNew = found.map(\.id.isTemporary)
    if isNew.contains(true), isNew.contains(false) { merged += 1 }

    var stored = request
    stored.includesPendingChanges = false
    let identifiers = try store.read { try $0.fetchIdentifiers(request) }
    let unmerged = try draft.fetch(stored)
    try #require(unmerged.map(\.id) == identifiers, "\(request)")
    try #require(try draft.count(stored) == identifiers.count, "\(request)")
    for record in unmerged {
      guard let own = try draft.get(record.id) else { continue }
      try #require(own.values == record.values, "\(request)")
    }
    return found
  }

  /// The values with real numbers in the references, and without those to what was deleted.
  private func saved(
    _ record: Record, _ identities: [ObjectID: ObjectID], _ deleted: Set<ObjectID>
  ) -> [Value] {
    zip(record.entity.attributes, record.values).map { attribute, value in
      guard case .reference(let other) = attribute.type, case .int64(let number) = value else {
        return value
      }
      let id = ObjectID(entity: other, number: number)
      return deleted.contains(id) ? .null : .int64((identities[id] ?? id).number)
    }
  }

  // MARK: Changes

  private mutating func change(_ draft: Draft) throws {
    let ids = try draft.fetchIdentifiers(FetchRequest(entityName: entity))
    switch random.number(0...9) {
    case 0..<5 where ids.count < 60: try insert(draft, ids)
    case 0..<8: try update(draft, ids)
    default:
      guard let id = ids.randomElement(using: &random) else { return }
      if random.oneIn(2), try mayForget(id, draft) {
        try draft.rollback(id)
      } else {
        try draft.delete(id)
      }
    }
  }

  /// A reference to a new record that is never written would be refused.
  private func mayForget(_ id: ObjectID, _ draft: Draft) throws -> Bool {
    guard id.isTemporary, entity == "Employee" else { return true }
    let holders = FetchPredicate.comparison(.init(.path("mentor"), .equal, .object(id)))
    return try draft.count(FetchRequest(entityName: entity, predicate: holders)) == 0
  }

  private mutating func insert(_ draft: Draft, _ ids: [ObjectID]) throws {
    let description = try #require(try store.schema.entity(named: entity))
    var values: [String: Value] = [:]
    for attribute in description.attributes where !attribute.isHidden {
      values[attribute.name] = value(attribute, ids)
    }
    try draft.insert(entity, values)
  }

  private mutating func update(_ draft: Draft, _ ids: [ObjectID]) throws {
    guard let id = ids.randomElement(using: &random) else { return }
    let description = try #require(try store.schema.entity(named: entity))
    for _ in 0..<random.number(1...3) {
      let attribute = random.pick(description.attributes.filter { !$0.isHidden })
      let value = value(attribute, ids)
      try draft.update(id) { try $0.set(attribute.name, to: value) }
    }
  }

  /// Returns a value within the rules of the attribute. Unique values are numbered or null.
  private mutating func value(_ attribute: AttributeDescription, _ ids: [ObjectID]) -> Value {
    switch attribute.name {
    case "name":
      names += 1
      let text = entity == "Sample" ? random.text().prefix(20) : ""
      return .string("\(text)\(names)")
    case "code", "label", "badge", "desk", "team", "lead": return .null
    case "salary": return .int64(Int64(random.number(0...6)))
    case "mentor":
      return random.oneIn(4)
        ? .null : ids.randomElement(using: &random).map { .int64($0.number) } ?? .null
    default:
      if attribute.isOptional, random.oneIn(4) { return .null }
      if case .enumeration(let enumeration) = attribute.type, !random.oneIn(5) {
        return random.pick(enumeration.cases).rawValue
      }
      return random.value(attribute.type.kind)
    }
  }
}
