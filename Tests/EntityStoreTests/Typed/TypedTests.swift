import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Swift values in and out of the store.
@Suite struct TypedTests {
  @Test func aValueOfEveryTypeReadsBack() async throws {
    try await withTemporaryStore(seed: 71) { temporary in
      var random = temporary.random
      for number in 0..<200 {
        let sample = Sample(name: "n\(number)", random: &random)
        let id = try await temporary.store.write { try $0.insert(sample) }
        let back = try temporary.store.read { try $0.get(Sample.self, id) }
        try #require(back?.attributeValues == sample.attributeValues, "seed \(random.seed)")
      }
      let all = try temporary.store.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.name)]))
      #expect(all.map(\.name) == (0..<200).map { "n\($0)" }.sorted())
    }
  }

  @Test func anUpdateKeepsWhatTheTypeDoesNotKnow() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let id = try await store.write {
        try $0.insert("Sample", ["name": "a", "note": "mine", "score": 2.0])
      }
      try await store.write { transaction in
        try transaction.update(Sample.self, id) { $0.title = "t" }
        #expect(
          code {
            try transaction.update(Sample.self, ObjectID(entity: "Sample", number: 9)) { _ in }
          }
            == .missingRecord)
      }
      let record = try #require(try store.read { try $0.get(id) })
      #expect(try record["note"] == "mine")
      #expect(try record["score"] == 2.0)
      #expect(try record["title"] == "t")
      #expect(record.fields.map(\.name) == record.entity.attributes.map(\.name))
    }
  }

  @Test func anUpsertByKeyPathsFindsItsRecord() async throws {
    try await withTemporaryStore { temporary in
      var random = temporary.random
      var sample = Sample(name: "a", random: &random)
      sample.code = 5
      sample.isOpen = false
      let first = sample
      let id = try await temporary.store.write { try $0.upsert(first, by: \.name) }
      sample.title = "by name"
      let second = sample
      #expect(try await temporary.store.write { try $0.upsert(second, by: \.name) } == id)
      sample.name = "b"
      let third = sample
      #expect(try await temporary.store.write { try $0.upsert(third, by: \.code, \.isOpen) } == id)
      #expect(try temporary.store.read { try $0.count(of: "Sample") } == 1)
      #expect(
        await code { try await temporary.store.write { _ = try $0.upsert(third, by: \.title) } }
          == .invalidRequest)
      #expect(
        await code { try await temporary.store.write { _ = try $0.upsert(third, by: \.unnamed) } }
          == .invalidRequest)
    }
  }

  @Test("A key path that the program composes is resolved to its attribute each time")
  func composedKeyPaths() throws {
    for _ in 0..<3_000 {
      let whole: KeyPath<Sample, Sample> = \.self
      #expect(try Sample.attributeName(of: whole.appending(path: \.title)) == "title")
    }
    #expect(code { _ = try Sample.attributeName(of: \.unnamed) } == .invalidRequest)
    #expect(code { _ = try Book.attributeName(of: \.chapters) } == .invalidRequest)
    #expect(try Book.propertyName(of: \.chapters) == "chapters")
  }

  @Test func anUpsertOfWhatIsStoredChangesNothing() async throws {
    try await withTemporaryStore(seed: 72) { temporary in
      let store = temporary.store
      var random = temporary.random
      for number in 0..<100 {
        let sample = Sample(name: "n\(number)", random: &random)
        try await store.write { _ = try $0.upsert(sample, by: \.name) }
        let before = try store.historyToken()
        try await store.write { _ = try $0.upsert(sample, by: \.name) }
        try #require(try store.historyToken() == before, "seed \(random.seed)")
        var other = sample
        other.rank += 1
        let changed = other
        try await store.write { _ = try $0.upsert(changed, by: \.name) }
        let back = try store.read { try $0.get(Sample.self, where: \.name, is: changed.name) }
        try #require(back?.attributeValues == changed.attributeValues, "seed \(random.seed)")
      }
    }
  }

  @Test func aPropertyThatIsNotStoredIsWrittenAsItReads() async throws {
    try await withTemporaryStore { temporary in
      let value = Computed(word: "walk")
      let id = try await temporary.store.write { try $0.insert(value) }
      let record = try #require(try temporary.store.read { try $0.get(id) })
      #expect(try record["name"] == "walk!")
      #expect(try record["rank"] == 4)
    }
  }

  @Test func anUpsertByNotANumberIsRefused() async throws {
    try await withTemporaryStore(migrations: [.model, FetchRefusalTests.uniqueTags]) { temporary in
      var random = temporary.random
      var sample = Sample(name: "a", random: &random)
      sample.price = .nan
      let refused = sample
      #expect(
        await code { try await temporary.store.write { _ = try $0.upsert(refused, by: \.price) } }
          == .validation)
    }
  }

  @Test func aRecordIsFoundByAUniqueAttribute() async throws {
    try await withTemporaryStore { temporary in
      var random = temporary.random
      let sample = Sample(name: "a", random: &random)
      try await temporary.store.write { _ = try $0.insert(sample) }
      try temporary.store.read { transaction in
        let a = try transaction.get(Sample.self, where: \.name, is: "a")
        #expect(a?.rank == sample.rank)
        let b = try transaction.get(Sample.self, where: \.name, is: "b")
        #expect(b == nil)
        #expect(
          code { try transaction.get(Sample.self, where: \.rank, is: 1) } == .invalidRequest)
        #expect(
          code { try transaction.get(Sample.self, ObjectID(entity: "Wide", number: 1)) }
            == .invalidRequest)
      }
    }
  }

  @Test func aTypeThatDoesNotFitIsRefusedWithEveryDifference() async throws {
    try await withTemporaryStore { temporary in
      do {
        try temporary.store.require([Sample.self, Misfit.self, Absent.self])
        Issue.record("two types fit that do not")
      } catch let error as StoreError {
        #expect(error.code == .schemaMismatch)
        #expect(
          error.context.map { "\($0.0): \($0.1)" } == [
            "Sample.rank: string here, int64 in the store",
            "Sample.title: required here, optional in the store",
            "Sample.absent: no such attribute", "Absent: no such entity",
          ])
      }
      #expect(
        code {
          try Store.open(at: temporary.store.folder, migrations: [.model], requiring: [Absent.self])
        }
          == .schemaMismatch)
    }
  }

  @Test func aLimitOfNoneGivesNoneAndReadsNothing() async throws {
    try await withTemporaryStore { temporary in
      var random = temporary.random
      let samples = (0..<5).map { Sample(name: "n\($0)", random: &random) }
      try await temporary.store.write { transaction in
        for sample in samples { try transaction.insert(sample) }
      }
      var descriptor = FetchDescriptor<Sample>(
        predicate: .isNotNull("dueAt"), sortBy: [SortDescriptor(\.dueAt, order: .reverse)],
        fetchLimit: 0)
      // The index serves what is asked for, however much of it is taken.
      descriptor.requiresIndex = true
      let found = try temporary.store.fetch(descriptor)
      #expect(found.isEmpty)
      #expect(try temporary.store.count(descriptor) == 0)
      let statistics = try temporary.store.read {
        try $0.forEach(try descriptor.request()) { _ in true }
      }
      #expect(statistics == FetchStatistics())
    }
  }

  @Test func anEnumerationWithoutTheStoredCaseThrows() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let id = try await store.write { try $0.insert("Sample", ["name": "a", "kind": 9]) }
      #expect(code { try store.read { try $0.get(Strict.self, id) } } == .schemaMismatch)
      try await store.write { try $0.update(id) { try $0.set("kind", to: 2) } }
      #expect(try store.read { try $0.get(Strict.self, id) }?.kind == .large)
      try await store.write { try $0.update(id) { try $0.set("kind", to: .null) } }
      #expect(code { try store.read { try $0.get(Strict.self, id) } } == .schemaMismatch)
    }
  }
}

// MARK: The types

/// A type whose attributes include a computed and an observed property.
private struct Computed: Entity {
  static let entityName = "Sample"

  var word: String
  var name: String { word + "!" }
  var rank: Int { didSet { word += "?" } }

  static let attributes: [EntityAttribute<Computed>] = [
    .init("name", \.name), .init("rank", \.rank),
  ]

  init(word: String) {
    self.word = word
    rank = word.count
  }

  init(from record: inout RecordReader) throws {
    self.init(word: try record["name"])
  }
}

struct Sample: Entity {
  var name: String
  var rank: Int
  var code: Int64?
  var price: Decimal?
  var isOpen: Bool?
  var title: String?
  var dueAt: Date?
  var token: UUID?
  var blob: Data?
  var link: URL?
  var tags: [String]?
  var kind: Kind?
  /// A property without an attribute.
  var unnamed = 0

  /// A type that keeps unknown raw values.
  struct Kind: RawRepresentable, AttributeValue, Hashable {
    var rawValue: Int64
    init(rawValue: Int64) { self.rawValue = rawValue }
  }

  static let attributes: [EntityAttribute<Sample>] = [
    .init("name", \.name), .init("rank", \.rank), .init("code", \.code), .init("price", \.price),
    .init("isOpen", \.isOpen), .init("title", \.title), .init("dueAt", \.dueAt),
    .init("token", \.token), .init("blob", \.blob), .init("link", \.link), .init("tags", \.tags),
    .init("kind", \.kind),
  ]

  init(name: String, random: inout SeededRandom) {
    self.name = name
    rank = random.number(-5...5)
    title = random.oneIn(3) ? nil : random.text()
    price = random.oneIn(3) ? nil : random.decimal()
    dueAt = random.oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: random.double())
    token = random.oneIn(3) ? nil : random.uuid()
    blob = random.oneIn(3) ? nil : Data(random.bytes(count: random.number(0...9)))
    link = random.oneIn(3) ? nil : random.url()
    tags = random.oneIn(3) ? nil : [random.text(), random.text()]
    kind = random.oneIn(3) ? nil : Kind(rawValue: Int64(random.number(1...9)))
  }

  /// A type that reads half of its attributes out of order, and one twice.
  init(from record: inout RecordReader) throws {
    kind = try record["kind"]
    name = try record["name"]
    rank = try record["rank"]
    code = try record["code"]
    tags = try record["tags"]
    isOpen = try record["isOpen"]
    title = try record["title"]
    dueAt = try record["dueAt"]
    price = try record["price"]
    token = try record["token"]
    blob = try record["blob"]
    link = try record["link"]
    name = try record["name"]
  }
}

private struct Misfit: Entity {
  var rank: String
  var title: String
  var absent: Int?

  static let entityName = "Sample"
  static let attributes: [EntityAttribute<Misfit>] = [
    .init("rank", \.rank), .init("title", \.title), .init("absent", \.absent),
  ]
  init(from record: inout RecordReader) throws {
    rank = try record["rank"]
    title = try record["title"]
  }
}

private struct Absent: Entity {
  static let attributes: [EntityAttribute<Absent>] = []
  init(from record: inout RecordReader) throws {}
}

private struct Strict: Entity {
  enum Kind: Int64, AttributeValue { case small = 1, large = 2 }
  var kind: Kind

  static let entityName = "Sample"
  static let attributes: [EntityAttribute<Strict>] = [.init("kind", \.kind)]
  init(from record: inout RecordReader) throws { kind = try record["kind"] }
}
