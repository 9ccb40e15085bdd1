import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Migrations
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub
@testable import StoreTables

@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct TablesTests {
  private static let everyType: [String: Value] = [
    "name": "every type", "rank": .int64(.min), "code": .int64(.max), "score": .double(0.1),
    "price": .decimal(Decimal(string: "12345678901234567890.00000000001") ?? 0),
    "isOpen": .bool(true), "title": "\"quoted\" \\ 日本語 \u{1}\n", "token": .uuid(UUID()),
    "dueAt": .date(Date(timeIntervalSince1970: 1_800_000_000.123456)),
    "blob": .data(Data((0...255).map { UInt8($0) })), "tags": .strings(["a,b", "{}", "", "\"\\"]),
    "kind": .int64(2), "state": "played", "note": "",
  ]

  @Test func everyTypeOfValueIsInAColumnOfItsType() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      var values = Self.everyType
      values["link"] = .url(try #require(URL(string: "https://example.org/a?b=c")))
      let all = values
      try await store.write { transaction in
        _ = try transaction.insert("Sample", all)
        _ = try transaction.insert(
          "Sample",
          [
            "name": "extremes", "score": .double(-.leastNonzeroMagnitude), "blob": .data(Data()),
            "tags": .strings([]), "dueAt": .date(.distantPast),
          ])
        _ = try transaction.insert(
          "Sample", ["name": "more", "score": .double(.greatestFiniteMagnitude)])
      }
      let report = try hub.writer("first", store).update(adding: ["Sample"])
      #expect(report.tables.map(\.written) == [4])
      #expect(report.tables.map(\.isFilled) == [true])
      try requireTable("Sample", of: store, in: hub)
      let types = try hub.texts(
        """
        SELECT column_name || ' ' || data_type FROM information_schema.columns
        WHERE table_schema = '\(hub.schema.dropFirst().dropLast())' AND table_name = 'Sample'
        ORDER BY ordinal_position
        """)
      #expect(
        types == [
          "_id bigint", "name text", "rank bigint", "code bigint", "score double precision",
          "price numeric", "isOpen boolean", "title text", "dueAt timestamp with time zone",
          "token uuid", "blob bytea", "link text", "tags ARRAY", "kind bigint", "state text",
          "note text", "label text", "_unrepresentable ARRAY",
        ])
      let lacking = "SELECT 1 FROM \(hub.schema).\"Sample\" WHERE _unrepresentable <> '{}'"
      #expect(try hub.texts(lacking) == [])
    }
  }

  @Test func whatPostgreSQLLacksIsNullAndNamed() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let id = try await store.write { transaction in
        try transaction.insert(
          "Sample",
          [
            "name": "zero\0", "title": "fine", "tags": .strings(["fine", "\0"]),
            "dueAt": .date(Date(timeIntervalSince1970: 1e13)),
          ])
      }
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      let select =
        "SELECT concat_ws('|', name, title, tags, \"dueAt\", _unrepresentable) "
        + "FROM \(hub.schema).\"Sample\" WHERE _id = \(id.number)"
      #expect(try hub.texts(select) == ["fine|{name,dueAt,tags}"])
      try await store.write { try $0.update(id) { try $0.set("name", to: "one") } }
      _ = try writer.update()
      #expect(try hub.texts(select) == ["one|fine|{dueAt,tags}"])
    }
  }

  @Test func datesAreThoseOfTheServer() throws {
    let server = try HubServer.shared()
    var connection = try Connection(
      try ConnectionString(server.connectionText), until: .now + .seconds(10))
    var random = SeededRandom(seed: 11)
    var seconds = [-0.000_001, 951_782_400, -62_135_596_800, -62_198_755_200, 253_402_300_800]
    seconds += (0..<200).map { _ in Double.random(in: -2.1e11...9.2e12, using: &random).rounded() }
    seconds.append(-210_866_803_200)
    for seconds in seconds {
      let text = try #require(TimestampText.of(Date(timeIntervalSince1970: seconds)), "\(seconds)")
      let read = try connection.rows(
        Statement("SELECT extract(epoch FROM $1::text::timestamptz)::float8", .text(text)),
        until: .now + .seconds(10)
      ) { try $0.double(0) }
      #expect(read == [seconds], "seed \(random.seed): \(text)")
    }
    for seconds: Double in [-210_866_803_201, 9_224_318_016_000, 1e300, -.nan] {
      #expect(TimestampText.of(Date(timeIntervalSince1970: seconds)) == nil)
    }
    #expect(TimestampText.of(Date(timeIntervalSince1970: .infinity)) == "infinity")
    let last = Date(timeIntervalSince1970: 9_224_318_015_999)
    #expect(TimestampText.of(last) == "294276-12-31 23:59:59.000000+00")
  }

  @Test(arguments: [1, 2] as [UInt64])
  func tablesFollowRandomChangesOfRecordsAndLinks(seed: UInt64) async throws {
    print("tables of a league: seed \(seed)")
    var random = SeededRandom(seed: seed)
    try await withLeague { hub, store in
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Team", "Player"])
      for _ in 0..<25 {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let changes = random
          random = try await store.write(author: "ui") { transaction in
            var changes = changes
            try League.change(transaction, using: &changes)
            return changes
          }
        }
        let report = try writer.update()
        #expect(report.tables.map(\.isFilled) == [false, false])
        try requireTable("Team", of: store, in: hub)
        try requireTable("Player", of: store, in: hub)
      }
      let teams = try store.read { try $0.fetchIdentifiers(FetchRequest(entityName: "Team")) }
      try await store.write { transaction in
        try transaction.addRelated([teams[0], teams[1]], to: teams[2], "rivals")
      }
      _ = try writer.update()
      try requireTable("Team", of: store, in: hub)
      #expect(try hub.texts("SELECT 1 FROM \(hub.schema).\"Team\" WHERE rivals <> '{}'").count > 2)
      #expect(try writer.update().isUnchanged)
    }
  }

  @Test func aTransactionOfManyChangesIsWrittenInParts() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      try await store.write { transaction in
        for number in 0..<2_500 {
          _ = try transaction.insert("Sample", ["name": .string("many \(number)")])
        }
      }
      var steps: [Int] = []
      let report = try writer.update { steps.append($0.done) }
      #expect(report.tables.map(\.written) == [2_500])
      #expect(steps == [1_000, 2_000, 2_500])
      try requireTable("Sample", of: store, in: hub)
    }
  }

  @Test func aRepeatedUpdateWritesNothing() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      try hub.noteRows(of: "Sample")
      try await insert("new", into: store)
      #expect(try writer.update().tables.map(\.written) == [1])
      #expect(try hub.takeNotes().count == 1)
      #expect(try writer.update(adding: ["Sample"]).isUnchanged)
      #expect(try hub.takeNotes() == [])
    }
  }

  // MARK: Filling

  @Test func aTableWithoutHistoryIsFilledAndThenFollows() async throws {
    try await withHub { hub in
      let clock = ManualClock()
      var hub = hub
      hub.clock = clock
      try await hub.create()
      let store = try hub.open("first")
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      try hub.run("CREATE VIEW \(hub.schema).names AS SELECT name FROM \(hub.schema).\"Sample\"")
      let first = try await store.write { try $0.insert("Sample", ["name": "a"]) }
      clock.advance(by: 40 * 86_400)
      try await store.write { _ = try $0.delete(first) }
      clock.advance(by: 40 * 86_400)
      try await insert("b", into: store)
      #expect(try writer.update().tables.map(\.isFilled) == [true])
      try requireTable("Sample", of: store, in: hub)
      #expect(try hub.texts("SELECT name FROM \(hub.schema).names ORDER BY 1").count == 2)
      try await insert("c", into: store)
      #expect(try writer.update().tables.map(\.isFilled) == [false])
      try requireTable("Sample", of: store, in: hub)
    }
  }

  @Test func aTableWithAnUnreadablePositionIsFilled() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      let foreign = try await otherToken()
      for token in ["nonsense", foreign] {
        try hub.run("UPDATE \(hub.schema)._position SET token = '\(token)'")
        #expect(try writer.update().tables.map(\.isFilled) == [true])
      }
      try requireTable("Sample", of: store, in: hub)
    }
  }

  @Test func changesThatTheHistoryDoesNotHaveFillTheTable() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      try await insert("with history", into: store)
      try await store.write { transaction in
        transaction.recordsHistory = false
        _ = try transaction.insert("Sample", ["name": "without"])
      }
      try await insert("with history again", into: store)
      #expect(try writer.update().tables.map(\.isFilled) == [true])
      try requireTable("Sample", of: store, in: hub)
      #expect(try writer.update().isUnchanged)
    }
  }

  @Test func aMigrationChangesTheTable() async throws {
    try await withHub { hub in
      try await hub.create()
      _ = try hub.writer("first", try hub.open("first")).update(adding: ["Sample"])
      var grown = hub
      grown.migrations = [.grownModel, .jobs]
      let store = try grown.open("first")
      try store.migrate()
      let writer = try hub.writer("first", store)
      let report = try writer.update()
      #expect(report.tables.map(\.isFilled) == [true])
      try requireTable("Sample", of: store, in: hub)
      #expect(try hub.texts("SELECT level::text FROM \(hub.schema).\"Sample\"") == ["3"])
      try await insert("new", into: store)
      #expect(try writer.update().tables.map(\.isFilled) == [false])
      try requireTable("Sample", of: store, in: hub)
    }
  }

  @Test func entitiesMayExchangeTheirNamesOrDisappear() async throws {
    try await withLeague { hub, store in
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Team", "Player"])
      // As if the migrations of the store had had other results.
      try hub.run(
        "UPDATE \(hub.schema)._table SET name = name || '?'",
        "ALTER TABLE \(hub.schema).\"Team\" RENAME TO \"Player?\"",
        "ALTER TABLE \(hub.schema).\"Player\" RENAME TO \"Team?\"",
        "CREATE TABLE \(hub.schema).\"Gone\" ()",
        "INSERT INTO \(hub.schema)._table VALUES (9999, 'Gone', '')")
      let report = try writer.update()
      #expect(report.dropped == ["\(hub.schema).\"Gone\""])
      #expect(report.tables.map(\.isFilled) == [true, true])
      try requireTable("Team", of: store, in: hub)
      try requireTable("Player", of: store, in: hub)
      let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'mooring_\(hub.name)'"
      let names = try hub.texts(tables + " ORDER BY 1")
      #expect(Set(names) == ["Player", "Team", "_position", "_table"])
    }
  }

  @Test(.enabled(if: ConnectionPooler.canRun, "\(ConnectionPooler.skipReason)"))
  func aPoolerOfConnectionsMayBeInBetween() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let pooler = try ConnectionPooler(try HubServer.shared())
      defer { pooler.stop() }
      let address = HubAddress(
        database: try ConnectionString(pooler.connectionText),
        membership: try hub.address("first").membership)
      let writer = TableWriter(store, of: address)
      _ = try writer.update(adding: ["Sample"])
      try await insert("new", into: store)
      #expect(try writer.update().tables.map(\.written) == [1])
      try requireTable("Sample", of: store, in: hub)
    }
  }
}

/// Returns the token of another store.
private func otherToken() async throws -> String {
  try await withTemporaryStore(migrations: [.model]) { "\(try $0.store.historyToken())" }
}
