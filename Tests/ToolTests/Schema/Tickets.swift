public import EntityStore
public import Foundation

public struct Ticket: Entity {
  public var number: Int64
  public var `class`: String
  public var type: TypeValue
  public var state: State?
  public var score: Double
  public var isOpen: Bool
  public var price: Decimal?
  public var dueAt: Date?
  public var madeAt: Date
  public var token: UUID?
  public var blob: Data?
  public var link: URL?
  public var labels: [String]
  public var record: String?
  public var initValue: Int64?
  public var holder: ToOne<Person>
  public var source: ToOne<DataRecord>?

  public struct TypeValue: RawRepresentable, AttributeValue, Codable, Hashable {
    public var rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let free = TypeValue(rawValue: 1)
    public static let inProgress = TypeValue(rawValue: 2)
    public static let selfValue = TypeValue(rawValue: 3)
    public static let _1st = TypeValue(rawValue: 4)
  }

  public struct State: RawRepresentable, AttributeValue, Codable, Hashable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let new = State(rawValue: "new")
    public static let `default` = State(rawValue: "default")
    public static let halfDone = State(rawValue: "half-done")
  }

  public static let attributes: [EntityAttribute<Ticket>] = [
    .init("number", \.number),
    .init("class", \.`class`),
    .init("type", \.type),
    .init("state", \.state),
    .init("score", \.score),
    .init("isOpen", \.isOpen),
    .init("price", \.price),
    .init("dueAt", \.dueAt),
    .init("madeAt", \.madeAt),
    .init("token", \.token),
    .init("blob", \.blob),
    .init("link", \.link),
    .init("labels", \.labels),
    .init("record", \.record),
    .init("init", \.initValue),
  ]
  public static let relationships: [EntityRelationship<Ticket>] = [
    .init("holder", \.holder),
    .init("source", \.source),
  ]

  public init(from record: inout RecordReader) throws {
    self.number = try record["number"]
    self.`class` = try record["class"]
    self.type = try record["type"]
    self.state = try record["state"]
    self.score = try record["score"]
    self.isOpen = try record["isOpen"]
    self.price = try record["price"]
    self.dueAt = try record["dueAt"]
    self.madeAt = try record["madeAt"]
    self.token = try record["token"]
    self.blob = try record["blob"]
    self.link = try record["link"]
    self.labels = try record["labels"]
    self.record = try record["record"]
    self.initValue = try record["init"]
    self.holder = try record["holder"]
    self.source = try record["source"]
  }

  public init(
    number: Int64,
    `class`: String = "a \"quoted\" \\ one",
    type: TypeValue = TypeValue.free,
    state: State? = nil,
    score: Double = 0.5,
    isOpen: Bool = true,
    price: Decimal? = nil,
    dueAt: Date? = nil,
    madeAt: Date,
    token: UUID? = nil,
    blob: Data? = nil,
    link: URL? = nil,
    labels: [String] = ["a", "b"],
    record: String? = "x",
    initValue: Int64? = nil,
    holder: ToOne<Person>,
    source: ToOne<DataRecord>? = nil
  ) {
    self.number = number
    self.`class` = `class`
    self.type = type
    self.state = state
    self.score = score
    self.isOpen = isOpen
    self.price = price
    self.dueAt = dueAt
    self.madeAt = madeAt
    self.token = token
    self.blob = blob
    self.link = link
    self.labels = labels
    self.record = record
    self.initValue = initValue
    self.holder = holder
    self.source = source
  }
}

public struct DataRecord: Entity {
  public var selfValue: Int64?
  public var data: DataValue?

  public struct DataValue: RawRepresentable, AttributeValue, Codable, Hashable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let none = DataValue(rawValue: "none")
  }

  public static let entityName = "Data"
  public static let attributes: [EntityAttribute<DataRecord>] = [
    .init("self", \.selfValue),
    .init("data", \.data),
  ]

  public init(from record: inout RecordReader) throws {
    self.selfValue = try record["self"]
    self.data = try record["data"]
  }

  public init(
    selfValue: Int64? = nil,
    data: DataValue? = DataValue.none
  ) {
    self.selfValue = selfValue
    self.data = data
  }
}

public struct Person: Entity {
  public var name: String
  public var tickets = ToMany<Ticket>("tickets")

  public static let attributes: [EntityAttribute<Person>] = [.init("name", \.name)]
  public static let relationships: [EntityRelationship<Person>] = [.init("tickets", \.tickets)]

  public init(from record: inout RecordReader) throws {
    self.name = try record["name"]
    self.tickets = try record["tickets"]
  }

  public init(
    name: String
  ) {
    self.name = name
  }
}
