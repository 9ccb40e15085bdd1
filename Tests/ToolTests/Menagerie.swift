import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

/// A store with every kind of value and of relationship, and with names that are words of SQL.
struct Menagerie {
  static let migration = """
    line: menagerie
    summary: Every kind of value and of link
    steps:
      - createEntity:
          name: Order
          attributes:
            - { name: group, type: int64, default: 0 }
            - { name: select, type: double, optional: true }
            - { name: price, type: decimal, optional: true }
            - { name: isOpen, type: bool, optional: true }
            - { name: title, type: string, optional: true }
            - { name: dueAt, type: date, optional: true }
            - { name: token, type: uuid, optional: true }
            - { name: blob, type: data, optional: true }
            - { name: link, type: url, optional: true }
            - { name: tags, type: strings, optional: true }
            - { name: kind, type: enum, values: { small: 1, large: 2 }, optional: true }
            - { name: state, type: enum, values: [fresh, played], optional: true }
            - { name: code, type: string }
            - { name: ownerCode, type: string, optional: true }
      - createEntity:
          name: Table
          attributes: [{ name: code, type: string }, { name: index, type: string, optional: true }]
      - createIndex: { on: Order, name: byCode, keys: [code], unique: true }
      - createIndex: { on: Table, name: byCode, keys: [code], unique: true }
      - createIndex: { on: Order, name: byTitle, keys: [title caseInsensitive desc, group] }
      - createIndex: { on: Order, name: byTag, keys: [tags] }
      - createIndex: { on: Order, name: byDue, keys: [dueAt desc], sparse: true }
      - createRelationship:
          { on: Order, name: table, to: Table, inverse: { name: orders, ordered: true } }
      - createRelationship:
          { on: Order, name: owner, to: Table, key: { ownerCode: code }, inverse: { name: owned, deleteRule: noAction } }
      - createRelationship: { on: Table, name: extras, to: Order, many: true }
      - createRelationship: { on: Table, name: friends, to: Table, many: true, inverse: { name: friends } }
      - createRelationship: { on: Table, name: spouse, to: Table, inverse: { name: spouse, many: false } }
      - createRelationship:
          { on: Order, name: keepers, to: Table, many: true, ordered: true, inverse: { name: keeps, ordered: true } }
      - createRelationship:
          { on: Order, name: last, to: Order, inverse: { name: lasts, deleteRule: noAction } }
    """

  let folder: TemporaryFolder

  var store: String { folder.path("store") }
  var environment: [String: String] { ["MOORING_MIGRATIONS": folder.path("migrations")] }

  /// Creates an empty store.
  func create(_ store: String) throws {
    let migrations = folder.path("migrations")
    try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
    try Data(Self.migration.utf8).write(to: URL(filePath: migrations + "/0001_menagerie.yaml"))
    let up = try mooring("migrate", "up", store: store, environment: environment)
    #expect(up.status == 0, "\(up.errors)")
  }

  func open(_ store: String) throws -> Store {
    try openStore(at: store, migrations: [], migrate: .never)
  }

  /// Fills the store with random records and links, among which are gaps of deleted records.
  func fill(seed: UInt64, records: Int = 120) async throws {
    try create(store)
    let store = try open(store)
    try await store.write(author: "test") { transaction in
      var random = SeededRandom(seed: testSeed(seed))
      var orders: [ObjectID] = []
      var tables: [ObjectID] = []
      let order = try transaction.description(of: "Order").attributes
        .filter { !$0.isHidden && $0.name != "table" && $0.name != "last" }
      for number in 0..<records {
        var values: [String: Value] = [:]
        for (attribute, value) in zip(order, random.row(of: order)) {
          values[attribute.name] = value
        }
        values["code"] = .string("order \(number)")
        values["ownerCode"] = random.oneIn(3) ? .null : .string("table \(random.number(0...9))")
        orders.append(try transaction.insert("Order", values))
        if number % 8 == 0 {
          let index = random.oneIn(2) ? Value.null : .string(random.text())
          tables.append(
            try transaction.insert(
              "Table", ["code": .string("table \(number / 8)"), "index": index]))
        }
      }
      for order in orders {
        if random.oneIn(2) { try transaction.setRelated(order, "table", to: random.pick(tables)) }
        if random.oneIn(2) { try transaction.setRelated(order, "last", to: random.pick(orders)) }
        let keepers = Set((0..<random.number(0...4)).map { _ in random.pick(tables) })
        try transaction.addRelated(
          keepers.sorted { $0.number < $1.number }, to: order, "keepers")
      }
      for table in tables {
        try transaction.addRelated([random.pick(tables)], to: table, "friends")
        try transaction.addRelated([random.pick(orders)], to: table, "extras")
        if random.oneIn(2) { try transaction.setRelated(table, "spouse", to: random.pick(tables)) }
      }
      for order in orders where random.oneIn(5) { try transaction.delete(order) }
    }
  }

  /// Returns all records of the store, and where all of its relationships lead.
  func content(_ store: Store) throws -> [String] {
    try store.read { transaction in
      try transaction.schema.entities.sorted { $0.name < $1.name }.flatMap { entity in
        try transaction.fetch(FetchRequest(entityName: entity.name)).flatMap { record in
          let values = record.fields.map { "\(record.id) \($0.name)=\($0.value.exactJSON)" }
          return try values
            + entity.relationships.map { relationship in
              let others = try transaction.related(record.id, relationship.name)
              return "\(record.id) \(relationship.name): \(others.map(\.description))"
            }
        }
      }
    }
  }
}

/// Runs `body` with a store of random content.
func withMenagerie(seed: UInt64, _ body: (Menagerie) throws -> Void) async throws {
  try await withTemporaryFolder { folder async throws in
    let menagerie = Menagerie(folder: folder)
    try await menagerie.fill(seed: seed)
    try body(menagerie)
    try requireClean(try menagerie.open(menagerie.store))
  }
}
