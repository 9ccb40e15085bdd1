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

  var database: ConnectionString { get throws { try ConnectionString(connectionText) } }

  func setup(_ machine: String) throws -> HubSetup {
    HubSetup(
      folder: folder.path(machine), database: try database, service: nil, machineName: machine,
      program: "tests")
  }

  /// The options of a store without a log.
  var options: Store.Options {
    var options = Store.Options()
    options.mapSize = 1 << 30
    return options
  }

  /// Opens the store of a machine, with its log if it is in the hub.
  ///
  /// - Parameter connection: The way to the database, if it is another one.
  func open(_ machine: String, through connection: String? = nil) throws -> Store {
    var options = options
    let path = folder.path(machine)
    if let membership = try HubMembership.read(inStore: path) {
      let database = try ConnectionString(connection ?? connectionText)
      HubAddress(database: database, membership: membership).addLog(to: &options)
    }
    return try Store.open(
      at: path, migrations: [.model, .jobs], migrate: .ifEmpty, options: options)
  }

  /// Makes the store of a machine, with one record, the first of the hub.
  func create(on machine: String = "first") async throws {
    let store = try open(machine)
    try await store.write { _ = try $0.insert("Sample", ["name": "from the beginning"]) }
    _ = try setup(machine).create(named: name, store)
  }

  func join(_ machine: String) throws -> Store {
    _ = try setup(machine).join(named: name, opening: options)
    return try open(machine)
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
func withHub(
  isolation: isolated (any Actor)? = #isolation, _ body: (TestHub) async throws -> Void
) async throws {
  let server = try HubServer.shared()
  try await withTemporaryFolder { folder in
    let name = "hub-\(UUID().uuidString)"
    try await body(TestHub(name: name, folder: folder, connectionText: server.connectionText))
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
