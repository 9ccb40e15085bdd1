import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Two processes on one store.
@Suite struct TwoProcessTests {
  private static let executable = childExecutable(named: "store-child")

  @Test func anOpenStoreSeesAMigrationOfAnotherProcessAtItsNextTransaction() async throws {
    try await withTemporaryStore { temporary in
      let folder = temporary.store.folder
      try await temporary.store.write { transaction in
        for number in 0..<30 { try transaction.insert("Sample", ["name": .string("n\(number)")]) }
      }
      // This program knows the second migration; that one only the first.
      let knowing = try openStore(at: folder, migrations: [.grownModel], migrate: .never)
      #expect(await code { try await knowing.write { _ in } } == .needsMigration)
      #expect(try knowing.migrationState().pending.map(\.name) == ["0002_levels"])

      let child = try ChildProcess(Self.executable, ["store-migrate", folder])
      #expect(child.readLine() == "applied 0002_levels")
      #expect(child.waitForExit().status == 0)

      let byLevel = FetchRequest(
        entityName: "Sample", predicate: .comparison("level", .equal, 3),
        sortBy: [SortKey("name")], requiresIndex: true)
      for store in [knowing, temporary.store] {
        #expect(try store.fetch(byLevel).count == 30)
        let records = try store.fetch(FetchRequest(entityName: "Sample"))
        #expect(records.map(\.values.count) == .init(repeating: 18, count: 30))
      }
      let id = try await knowing.write { try $0.insert("Sample", ["name": "new", "level": 9]) }
      #expect(try knowing.read { try $0.get(id) }?["level"] == 9)
      // It has been migrated by a newer program: that is for reading only.
      #expect(await code { try await temporary.store.write { _ in } } == .newerSchema)
      #expect(try temporary.store.fetch(byLevel).count == 30)
    }
  }

  @Test func twoWritersLoseNothing() async throws {
    try await withTemporaryStore { temporary in
      let times = 500
      try await temporary.store.write { _ = try $0.insert("Sample", ["name": "counter"]) }
      let children = try (0..<2).map { _ in
        try ChildProcess(
          Self.executable, ["store-count", temporary.store.folder, String(times)])
      }
      for child in children { #expect(child.readLine() == "ready") }
      for child in children { try child.writeLine("go") }
      for child in children {
        #expect(child.readLine() == "done")
        #expect(child.waitForExit().status == 0)
      }
      let counter = try temporary.store.read { try $0.get("Sample", by: ["name": "counter"]) }
      #expect(try counter?["rank"] == .int64(Int64(2 * times)))
    }
  }
}
