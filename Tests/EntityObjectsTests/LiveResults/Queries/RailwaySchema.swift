import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport

extension MigrationSource {
  /// A schema with every kind of attribute and relationship that live results must follow.
  static let railway = MigrationSource(embedded: [("0001_railway", Array(Railway.text.utf8))])
}

/// Random changes and requests of a railway, the same for the same seed.
enum Railway {
  static let text = """
    line: railway
    summary: Trains, their stations and their owners
    steps:
      - createEntity:
          name: Station
          attributes:
            - { name: code, type: string }
            - { name: name, type: string, optional: true }
      - createIndex: { on: Station, name: byCode, keys: [code], unique: true }
      - createEntity:
          name: Owner
          attributes: [ { name: name, type: string, optional: true } ]
      - createEntity:
          name: Train
          attributes:
            - { name: label, type: string, optional: true }
            - { name: note, type: string, optional: true }
            - { name: speed, type: double, optional: true }
            - { name: price, type: decimal, optional: true }
            - { name: site, type: url, optional: true }
            - { name: tags, type: strings, optional: true }
            - { name: leftAt, type: date, optional: true }
            - { name: serial, type: uuid, optional: true }
            - { name: payload, type: data, optional: true }
            - { name: isLate, type: bool, default: false }
            - { name: stationCode, type: string, optional: true }
      - createIndex: { on: Train, name: byNote, keys: [note desc, speed] }
      - createIndex: { on: Train, name: bySpeed, keys: [speed, price desc] }
      - createIndex: { on: Train, name: byLabel, keys: [label] }
      - createRelationship:
          on: Train
          name: station
          to: Station
          key: { stationCode: code }
          inverse: { name: trains, deleteRule: noAction }
      - createRelationship: { on: Train, name: owner, to: Owner, inverse: { name: owned, deleteRule: noAction } }
      - createRelationship: { on: Train, name: driver, to: Owner, inverse: { name: drives, many: false } }
      - createRelationship: { on: Train, name: mate, to: Train, inverse: { name: mateOf, many: false } }
      - createRelationship: { on: Train, name: stops, to: Station, many: true, inverse: { name: stopping, many: true } }
    """

  // MARK: Changes

  static func change(
    _ transaction: WriteTransaction, using random: inout SeededRandom
  ) throws {
    transaction.recordsHistory = Int.random(in: 0..<12, using: &random) > 0
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      // What is refused has changed nothing.
      do { try changeOnce(transaction, using: &random) } catch is StoreError {}
      if Int.random(in: 0..<20, using: &random) == 0 { transaction.recordsHistory.toggle() }
    }
  }

  private static func changeOnce(
    _ transaction: WriteTransaction, using random: inout SeededRandom
  ) throws {
    func any(_ entity: String, _ random: inout SeededRandom) throws -> ObjectID {
      let ids = try transaction.fetchIdentifiers(FetchRequest(entityName: entity))
      // Sometimes one that is not there.
      return ids.randomElement(using: &random) ?? ObjectID(entity: entity, number: 99_999)
    }
    let kind = Int.random(in: 0..<24, using: &random)
    switch kind {
    case 0..<5: try transaction.insert("Train", train(using: &random))
    case 5..<7: try transaction.delete(try any("Train", &random))
    case 7: try transaction.insert("Station", station(using: &random))
    case 8: try transaction.delete(try any("Station", &random))
    case 9:
      let values = station(using: &random)
      try transaction.update(try any("Station", &random)) {
        for (name, value) in values { try $0.set(name, to: value) }
      }
    case 10:
      try transaction.insert("Owner", ["name": texts.randomElement(using: &random) ?? .null])
    case 11: try transaction.delete(try any("Owner", &random))
    case 12..<16:
      let name = ["owner", "driver", "mate", "station"].randomElement(using: &random) ?? ""
      let entity = ["mate": "Train", "station": "Station"][name] ?? "Owner"
      let other = try any(entity, &random)
      try transaction.setRelated(
        try any("Train", &random), name,
        to: Int.random(in: 0..<4, using: &random) == 0 ? nil : other)
    case 16..<18:
      let missing = ObjectID(entity: "Station", number: 99_999)
      let fails = Int.random(in: 0..<4, using: &random) == 0
      try transaction.addRelated(
        [try any("Station", &random)] + (fails ? [missing] : []),
        to: try any("Train", &random), "stops")
    case 18:
      try transaction.removeRelated(
        [try any("Train", &random)], from: try any("Station", &random), "stopping")
    default:
      let values = train(using: &random)
      let names = values.keys.sorted().shuffled(using: &random).prefix(3)
      try transaction.update(try any("Train", &random)) { record in
        for name in names { try record.set(name, to: values[name] ?? .null) }
      }
    }
  }

  private static let texts: [Value] = [
    .null, "", "a", "A", "a\0", "a\0b", "e\u{301}", "\u{E9}", "f", "ß", "ss", "10", "9", "Ä", "z",
    .string(String(repeating: "x", count: 700)), .string(String(repeating: "x", count: 700) + "y"),
    .string(String(repeating: "\0", count: 300)),
  ]

  private static func station(using random: inout SeededRandom) -> [String: Value] {
    [
      "code": .string(String(Int.random(in: 0..<6, using: &random))),
      "name": texts.randomElement(using: &random) ?? .null,
    ]
  }

  private static func train(using random: inout SeededRandom) -> [String: Value] {
    func one(_ values: [Value], _ random: inout SeededRandom) -> Value {
      values.randomElement(using: &random) ?? .null
    }
    return [
      "label": one(texts, &random), "note": one(texts, &random),
      "speed": one(
        [.null, 0.0, -0.0, 1.0, -1.5, .double(.infinity), .double(.leastNonzeroMagnitude)],
        &random),
      "price": one(
        [
          .null, .decimal(0), .decimal(1),
          .decimal(Decimal(sign: .minus, exponent: -2, significand: 350)),
          .decimal(Decimal(sign: .plus, exponent: 30, significand: 1)), .decimal(10),
        ], &random),
      "site": one(
        [.null]
          + ["http://a", "http://a/%C3%A9", "b:c"].compactMap { URL(string: $0).map(Value.url) },
        &random),
      "tags": one(
        [
          .null, .strings([]), .strings([""]), .strings(["a"]), .strings(["a", ""]),
          .strings(["a", "\0"]), .strings(["x", "a"]),
        ], &random),
      "leftAt": one(
        [.null] + [0, -1, 1e9, 0.5].map { .date(Date(timeIntervalSinceReferenceDate: $0)) },
        &random),
      "serial": one(
        [.null]
          + ["00000000-0000-0000-0000-000000000001", "F0000000-0000-0000-0000-000000000000"]
          .compactMap { UUID(uuidString: $0).map(Value.uuid) }, &random),
      "payload": one([.null, .data(Data()), .data(Data([0])), .data(Data([0, 255]))], &random),
      "isLate": .bool(Bool.random(using: &random)),
      "stationCode": one([.null, "0", "1", "2", "3"], &random),
    ]
  }

  // MARK: Requests

  private static let predicates: [String: [String]] = [
    "Train": [
      "TRUEPREDICATE", "station.name == 'a'", "station == nil", "station.name == nil",
      "owner == nil", "owner != nil", "owner.name < 'f'", "mate.isLate == TRUE", "mateOf == nil",
      "mateOf.mate.speed > -2", "mate.mate.isLate == FALSE", "driver.name == 'a'",
      "driver.drives.isLate == TRUE", "stops.@count > 1", "stops.@count == 0",
      "ANY stops.name != 'q'", "ANY stops.stopping.isLate == TRUE",
      "ANY station.trains.isLate == TRUE", "ANY owner.owned.speed >= 0", "ANY tags == 'a'",
      "tags.@count > 1", "tags CONTAINS ''", "speed == 0", "speed > 0",
      "speed == 0 AND isLate == TRUE",
      "price >= 1", "label ==[c] 'a'", "label ==[l] '9'", "note BEGINSWITH 'x'", "note == nil",
      "ALL stops.name == 'a'", "NOT (station.name == 'a')", "stationCode == '1'",
      "ANY stops SATISFIES (name == 'a' OR code == '1')", "speed > price",
      "isLate == FALSE OR owner == nil",
    ],
    "Station": [
      "TRUEPREDICATE", "ANY trains.speed >= 0", "trains.@count == 0", "ANY stopping.isLate == TRUE",
      "ANY trains.owner.name == 'a'", "trains.@max.speed > 0", "stopping.@count > 1",
      "ALL trains.isLate == TRUE", "ANY stopping.owner != nil", "code > '2'",
      "ANY trains.mate.isLate == TRUE",
    ],
    "Owner": [
      "TRUEPREDICATE", "drives == nil", "drives != nil", "drives.isLate == TRUE",
      "ANY owned.speed == 0", "owned.@count > 0", "drives.station.name == nil",
      "ANY owned.stops.name == 'a'", "name == nil",
    ],
  ]

  private static let paths: [String: [String]] = [
    "Train": [
      "label", "note", "speed", "price", "site", "tags", "leftAt", "serial", "payload", "isLate",
      "station.name", "owner.name", "mate.label", "mateOf.speed", "driver.name", "station.code",
    ],
    "Station": ["code", "name"],
    "Owner": ["name", "drives.speed", "drives.mate.leftAt"],
  ]

  static func request(
    using random: inout SeededRandom
  ) throws -> (FetchRequest, sectionBy: String?) {
    let entity = ["Train", "Train", "Station", "Owner"].randomElement(using: &random) ?? ""
    var request = FetchRequest(entityName: entity)
    let text = predicates[entity]?.randomElement(using: &random) ?? ""
    if text != "TRUEPREDICATE" { request.predicate = try FetchPredicate(format: text) }
    for path in (paths[entity] ?? []).shuffled(using: &random)
      .prefix(Int.random(in: 0...3, using: &random))
    {
      let isText = ["label", "note", "name"].contains { path.hasSuffix($0) }
      let collation: Collation =
        isText
        ? [.binary, .caseInsensitive, .localizedStandard("de")].randomElement(using: &random)
          ?? .binary : .binary
      request.sortBy.append(
        SortKey(path, descending: Bool.random(using: &random), collation: collation))
    }
    if Bool.random(using: &random) {
      request.fetchLimit = Int.random(in: 1...9, using: &random)
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      request.fetchOffset = Int.random(in: 0...9, using: &random)
    }
    let first = request.sortBy.first
    let isDivided = first?.collation == .binary && Bool.random(using: &random)
    return (request, isDivided ? first?.path : nil)
  }
}
