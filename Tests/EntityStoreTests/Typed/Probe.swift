import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport

/// An entity with an attribute of every type, with and without null. Its values are drawn from few,
/// so that predicates often match.
struct Probe: Entity, Equatable {
  var name: String
  var number: Int
  var level: Int64?
  var share: Double
  var ratio: Double?
  var cost: Decimal
  var price: Decimal?
  var isDone: Bool
  var isOpen: Bool?
  var body: String
  var title: String?
  var madeAt: Date
  var dueAt: Date?
  var token: UUID?
  var blob: Data?
  var link: URL?
  var words: [String]
  var tags: [String]?
  var state: State
  var kind: Kind?
  var grade: Stored<Grade>?
  /// A property that is no attribute, but holds one.
  var place = Place()

  enum State: String, AttributeValue, Codable { case fresh, played }

  struct Kind: RawRepresentable, AttributeValue, Hashable, Codable {
    var rawValue: Int64
    static let small = Kind(rawValue: 1)
  }

  enum Grade: Int64 { case low = 1, high = 2 }

  struct Place: Equatable, Codable {
    var row: Int64?
  }

  static let attributes: [EntityAttribute<Probe>] = [
    .init("name", \.name), .init("number", \.number), .init("level", \.level),
    .init("share", \.share), .init("ratio", \.ratio), .init("cost", \.cost),
    .init("price", \.price), .init("isDone", \.isDone), .init("isOpen", \.isOpen),
    .init("body", \.body), .init("title", \.title), .init("madeAt", \.madeAt),
    .init("dueAt", \.dueAt), .init("token", \.token), .init("blob", \.blob),
    .init("link", \.link), .init("words", \.words), .init("tags", \.tags),
    .init("state", \.state), .init("kind", \.kind), .init("grade", \.grade),
    .init("row", \.place.row),
  ]

  init(from record: inout RecordReader) throws {
    name = try record["name"]
    number = try record["number"]
    level = try record["level"]
    share = try record["share"]
    ratio = try record["ratio"]
    cost = try record["cost"]
    price = try record["price"]
    isDone = try record["isDone"]
    isOpen = try record["isOpen"]
    body = try record["body"]
    title = try record["title"]
    madeAt = try record["madeAt"]
    dueAt = try record["dueAt"]
    token = try record["token"]
    blob = try record["blob"]
    link = try record["link"]
    words = try record["words"]
    tags = try record["tags"]
    state = try record["state"]
    kind = try record["kind"]
    grade = try record["grade"]
    place.row = try record["row"]
  }

  init(name: String, random: inout SeededRandom) {
    self.name = name
    number = random.pick([-1, 0, 1, 2, 5])
    level = random.orNull([0, 1, 2, 5])
    share = random.pick([0, 0.5, 1])
    ratio = random.orNull([-0.5, 0, 0.5, 1])
    cost = random.pick([0, Decimal(string: "9.99") ?? 1, 10])
    price = random.orNull([0, Decimal(string: "9.99") ?? 1, 10])
    isDone = random.oneIn(2)
    isOpen = random.orNull([false, true])
    body = random.pick(Probe.texts)
    title = random.orNull(Probe.texts)
    madeAt = random.pick(Probe.days)
    dueAt = random.orNull(Probe.days)
    token = random.orNull(Probe.tokens)
    blob = random.orNull([Data(), Data([0]), Data([1, 255])])
    link = random.orNull(Probe.links)
    words = random.pick([[], ["a"], ["a", "b"], ["abc", "x"], ["x", "x"]])
    tags = random.orNull([[], ["a"], ["a", "b"], ["abc", "x"], ["x", "x"]])
    state = random.pick([.fresh, .played])
    kind = random.orNull([.small, Kind(rawValue: 2), Kind(rawValue: 9)])
    grade = random.orNull([Stored(.low), Stored(.high), Stored(rawValue: 7)])
    place.row = random.orNull([1, 2])
  }

  static let texts = ["", "a", "A", "b", "abc", "ABD", "cab", "é", "Übung", "x y"]
  static let days = (0..<4).map { Date(timeIntervalSinceReferenceDate: Double($0) * 86_400) }
  static let tokens = (1...3).map {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0)))
  }
  static let links = ["https://a.example", "https://b.example/x"].compactMap { URL(string: $0) }
}

extension SeededRandom {
  fileprivate mutating func pick<T>(_ values: [T]) -> T { values[number(0...values.count - 1)] }
  fileprivate mutating func orNull<T>(_ values: [T]) -> T? { oneIn(3) ? nil : pick(values) }
}

extension MigrationSource {
  static let probes = MigrationSource(embedded: [("0001_probes", Array(probeSchema.utf8))])
}

private let probeSchema = """
  line: probes
  summary: An entity with every type of attribute, with and without null
  steps:
    - createEntity:
        name: Probe
        attributes:
          - { name: name, type: string }
          - { name: number, type: int64 }
          - { name: level, type: int64, optional: true }
          - { name: share, type: double }
          - { name: ratio, type: double, optional: true }
          - { name: cost, type: decimal }
          - { name: price, type: decimal, optional: true }
          - { name: isDone, type: bool }
          - { name: isOpen, type: bool, optional: true }
          - { name: body, type: string }
          - { name: title, type: string, optional: true }
          - { name: madeAt, type: date }
          - { name: dueAt, type: date, optional: true }
          - { name: token, type: uuid, optional: true }
          - { name: blob, type: data, optional: true }
          - { name: link, type: url, optional: true }
          - { name: words, type: strings }
          - { name: tags, type: strings, optional: true }
          - { name: state, type: enum, values: [fresh, played] }
          - { name: kind, type: enum, values: { small: 1, large: 2 }, optional: true }
          - { name: grade, type: int64, optional: true }
          - { name: row, type: int64, optional: true }
    - createIndex: { on: Probe, name: byName, keys: [name], unique: true }
    - createIndex: { on: Probe, name: byLevel, keys: [level, title desc] }
    - createIndex: { on: Probe, name: byTitle, keys: [title] }
    - createIndex: { on: Probe, name: byDue, keys: [dueAt desc], sparse: true }
    - createIndex: { on: Probe, name: byTag, keys: [tags] }
    - createIndex: { on: Probe, name: byOpen, keys: [isOpen, ratio] }
  """
