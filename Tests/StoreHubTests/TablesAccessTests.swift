import EntityModel
import EntityStore
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub
@testable import StoreTables

/// Refused tables, the readers of tables, and their writers on several machines.
@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct TablesAccessTests {
  @Test func whatCannotBeATableIsRefused() async throws {
    try await withLeague { hub, store in
      let writer = try hub.writer("first", store)
      #expect(tablesCode { _ = try writer.update() } == .noTables)
      #expect(await code { _ = try writer.update(adding: ["Nothing"]) } == .unknownEntity)
      #expect(tablesCode { _ = try writer.update(adding: ["Team", "Referee"]) } == .noHistory)
      #expect(tablesCode { _ = try writer.drop([]) } == .noTables)
      #expect(try hub.texts("SELECT to_regnamespace('\(hub.schema)')::text") == [nil])
      #expect(
        tablesCode {
          _ = try writer.update(adding: ["Team"], readers: ["nobody-\(UUID().uuidString)"])
        } == .unknownRole)
      var reserved = EntityDescription(id: 1, name: "Odd", attributes: [])
      reserved.attributes = [AttributeDescription(id: 1, name: "xmin", type: .string)]
      #expect(tablesCode { _ = try TableShape(reserved) } == .reservedName)
    }
  }

  @Test func tablesOfOthersStay() async throws {
    try await withLeague { hub, store in
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Team"])
      try hub.run(
        "CREATE TABLE \(hub.schema).\"Player\" (own int)",
        "CREATE VIEW \(hub.schema).best AS SELECT name FROM \(hub.schema).\"Team\"")
      #expect(tablesCode { _ = try writer.update(adding: ["Player"]) } == .occupied)
      #expect(tablesCode { _ = try writer.drop(["Team"]) } == .inUse)
      #expect(tablesCode { _ = try writer.drop(["Player"]) } == .noTables)
      #expect(try hub.texts("SELECT count(*)::text FROM \(hub.schema).\"Player\"") == ["0"])
      try hub.run("DROP VIEW \(hub.schema).best")
      #expect(try writer.drop([]) == ["\(hub.schema).\"Team\""])
      // The schema stays for the other table.
      #expect(try hub.texts("SELECT count(*)::text FROM \(hub.schema).\"Player\"") == ["0"])
      _ = try writer.update(adding: ["Team"])
      try requireTable("Team", of: store, in: hub)
    }
  }

  @Test func aDroppedTableIsNotFollowed() async throws {
    try await withLeague { hub, store in
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Team", "Player"])
      #expect(try writer.drop(["Team"]) == ["\(hub.schema).\"Team\""])
      #expect(try writer.update().tables.map(\.name) == ["\(hub.schema).\"Player\""])
      #expect(try writer.drop([]) == ["\(hub.schema).\"Player\""])
      #expect(try hub.texts("SELECT to_regnamespace('\(hub.schema)')::text") == [nil])
      try requireClean(store)
    }
  }

  @Test func readersReadAndDoNotWrite() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let writer = try hub.writer("first", store)
      let role = "reader-\(UUID().uuidString.prefix(8))"
      try hub.run("CREATE ROLE \"\(role)\" LOGIN")
      _ = try writer.update(adding: ["Sample"], readers: [role])
      // A table that is replaced later.
      try hub.run("UPDATE \(hub.schema)._table SET shape = ''")
      #expect(try writer.update().tables.map(\.isFilled) == [true])
      let text = hub.connectionText.replacing("user=mooring", with: "user=\(role)")
      var reader = try Connection(try ConnectionString(text), until: .now + .seconds(10))
      let table = "\(hub.schema).\"Sample\""
      let names = try reader.rows(
        Statement("SELECT name FROM \(table)"), until: .now + .seconds(10)
      ) { try $0.text(0) }
      #expect(names == ["from the beginning"])
      for statement in [
        "INSERT INTO \(table) (_id) VALUES (77)", "UPDATE \(table) SET name = 'x'",
        "DELETE FROM \(table)", "TRUNCATE \(table)", "DROP TABLE \(table)",
        "UPDATE \(hub.schema)._position SET token = NULL", "CREATE TABLE \(hub.schema).own ()",
        "SELECT * FROM mooring.entry",
      ] {
        let error = #expect(throws: PostgreSQLError.self) {
          try reader.execute(Statement(statement), until: .now + .seconds(10))
        }
        #expect(error?.sqlState == .insufficientPrivilege, "\(statement)")
      }
      try requireTable("Sample", of: store, in: hub)
      try hub.run("DROP OWNED BY \"\(role)\"", "DROP ROLE \"\(role)\"")
    }
  }

  // MARK: Machines

  @Test func oneMachineWritesAndTheOtherSaysWho() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      let lease = try TablesLease(of: first, machine: "harbor-1", now: Date())
      let error = #expect(throws: TablesError.self) {
        _ = try TablesLease(of: second, machine: "harbor-2", now: Date())
      }
      #expect(error?.code == .elsewhere)
      #expect(error?.description.contains("harbor-1") == true)
      let own = #expect(throws: TablesError.self) {
        _ = try TablesLease(of: first, machine: "harbor-1", now: Date())
      }
      #expect(own?.description.contains("process \(getpid())") == true)
      try lease.check()
      lease.release()
      let other = try TablesLease(of: second, machine: "harbor-2", now: Date())
      #expect(tablesCode { try lease.check() } == .elsewhere)
      other.release()
      try requireEqual(first, second)
    }
  }

  /// The state after a writer was cut off and has lost its lease.
  @Test func twoWritersAtOnceWriteEachChangeOnce() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      let writers = [try hub.writer("first", first), try hub.writer("second", second)]
      _ = try writers[0].update(adding: ["Sample"])
      try hub.noteRows(of: "Sample")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in writers {
          group.addTask { for _ in 0..<15 { _ = try writer.update() } }
        }
        group.addTask { for number in 0..<60 { try await insert("\(number)", into: first) } }
        try await group.waitForAll()
      }
      _ = try writers[1].update()
      let notes = try hub.takeNotes()
      #expect(notes.count == 60)
      #expect(Set(notes).count == 60)
      try requireEqual(first, second)
      try requireTable("Sample", of: second, in: hub)
    }
  }
}
