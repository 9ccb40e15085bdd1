import EntityModel
import EntityStore
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import StoreHub
@testable import StoreTables

/// Writers of tables that are cut off or killed.
@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct TablesFaultTests {
  private static let isThorough = ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1"

  /// Cuts the connection after each of many counts of bytes in both directions: between two
  /// statements, within one, and instead of the answer to the commit.
  @Test func aCutConnectionNeitherLosesNorRepeatsAChange() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      let direct = try hub.writer("first", store)
      _ = try direct.update(adding: ["Sample"])
      try hub.noteRows(of: "Sample")
      let whole = try await round(store, hub, direct, .never)
      #expect(whole.wasDone)
      let steps = Self.isThorough ? 400 : 24
      var (undone, done) = (0, 0)
      for step in 0..<steps {
        // The last ones are close together: there is the commit.
        let isLast = step >= steps / 2
        func place(of total: Int) -> Int {
          isLast ? total - 1 - (step - steps / 2) * 4 : total * step / (steps / 2)
        }
        let cuts: [CuttingProxy.Cut] = [
          .fromClient(after: place(of: whole.client)), .fromServer(after: place(of: whole.server)),
        ]
        for cut in cuts {
          let outcome = try await round(store, hub, direct, cut)
          if outcome.wasDone { done += 1 } else { undone += 1 }
        }
      }
      #expect(undone > 0 && done > 0, "\(undone) undone, \(done) done")
      try requireTable("Sample", of: store, in: hub)
    }
  }

  /// Changes four records, and updates the table through a connection that is cut, and then through
  /// one that is not.
  ///
  /// - Returns: True if the first update was committed, and the bytes that it has exchanged.
  private func round(
    _ store: Store, _ hub: TestHub, _ direct: TableWriter, _ cut: CuttingProxy.Cut
  ) async throws -> (wasDone: Bool, client: Int, server: Int) {
    let changed = try await store.write { transaction in
      let old = try transaction.fetchIdentifiers(FetchRequest(entityName: "Sample"))
      let new = try (0..<3).map {
        try transaction.insert("Sample", ["name": .string("\(UUID()) \($0)")])
      }
      if let first = old.first, old.count > 3 {
        try transaction.delete(first)
        return ["DELETE \(first.number)"] + new.map { "INSERT \($0.number)" }
      }
      return new.map { "INSERT \($0.number)" }
    }
    let proxy = try CuttingProxy(try HubServer.shared(), cut)
    defer { proxy.stop() }
    let address = HubAddress(
      database: try ConnectionString(proxy.connectionText),
      membership: try hub.address("first").membership)
    do {
      _ = try TableWriter(store, of: address).update()
    } catch let error as StorageError {
      #expect(error.code == .unreachable)
    } catch let error as StoreError {
      #expect(error.code == .unreachable)
    }
    // The server may not have noticed yet that the connection is gone: the lock shows that it has.
    let bytes = (proxy.clientBytes.count, proxy.serverCount)
    try hub.run("BEGIN", "SELECT 1 FROM \(hub.schema)._position FOR UPDATE", "ROLLBACK")
    let notes = try hub.takeNotes()
    #expect(notes.isEmpty || notes == changed.sorted(), "\(cut)")
    let report = try direct.update()
    #expect(report.isUnchanged == !notes.isEmpty, "\(cut)")
    let later = try hub.takeNotes()
    #expect(notes + later == changed.sorted(), "\(cut)")
    return (!notes.isEmpty, bytes.0, bytes.1)
  }

  @Test func aCutConnectionLeavesTheOldTableWhileItIsFilled() async throws {
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      try await store.write { transaction in
        for number in 0..<3_000 {
          _ = try transaction.insert("Sample", ["name": .string("\(number)")])
        }
      }
      let direct = try hub.writer("first", store)
      _ = try direct.update(adding: ["Sample"])
      for step in 1..<8 {
        try hub.run("UPDATE \(hub.schema)._table SET shape = ''")
        let proxy = try CuttingProxy(try HubServer.shared(), .fromClient(after: step * 15_000))
        defer { proxy.stop() }
        let address = HubAddress(
          database: try ConnectionString(proxy.connectionText),
          membership: try hub.address("first").membership)
        #expect(
          throws: (any Error).self
        ) { _ = try TableWriter(store, of: address).update() }
        try requireTable("Sample", of: store, in: hub)
      }
      #expect(try direct.update().tables.map(\.isFilled) == [true])
      try requireTable("Sample", of: store, in: hub)
    }
  }

  @Test func aKilledWriterNeitherLosesNorRepeatsAChange() async throws {
    let seed: UInt64 = 5
    print("kills of table writers: seed \(seed)")
    var random = SeededRandom(seed: seed)
    try await withHub { hub in
      try await hub.create()
      let store = try hub.open("first")
      _ = try hub.join("second")
      let writer = try hub.writer("first", store)
      _ = try writer.update(adding: ["Sample"])
      try hub.noteRows(of: "Sample")
      var inserted = 0
      for round in 0..<(Self.isThorough ? 200 : 10) {
        let children = try ["first", "second"].map { machine in
          try ChildProcess(
            childExecutable(named: "store-child"),
            ["hub-tables", hub.folder.path(machine), "entity=Sample"],
            environment: hub.environment)
        }
        for child in children {
          let greeting = child.readLine()
          try #require(greeting == "begins", "\(greeting ?? child.readErrors())")
        }
        for number in 0..<10 {
          try await store.write { transaction in
            for part in 0..<20 {
              _ = try transaction.insert(
                "Sample", ["name": .string("\(round) \(number) \(part)")])
            }
          }
          inserted += 20
          if number == 5 {
            usleep(UInt32.random(in: 0..<8_000, using: &random))
            children[round % 2].kill()
          }
        }
        usleep(UInt32.random(in: 0..<8_000, using: &random))
        for child in children { child.kill() }
      }
      _ = try writer.update()
      let notes = try hub.takeNotes()
      #expect(notes.count == inserted, "seed \(seed)")
      #expect(Set(notes).count == inserted, "seed \(seed)")
      try requireTable("Sample", of: store, in: hub)
    }
  }
}
