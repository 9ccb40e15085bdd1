import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

/// The output of `mooring schema --as swift`, compared with a generated file that these tests
/// compile and use.
@Suite struct SwiftTypesTests {
  private static let migrations = MigrationSource(
    embedded: [("0001_tickets", Array(schema.utf8))])

  @Test func theFileIsWhatTheCommandWrites() async throws {
    try await withTemporaryStore(migrations: [Self.migrations]) { temporary in
      let run = try mooring(
        "schema", "Ticket", "Data", "Person", "--as", "swift", store: temporary.store.folder)
      #expect(run.status == 0, "\(run.errors)")
      let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "Tickets.swift")
      let kept = try String(contentsOf: file, encoding: .utf8)
      // To write it anew: MOORING_REGENERATE=1 swift test --filter SwiftTypesTests
      if ProcessInfo.processInfo.environment["MOORING_REGENERATE"] == "1" {
        try run.output.write(to: file, atomically: true, encoding: .utf8)
      } else {
        #expect(run.output == kept)
      }
    }
  }

  @Test func theTypesFitTheStore() async throws {
    try await withTemporaryStore(migrations: [Self.migrations]) { temporary in
      let store = temporary.store
      try store.require([Ticket.self, DataRecord.self, Person.self])
      let day = Date(timeIntervalSinceReferenceDate: 5)
      let (id, person) = try await store.write { transaction in
        let person = try transaction.insert(Person(name: "p"))
        var ticket = Ticket(number: 1, type: .inProgress, madeAt: day, holder: ToOne(person))
        ticket.state = .default
        return (try transaction.insert(ticket), person)
      }
      let ticket = try #require(try store.read { try $0.get(Ticket.self, id) })
      #expect(ticket.class == "a \"quoted\" \\ one")
      #expect(ticket.type == .inProgress)
      #expect(ticket.state == .default)
      #expect(ticket.labels == ["a", "b"])
      #expect(ticket.record == "x")
      #expect(ticket.holder.id == person)
      let state = Ticket.State.default
      let found = try store.fetch(
        try FetchDescriptor(predicate: #Predicate<Ticket> { $0.state == state && $0.isOpen }))
      #expect(found.map(\.number) == [1])
    }
  }

  @Test func anEntityThatIsNotThereIsNamed() async throws {
    try await withTemporaryStore(migrations: [Self.migrations]) { temporary in
      let run = try mooring("schema", "Absent", "--as", "swift", store: temporary.store.folder)
      #expect(run.status == 64, "\(run.output)\(run.errors)")
      #expect(run.messages.contains { $0.contains("no such entity (entity: Absent)") })
    }
  }

  private static let schema = """
    line: tickets
    summary: Names that Swift has words for
    steps:
      - createEntity:
          name: Ticket
          attributes:
            - { name: number, type: int64 }
            - { name: class, type: string, default: "a \\"quoted\\" \\\\ one" }
            - { name: type, type: enum, values: { free: 1, "in progress": 2, "self": 3, "1st": 4 }, default: 1 }
            - { name: state, type: enum, values: [new, default, "half-done"], optional: true }
            - { name: score, type: double, default: 0.5 }
            - { name: isOpen, type: bool, default: true }
            - { name: price, type: decimal, optional: true }
            - { name: dueAt, type: date, optional: true }
            - { name: madeAt, type: date }
            - { name: token, type: uuid, optional: true }
            - { name: blob, type: data, optional: true }
            - { name: link, type: url, optional: true }
            - { name: labels, type: strings, default: [a, b] }
            - { name: record, type: string, optional: true, default: x }
            - { name: init, type: int64, optional: true }
      - createIndex: { on: Ticket, name: byNumber, keys: [number], unique: true }
      - createEntity:
          name: Data
          attributes:
            - { name: self, type: int64, optional: true }
            - { name: data, type: enum, values: [none], optional: true, default: none }
      - createEntity: { name: Person, attributes: [{ name: name, type: string }] }
      - createRelationship:
          on: Ticket
          name: holder
          to: Person
          optional: false
          inverse: { name: tickets, deleteRule: cascade }
      - createRelationship: { on: Ticket, name: source, to: Data }
    """
}
