import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import PostgreSQL
import PostgreSQLTestSupport
import StoreHub
import TestSupport
import Testing

/// An import of a store that two machines have.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(10)))
struct SharedImportTests {
  @Test func anImportOfAKilledMachineIsContinuedByAnother() throws {
    var random = SeededRandom(seed: testSeed(88))
    for _ in 0..<(isThorough ? 12 : 1) { try killOnce(&random) }
  }

  private func killOnce(_ random: inout SeededRandom) throws {
    let database = try ConnectionString(PostgreSQLServer.shared().connectionText)
    try withTemporaryFolder { folder in
      let file = try ShopFile(in: folder, orders: 2_000)
      let sources = [MigrationSource.legacyImport, .directory(file.migrationsPath)]
      let whole = try openStore(at: folder.path("whole"), migrations: sources)
      let expected = try run(file, in: whole)

      func setup(_ machine: String) -> HubSetup {
        HubSetup(
          folder: folder.path(machine), database: database, service: nil, machineName: machine,
          program: "tests")
      }
      func open(_ machine: String) throws -> Store {
        var options = Store.Options()
        options.mapSize = 1 << 30
        if let membership = try HubMembership.read(inStore: folder.path(machine)) {
          HubAddress(database: database, membership: membership).addLog(to: &options)
        }
        return try Store.open(
          at: folder.path(machine), migrations: sources, migrate: .ifEmpty, options: options)
      }
      let name = "hub-\(UUID().uuidString.prefix(8))"
      let hub = try setup("first").create(named: name, open("first")).hub
      _ = try setup("second").join(named: name, opening: Store.Options())
      let (first, second) = (try open("first"), try open("second"))

      let child = try ChildProcess(
        childExecutable(named: "store-child"),
        ["import-run", folder.path("second"), file.path, file.mappingPath, file.migrationsPath],
        environment: [ConnectionString.hubVariable: PostgreSQLServer.shared().connectionText])
      var lines = random.number(2...8)
      while lines > 0, let line = child.readLine() {
        try #require(!line.hasPrefix("error"), "\(line)")
        lines -= 1
      }
      let wasKilled = child.kill().wasSignal
      if wasKilled {
        let error = try #require(throws: ImportError.self) { try run(file, in: first) }
        #expect(error.code == .running)
      }
      // The machine is as good as dead.
      var connection = try Connection(database, until: .now + .seconds(60))
      try connection.execute(
        Statement(
          "UPDATE mooring.lock SET until = '-infinity' WHERE store = $1", .uuid(hub)),
        until: .now + .seconds(60))
      let report = try run(file, in: first)
      #expect(report.isBalanced, "seed \(random.seed)")
      if wasKilled { #expect(report.tables == expected.tables, "seed \(random.seed)") }
      try second.catchUp()
      for store in [first, second] {
        try requireClean(store)
        #expect(try content(of: store) == content(of: whole), "seed \(random.seed)")
      }
      #expect(try first.digest()?.digest == second.digest()?.digest)
    }
  }

  private func run(_ file: ShopFile, in store: Store) throws -> ImportReport {
    try LegacyFile(file.path, LegacyFile.Options()).run(
      try MappingText(Array(ShopFile.mapping.utf8), file: "shop.yaml"), in: store)
  }

  private func content(of store: Store) throws -> [String] {
    try store.read { try StoreDigest.lines(in: $0) }
  }
}
