import EntityModel
import EntityStore
import Foundation
import Migrations
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import StoreHub

/// Migrations and imports of a store that several machines have.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubMigrationTests {
  private static let machines = ["first", "second", "third"]

  @Test func anIndexIsBuiltWhileThreeMachinesWrite() async throws {
    let rounds = isThorough ? 40 : 2
    var random = SeededRandom(seed: testSeed(86))
    for round in 0..<rounds {
      let scenario: MigrationScenario = round % 2 == 0 ? .compound : .list
      let seed = random.next()
      try await withHub { hub in
        let stores = try await create(hub, seed)
        let isOver = Locked(false)
        let (starts, started) = AsyncStream.makeStream(of: Int.self)
        let writes = try await withThrowingTaskGroup(of: Int.self) { group in
          for (machine, store) in stores.enumerated() {
            group.addTask {
              // Also after an error, which the group reports.
              defer { started.yield(machine) }
              let changes = ItemChanges(seed: seed &+ UInt64(machine))
              var (number, made) = (0, 0)
              // Bounded, because a migration of a record at a time is overtaken otherwise.
              while number < 150, !isOver.withLock({ $0 }) {
                let isMade = try await changes.make(number, in: store).isMade
                number += 1
                made += isMade ? 1 : 0
                if number == 5 { started.yield(machine) }
              }
              return made
            }
          }
          var writing: Set<Int> = []
          for await machine in starts {
            writing.insert(machine)
            if writing.count == stores.count { break }
          }
          let migrating = try hub.open("first", migrations: scenario.sources)
          let names = try await Task.detached {
            try scenario.run(on: migrating, MigrationScenario.options())
          }.value
          #expect(names == ["0001_more"])
          isOver.withLock { $0 = true }
          return try await group.reduce(0, +)
        }
        try requireSame(stores)
        for store in stores { try requireIndexed(store) }
        print("\(scenario): \(writes) writes beside it, seed \(seed)")
      }
    }
  }

  @Test func aMigrationOfAKilledMachineIsContinuedByAnother() async throws {
    let kills = isThorough ? 20 : 2
    var random = SeededRandom(seed: testSeed(87))
    for number in 0..<kills {
      let scenario: MigrationScenario = number % 2 == 0 ? .compound : .retype
      let seed = random.next()
      try await withHub { hub in
        let stores = try await create(hub, seed)
        let child = try ChildProcess(
          childExecutable(named: "store-child"),
          ["migration-run", hub.folder.path("second"), "scenario=\(scenario)"],
          environment: hub.environment)
        for _ in 0..<random.number(2...20) {
          let line = try #require(child.readLine())
          try #require(!line.hasPrefix("failed"), "\(line)")
        }
        #expect(child.kill().wasSignal)
        let third = try hub.open("third", migrations: scenario.sources)
        // The machine is as good as dead: nobody else there takes the work over.
        var options = MigrationScenario.options()
        options.wait = .milliseconds(50)
        #expect(await code { _ = try scenario.run(on: third, options) } == .busy)
        try hub.lapse("migrate")
        options.wait = .seconds(5)
        let names = try await Task.detached { [options] in
          try scenario.run(on: third, options)
        }.value
        #expect(names == ["0001_more"], "seed \(seed)")
        try requireSame(stores)
        if scenario == .compound { for store in stores { try requireIndexed(store) } }
      }
    }
  }

  /// A hub with three machines that have some items.
  private func create(_ hub: TestHub, _ seed: UInt64) async throws -> [Store] {
    try await hub.create(migrations: [.items]) { try await ItemChanges(seed: seed).prepare($0) }
    for machine in Self.machines.dropFirst() {
      _ = try hub.setup(machine).join(named: hub.name, opening: hub.options)
    }
    return try Self.machines.map { try hub.open($0, migrations: [.items]) }
  }

  private func requireIndexed(_ store: Store) throws {
    try store.read { transaction in
      let entity = try transaction.description(of: "Item")
      #expect(entity.indexes.contains { $0.name == "new" })
      #expect(try transaction.count(of: "Item") > 0)
    }
  }
}
