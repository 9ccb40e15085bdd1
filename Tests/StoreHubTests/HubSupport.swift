import DurableJobs
import EntityModel
import EntityStore
import Foundation
import LMDB
import Migrations
import PostgreSQL
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import StoreHub

/// A hub with a name of its own in the database of the tests, and the folders of its machines.
struct TestHub {
  let name: String
  let folder: TemporaryFolder
  let connectionText: String
  var migrations: [MigrationSource] = [.model, .jobs]
  /// The clock of the stores, if it is not that of the machine.
  var clock: ManualClock?

  var database: ConnectionString { get throws { try ConnectionString(connectionText) } }

  /// The variables by which a process finds the database.
  var environment: [String: String] { [ConnectionString.hubVariable: connectionText] }

  /// The same hub, over another way to its database.
  func through(_ connectionText: String) -> TestHub {
    TestHub(name: name, folder: folder, connectionText: connectionText)
  }

  func setup(_ machine: String) throws -> HubSetup {
    HubSetup(
      folder: folder.path(machine), database: try database, service: nil, machineName: machine,
      program: "tests")
  }

  /// The options of a store without a log.
  var options: Store.Options {
    var options = Store.Options()
    options.mapSize = 1 << 30
    if let clock { options.now = { clock.now } }
    return options
  }

  /// Opens the store of a machine, with its log if it is in the hub.
  ///
  /// - Parameter connection: The way to the database, if it is another one.
  func open(
    _ machine: String, through connection: String? = nil,
    migrations: [MigrationSource]? = nil,
    _ change: (inout Store.Options) -> Void = { _ in }
  ) throws -> Store {
    var options = options
    change(&options)
    let path = folder.path(machine)
    if let membership = try HubMembership.read(inStore: path) {
      let database = try ConnectionString(connection ?? connectionText)
      HubAddress(database: database, membership: membership).addLog(to: &options)
      // Instead of the server's.
      if let clock { options.now = { clock.now } }
    }
    return try Store.open(
      at: path, migrations: migrations ?? self.migrations, migrate: .ifEmpty, options: options)
  }

  /// Makes the store of a machine, with one record, the first of the hub.
  func create(isolation: isolated (any Actor)? = #isolation) async throws {
    try await create(migrations: migrations) { store in
      try await store.write { _ = try $0.insert("Sample", ["name": "from the beginning"]) }
    }
  }

  /// Makes the store of the first machine, with what `body` writes, the first of the hub. It is
  /// closed at the end, so that it can be opened with its log.
  func create(
    migrations: [MigrationSource], isolation: isolated (any Actor)? = #isolation,
    _ body: (Store) async throws -> Void
  ) async throws {
    do {
      let store = try open("first", migrations: migrations)
      try await body(store)
      _ = try setup("first").create(named: name, store)
    }
    try StoreFile.requireClosed(folder.path("first"), within: .seconds(10))
  }

  func join(
    _ machine: String, migrations: [MigrationSource]? = nil
  ) throws -> Store {
    _ = try setup(machine).join(named: name, opening: options)
    return try open(machine, migrations: migrations)
  }

  /// Ends the time of a lock whose holder was cut off.
  func lapse(_ lock: String) throws {
    try execute(
      Statement(
        """
        UPDATE mooring.lock SET until = clock_timestamp() - interval '1 second'
        WHERE store = $1 AND name = $2
        """, .uuid(try identity()), .text(lock)))
  }

  func address(_ machine: String) throws -> HubAddress {
    let membership = try HubMembership.read(inStore: folder.path(machine))
    return HubAddress(database: try database, membership: try #require(membership))
  }

  func session() throws -> HubSession { try HubSession(database) }

  /// Executes a statement as an operator would.
  func execute(_ statement: Statement) throws {
    var session = try session()
    try session.execute([statement])
  }

  func identity() throws -> UUID {
    var session = try session()
    return try #require(try session.hub(named: name))
  }
}

/// The server of these tests. Each machine has some connections.
enum HubServer {
  static func shared() throws -> PostgreSQLServer { try result.get() }

  private static let result = Result {
    try PostgreSQLServer(settings: ["max_connections": "300"])
  }
}

/// Runs `body` with a new hub. Every store that it leaves must be sound.
///
/// - Parameter connectionText: The way to another database than that of the shared server.
func withHub(
  at connectionText: String? = nil, isolation: isolated (any Actor)? = #isolation,
  _ body: (TestHub) async throws -> Void
) async throws {
  let connectionText = try connectionText ?? HubServer.shared().connectionText
  try await withTemporaryFolder { folder in
    let name = "hub-\(UUID().uuidString.prefix(8))"
    try await body(TestHub(name: name, folder: folder, connectionText: connectionText))
  }
}

/// Compares everything that the machines have, and checks their stores.
func requireSame(_ stores: [Store]) throws {
  for store in stores {
    try store.catchUp()
    try requireClean(store)
  }
  let digests = try stores.map { try #require(try $0.digest()) }
  #expect(Set(digests.map(\.digest)).count == 1)
  #expect(Set(digests.map(\.position.sequence)).count == 1)
}

/// Executes a statement on a server.
func execute(_ statements: Statement..., at connectionText: String) throws {
  var connection = try Connection(ConnectionString(connectionText), until: .now + .seconds(60))
  for statement in statements { try connection.execute(statement, until: .now + .seconds(60)) }
}

/// Asks until a condition of the server holds, of which it does not notify.
func waitUntil(_ condition: Statement, at connectionText: String) throws {
  var connection = try Connection(ConnectionString(connectionText), until: .now + .seconds(60))
  for _ in 0..<6_000 {
    let holds = try connection.rows(condition, until: .now + .seconds(60)) { try $0.bool(0) }
    if holds == [true] { return }
    usleep(10_000)
  }
  Issue.record("waited in vain: \(condition)")
}

/// Runs `body` with the stores of machines, and waits until they are closed: a writer may hold one
/// for a moment after its end.
func usingAlone(
  _ machines: [String], of hub: TestHub, isolation: isolated (any Actor)? = #isolation,
  _ body: ([Store]) async throws -> Void
) async throws {
  try await body(try machines.map { try hub.open($0) })
  for machine in machines {
    try StoreFile.requireClosed(hub.folder.path(machine), within: .seconds(10))
  }
}

/// Compares the records of two stores, and checks both.
func requireEqual(_ first: Store, _ second: Store) throws {
  for store in [first, second] {
    try store.catchUp()
    try requireClean(store)
  }
  #expect(try names(of: first) == names(of: second))
  #expect(try first.logPosition == second.logPosition)
  #expect(try first.id == second.id)
}

func names(of store: Store) throws -> [String] {
  try store.fetch(FetchRequest(entityName: "Sample", sortBy: [SortKey("name")])).map { record in
    guard case .string(let name) = try record["name"] else { return "" }
    return name
  }
}

func insert(_ name: String, into store: Store) async throws {
  try await store.write { _ = try $0.insert("Sample", ["name": .string(name)]) }
}

/// Returns the code with which the body fails.
func code(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async -> StoreError.Code? {
  do {
    try await body()
    return nil
  } catch let error as StoreError {
    return error.code
  } catch let error as StorageError {
    return StoreError(error).code
  } catch {
    Issue.record(error)
    return nil
  }
}
