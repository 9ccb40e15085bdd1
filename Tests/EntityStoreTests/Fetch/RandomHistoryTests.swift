import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// Random changes against a dictionary, and after each batch random fetches against brute force.
@Suite struct RandomHistoryTests {
  @Test("The store and a dictionary agree after every batch", arguments: [41, 42, 43] as [UInt64])
  func historiesAgree(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed) { temporary in
      let entity = try #require(try temporary.store.schema.entity(named: "Sample"))
      var history = History(entity: entity, random: temporary.random)
      var plans = PlanKinds()
      for batch in 0..<(isThorough ? 60 : 12) {
        history = try await Self.change(temporary.store, history)
        try Self.compareRecords(temporary.store, history)
        try requireClean(temporary.store)
        for _ in 0..<60 {
          let request = history.random.request(entity, records: history.records)
          try temporary.store.read { transaction in
            try Self.compare(request, transaction, history, batch: batch)
            let plan = try transaction.explain(request)
            let json = try JSONEncoder().encode(plan)
            try #require(try JSONDecoder().decode(FetchPlan.self, from: json) == plan)
            plans.add(plan)
          }
        }
      }
      #expect(plans.missing.isEmpty, "never hit: \(plans.missing)")
    }
  }

  /// A group of writes: each is a transaction, and some fail. Fetches within them include changes
  /// that are not yet in the indexes.
  private static func change(_ store: Store, _ history: History) async throws -> History {
    var history = history
    for _ in 0..<history.random.number(1...3) {
      let before = history
      do {
        history = try await store.write { transaction in
          var history = before
          for _ in 0..<history.random.number(1...25) { try history.step(in: transaction) }
          for _ in 0..<5 {
            let request = history.random.request(history.entity, records: history.records)
            try compare(request, transaction, history, batch: -1)
          }
          if history.random.oneIn(6) { throw Abandoned() }
          return history
        }
      } catch is Abandoned {
        history.random = SeededRandom(seed: before.random.seed &+ history.random.next())
      }
    }
    return history
  }

  struct Abandoned: Error {}

  private static func compareRecords(_ store: Store, _ history: History) throws {
    try store.read { transaction in
      #expect(try transaction.count(of: "Sample") == history.records.count)
      let found = try transaction.fetch(FetchRequest(entityName: "Sample"))
      try #require(found.map(\.id.number) == history.records.keys.sorted())
      for record in found {
        try #require(record.values == history.records[record.id.number])
        #expect(try transaction.get(record.id)?.values == record.values)
        let name = try record["name"]
        #expect(try transaction.get("Sample", by: ["name": name])?.id == record.id)
      }
    }
  }

  static func compare(
    _ request: FetchRequest, _ transaction: ReadTransaction, _ history: History, batch: Int
  ) throws {
    let answer = try NaiveFetch(data: history.model).answer(request)
    guard case .identities(let expected) = answer else {
      Issue.record("no records: \(answer)")
      return
    }
    let found = try transaction.fetch(request)
    let context: () -> Comment = {
      "batch \(batch)\n\((try? transaction.explain(request))?.description ?? "no plan")\n\(request)"
    }
    try #require(found.map(\.id.number) == expected, context())
    try #require(found.allSatisfy { $0.values == history.records[$0.id.number] }, context())
    try #require(try transaction.fetchIdentifiers(request).map(\.number) == expected, context())
    try #require(try transaction.count(request) == expected.count, context())
  }
}

/// The expected content of the store, and the changes that lead to it.
struct History: Sendable {
  let entity: EntityDescription
  var random: SeededRandom
  var records: [Int64: [Value]] = [:]
  var idMax: Int64 = 0

  init(entity: EntityDescription, random: SeededRandom) {
    self.entity = entity
    self.random = random
  }

  /// The same for the naive evaluation.
  var model: ModelData {
    var data = ModelData(
      entities: [ModelEntity(name: entity.name, attributes: entity.attributes)])
    for (id, row) in records { data.put(entity.name, id, ModelData.Record(values: named(row))) }
    return data
  }

  mutating func step(in transaction: WriteTransaction) throws {
    let row = randomRow()
    let id = records.keys.sorted().randomElement(using: &random)
    switch random.number(0...9) {
    case 0...3: try insert(row, in: transaction)
    case 4: try upsert(row, in: transaction)
    case 5: if records.count > 20, let id { try delete(id, in: transaction) }
    case 6: try updateMissing(in: transaction)
    default: if let id { try update(id, row, in: transaction) }
    }
  }

  /// Half of the names are from a few, so that upserts find and inserts collide.
  private mutating func randomRow() -> [Value] {
    var row = random.row(of: entity.attributes)
    row[0] = random.oneIn(2) ? .string("n\(random.number(0...40))") : .string(random.text())
    // Labels are unique; of many records without one they rarely collide.
    if random.oneIn(2) { row[label] = .null }
    // Floats that cannot be told apart are equal here and differ in their bytes.
    return row
  }

  private func named(_ row: [Value]) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: zip(entity.attributes, row).map { ($0.name, $1) })
  }

  private var label: Int { entity.attributes.firstIndex { $0.name == "label" }! }

  /// Returns the record that conflicts with these values: by `name`, by `code` and `isOpen`, or by
  /// `label` without regard to case.
  private func holder(of row: [Value], but id: Int64?) -> Int64? {
    let (code, isOpen) = (2, 5)
    return records.first { other, values in
      other != id
        && (values[0].compared(with: row[0]) == .same
          || (!row[label].isNull
            && NaiveCollation.order(values[label], row[label], .caseInsensitive) == .same)
          || (!row[code].isNull && !row[isOpen].isNull && values[code] == row[code]
            && values[isOpen] == row[isOpen]))
    }?.key
  }

  private mutating func insert(_ row: [Value], in transaction: WriteTransaction) throws {
    guard holder(of: row, but: nil) == nil else {
      try expect(.uniqueViolation) { try transaction.insert("Sample", named(row)) }
      return
    }
    let id = try transaction.insert("Sample", named(row)).number
    try #require(id > idMax, "an identity was used again")
    idMax = id
    records[id] = row
  }

  private mutating func upsert(_ row: [Value], in transaction: WriteTransaction) throws {
    let existing = records.first { $0.value[0].compared(with: row[0]) == .same }?.key
    guard holder(of: row, but: existing) == nil else {
      try expect(.uniqueViolation) {
        try transaction.upsert("Sample", named(row), by: ["name"])
      }
      return
    }
    let id = try transaction.upsert("Sample", named(row), by: ["name"]).number
    if let existing { try #require(id == existing) } else { try #require(id > idMax) }
    idMax = max(id, idMax)
    records[id] = row
  }

  private mutating func update(
    _ id: Int64, _ row: [Value], in transaction: WriteTransaction
  ) throws {
    var changed = records[id]!
    let positions = (0..<random.number(1...4)).map { _ in
      random.number(0...entity.attributes.count - 1)
    }
    for position in positions { changed[position] = row[position] }
    let object = ObjectID(entity: "Sample", number: id)
    let write = { [entity, changed] in
      try transaction.update(object) { record in
        for position in positions {
          try record.set(entity.attributes[position].name, to: changed[position])
        }
      }
    }
    if holder(of: changed, but: id) != nil {
      try expect(.uniqueViolation) { try write() }
    } else {
      try write()
      records[id] = changed
    }
  }

  private mutating func delete(_ id: Int64, in transaction: WriteTransaction) throws {
    let object = ObjectID(entity: "Sample", number: id)
    try #require(try transaction.delete(object))
    try #require(try !transaction.delete(object))
    records[id] = nil
  }

  private func updateMissing(in transaction: WriteTransaction) throws {
    let object = ObjectID(entity: "Sample", number: idMax + 1_000)
    try expect(.missingRecord) { try transaction.update(object) { try $0.set("rank", to: 1) } }
    try expect(.validation) { try transaction.insert("Sample", ["rank": 1]) }
    try expect(.unknownAttribute) { try transaction.insert("Sample", ["nothing": 1]) }
  }

  /// A write that must fail and is caught within its transaction, which then continues.
  private func expect(_ code: StoreError.Code, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError where error.code == code {
      return
    }
    Issue.record("a write went through that must fail with \(code)")
  }
}

/// Which ways of answering a fetch have been met.
struct PlanKinds {
  private var seen: Set<PlanKind> = []

  mutating func add(_ plan: FetchPlan) { seen.formUnion(plan.kinds) }

  var missing: Set<PlanKind> {
    // Requests here ask for records of one entity, and for nothing of lists.
    Set(PlanKind.allCases).subtracting([
      .identifiers, .listElements, .indexOnly, .countOnly, .endOfIndex, .groups,
      .severalRanges, .union,
    ]).subtracting(seen)
  }
}
