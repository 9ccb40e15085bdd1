import EntityModel
import EntityObjects
import EntityStore
import Migrations
import TestSupport

/// Venues, and what is linked with them by every delete rule.
enum VenueSchema {
  static let source = MigrationSource(embedded: [("0001_venues", Array(text.utf8))])

  static let text = """
    line: venues
    summary: Venues, and what is linked with them
    steps:
      - createEntity:
          name: Venue
          attributes:
            - { name: name, type: string }
            - { name: slug, type: string, optional: true }
            - { name: wins, type: int64, default: 0, min: 0, max: 100 }
            - { name: score, type: double, optional: true }
            - { name: zone, type: string, optional: true, maxLength: 5 }
            - { name: isFavorite, type: bool, default: false }
            - { name: openedAt, type: date, optional: true }
            - { name: level, type: enum, values: { low: 1, high: 2 }, optional: true }
            - { name: photo, type: data, optional: true }
      - createIndex: { on: Venue, name: byName, keys: [name], unique: true }
      - createIndex: { on: Venue, name: bySlug, keys: [slug], unique: true, sparse: true }
      - createIndex: { on: Venue, name: byWins, keys: [wins] }
      - createEntity:
          name: Team
          attributes:
            - { name: name, type: string }
      - createEntity:
          name: Deal
          attributes:
            - { name: name, type: string }
      - createEntity:
          name: Lease
          attributes:
            - { name: name, type: string }
      - createRelationship:
          { on: Team, name: home, to: Venue, inverse: { name: teams, deleteRule: deny } }
      - createRelationship:
          { on: Deal, name: venue, to: Venue, inverse: { name: deals, deleteRule: cascade } }
      - createRelationship:
          { on: Lease, name: venue, to: Venue, optional: false, inverse: { name: leases } }
      - createRelationship:
          { on: Venue, name: owner, to: Venue, inverse: { name: owned, deleteRule: deny } }
      - createRelationship:
          { on: Venue, name: annexOf, to: Venue, inverse: { name: annexes, deleteRule: cascade } }
    """
}

struct Venue: Entity {
  var name: String
  var wins: Int64
  var owner: ToOne<Venue>?

  static let attributes: [EntityAttribute<Venue>] = [
    .init("name", \.name), .init("wins", \.wins),
  ]
  static let relationships: [EntityRelationship<Venue>] = [.init("owner", \.owner)]

  init(name: String, wins: Int64, owner: ToOne<Venue>? = nil) {
    (self.name, self.wins, self.owner) = (name, wins, owner)
  }

  init(from record: inout RecordReader) throws {
    name = try record["name"]
    wins = try record["wins"]
    owner = try record["owner"]
  }
}

/// Runs `body` with a store of venues `v0`, `v1` and so on; the number of wins is that in the name.
func withVenues<R>(
  _ count: Int = 0, isolation: isolated (any Actor)? = #isolation,
  _ body: (TemporaryStore) async throws -> R
) async throws -> R {
  try await withTemporaryStore(migrations: [VenueSchema.source]) { temporary in
    try await temporary.store.write { transaction in
      for number in 0..<count {
        try transaction.insert(
          "Venue", ["name": .string("v\(number)"), "wins": .int64(Int64(number))])
      }
    }
    return try await body(temporary)
  }
}

func venue(_ number: Int64) -> ObjectID { ObjectID(entity: "Venue", number: number) }

extension Store {
  /// The values of an attribute of all records, in the order of their numbers.
  func column(_ attribute: String, of entity: String = "Venue") throws -> [Value] {
    try fetch(FetchRequest(entityName: entity)).map { try $0[attribute] }
  }

  /// How many writes are under way.
  var chunkedWrites: Int { get throws { try read { try $0.count(of: "_ChunkedWrite") } } }
}

extension BatchRequestOptions {
  /// Options with small chunks whose size does not depend on the speed of the machine.
  static func chunks(of rows: Int, without: Set<BatchOption> = []) -> BatchRequestOptions {
    var options = BatchRequestOptions(without: without)
    options.chunkRows = rows
    options.chunkDuration = .seconds(600)
    return options
  }
}
