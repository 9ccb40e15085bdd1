import EntityModel
import EntityStore
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// The commands of a hub, with databases that are wrong, and through a pooler of connections.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(10)))
struct HubCommandTests {
  @Test func eachFaultHasItsStatusAndLosesNothing() async throws {
    let servers = try ReplicatedServer()
    defer { servers.stop() }
    let server = servers.primary
    try await withHub(at: servers.connectionText) { hub in
      let commands = HubCommands(hub)
      try commands.create()
      try execute(
        "CREATE ROLE guarded_a LOGIN PASSWORD 'right'", "CREATE ROLE no_rights LOGIN",
        "CREATE DATABASE empty", at: server.connectionText)
      let old = try CuttingProxy(server)
      defer { old.stop() }
      old.replace("server_version\u{0}15.", by: "server_version\u{0}10.")
      let socket = "host=\(server.folder)"
      let faults: [(String, connection: String, status: Int32, says: String)] = [
        ("no server", "host=\(hub.folder.path("nowhere")) user=mooring", 75, "cannot be reached"),
        (
          "wrong password", "\(socket) user=guarded_a password=wrong dbname=postgres", 77,
          "refuses the role"
        ),
        ("wrong database", "\(socket) user=mooring dbname=none", 78, "does not have the database"),
        ("no hub", "\(socket) user=mooring dbname=empty", 78, "has no hub"),
        ("a standby", servers.standby.connectionText, 75, "standby"),
        ("no rights", "\(socket) user=no_rights dbname=postgres", 77, "may not write"),
        ("an old server", old.connectionText, 78, "too old"),
      ]
      for fault in faults {
        let status = try commands.run("hub", "status", on: "a", fault.connection)
        #expect(status.status == fault.status, "\(fault.0): \(status.errors)")
        #expect(status.errors.contains(fault.says), "\(fault.0): \(status.errors)")
        #expect(!status.errors.contains("wrong"), "\(fault.0)")
        let join = try commands.run(
          "hub", "join", "--name", hub.name, "--machine", "x", on: "x", fault.connection)
        #expect(join.status == fault.status, "\(fault.0): \(join.errors)")
        #expect(!FileManager.default.fileExists(atPath: hub.folder.path("x") + "/hub.json"))
        if fault.0 == "an old server" { continue }
        let write = try commands.run("jobs", "enqueue", "store.check", on: "a", fault.connection)
        #expect(write.status == fault.status, "\(fault.0): \(write.errors)")
        let read = try commands.run("jobs", "list", on: "a", fault.connection)
        #expect(read.status == 0, "\(fault.0): \(read.errors)")
      }
      let none = try commands.run("jobs", "enqueue", "store.check", on: "a", "")
      #expect(none.status == 78)
      let shown = try commands.run(
        "hub", "status", "--hub", "host=db password=secret", on: "a", hub.connectionText)
      #expect(shown.status == 64)
      let list = try commands.run("jobs", "list", on: "a", hub.connectionText)
      #expect(list.status == 0 && !list.output.contains("store.check"))
      let write = try commands.run("jobs", "enqueue", "store.check", on: "a", hub.connectionText)
      #expect(write.status == 0, "\(write.errors)")
    }
  }

  @Test func aHubOfANewerVersionIsLeftAlone() async throws {
    try await withHub { hub in
      let commands = HubCommands(hub)
      try commands.create()
      try hub.execute(
        Statement(
          "UPDATE mooring.store SET format = format + 1 WHERE id = $1", .uuid(try hub.identity())))
      for words in [
        ["hub", "join", "--name", hub.name, "--machine", "b"],
        ["jobs", "enqueue", "store.check"],
      ] {
        let result = try commands.run(words, on: words[0] == "hub" ? "b" : "a", hub.connectionText)
        #expect(result.status == 78, "\(result.errors)")
        #expect(result.errors.contains("newer version"), "\(result.errors)")
      }
      #expect(try commands.run("jobs", "list", on: "a", hub.connectionText).status == 0)
    }
  }

  @Test func namesThatAreTakenAndStoresOfTheirOwnAreRefused() async throws {
    try await withHub { hub in
      let commands = HubCommands(hub)
      try commands.create()
      try commands.succeed("migrate", "up", "--quiet", on: "own")
      for words in [
        ["hub", "create", "--name", hub.name, "--machine", "own"],
        ["hub", "join", "--name", hub.name, "--machine", "own"],
      ] {
        let result = try commands.run(words, on: "own", hub.connectionText)
        #expect(result.status == 73, "\(result.errors)")
      }
      let machine = try commands.run(
        "hub", "join", "--name", hub.name, "--machine", "a", on: "b", hub.connectionText)
      #expect(machine.status == 73, "\(machine.errors)")
      #expect(try commands.run("jobs", "list", on: "own", "").status == 0)
    }
  }

  @Test func theDocumentedStatementRemovesOneHubAndNoOther() async throws {
    try await withHub { hub in
      try await withHub { other in
        try await other.create()
        let before = try rowCounts(of: other)
        let commands = HubCommands(hub)
        try commands.create()
        try commands.succeed("hub", "join", "--name", hub.name, "--machine", "b", on: "b")
        try commands.succeed("hub", "leave", on: "a")
        let identity = try hub.identity()
        #expect(try rowCounts(of: hub).reduce(0, +) > 3)
        let statement = try documentedStatement().replacing("'home'", with: "'\(hub.name)'")
        try hub.execute(Statement(statement))
        #expect(try rowCounts(of: identity, in: hub).allSatisfy { $0 == 0 })
        #expect(try rowCounts(of: other) == before)
        let late = try commands.run("jobs", "enqueue", "store.check", on: "b", hub.connectionText)
        #expect(late.status == 78, "\(late.errors)")
        #expect(try commands.run("jobs", "list", on: "b", hub.connectionText).status == 0)
        for machine in ["a", "b"] {
          if machine == "b" { try commands.succeed("hub", "leave", on: machine) }
          let result = try commands.run("jobs", "enqueue", "store.check", on: machine, "")
          #expect(result.status == 0, "\(result.errors)")
        }
      }
    }
  }

  /// Returns the SQL of the page.
  private func documentedStatement() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "Sources/Mooring/Mooring.docc/ManyMachines.md"),
      encoding: .utf8)
    let blocks = page.split(separator: "```sql\n").dropFirst()
    try #require(blocks.count == 1)
    return String(try #require(blocks.first?.split(separator: "```").first))
  }

  private func rowCounts(of hub: TestHub) throws -> [Int64] {
    try rowCounts(of: hub.identity(), in: hub)
  }

  /// Returns the numbers of rows that the tables have for a hub.
  private func rowCounts(of identity: UUID, in hub: TestHub) throws -> [Int64] {
    var session = try hub.session()
    let columns = [
      ("store", "id"), ("entry", "store"), ("snapshot", "store"), ("snapshot_part", "store"),
      ("machine", "store"), ("lock", "store"),
    ]
    return try columns.map { table, column in
      try session.rows(
        Statement(
          "SELECT count(*) FROM mooring.\(table) WHERE \(column) = $1", .uuid(identity))
      ) { try $0.int8(0) ?? -1 }[0]
    }
  }

  @Test(.enabled(if: ConnectionPooler.canRun, "\(ConnectionPooler.skipReason)"))
  func allCommandsWorkThroughAPoolerInTransactionMode() async throws {
    let pooler = try ConnectionPooler(HubServer.shared())
    defer { pooler.stop() }
    try await withHub(at: pooler.connectionText) { hub in
      let commands = HubCommands(hub)
      try commands.create()
      try commands.succeed("hub", "join", "--name", hub.name, "--machine", "b", on: "b")
      try commands.succeed("jobs", "enqueue", "store.check", on: "b")
      try commands.succeed("jobs", "enqueue", "store.check", on: "a")
      let status = try commands.succeed("hub", "status", on: "a")
      #expect(status.output.contains("a (this)") && status.output.contains("\nb "))
      try commands.succeed("hub", "trim", on: "a")
      // Notifications do not pass a pooler.
      let check = try commands.succeed("hub", "check", on: "a")
      #expect(check.output.contains("every two seconds"), "\(check.output)")
      let worker = try ChildProcess(
        childExecutable(named: "mooring"), ["worker", "--store", hub.folder.path("b")],
        environment: hub.environment)
      defer { worker.kill() }
      // Until the worker follows.
      var digest = ""
      for _ in 0..<20 where digest.isEmpty || digest.contains("no answer") {
        digest = try commands.succeed("hub", "check", "--digest", on: "a").output
      }
      #expect(!digest.contains("no answer"), "\(digest)")
      try commands.succeed("hub", "leave", on: "a")
      try commands.succeed("jobs", "enqueue", "store.check", on: "a")
    }
  }
}

/// Runs commands on the machines of a hub.
struct HubCommands {
  struct Result {
    let status: Int32
    let output: String
    let errors: String
  }

  private let hub: TestHub

  init(_ hub: TestHub) { self.hub = hub }

  /// Makes a store of the program the first of the hub, on machine `a`.
  func create() throws {
    try succeed("migrate", "up", "--quiet", on: "a")
    try succeed("hub", "create", "--name", hub.name, "--machine", "a", on: "a")
  }

  @discardableResult
  func succeed(_ words: String..., on machine: String) throws -> Result {
    let result = try run(words, on: machine, hub.connectionText)
    try #require(result.status == 0, "\(words): \(result.errors)")
    return result
  }

  func run(_ words: String..., on machine: String, _ connection: String) throws -> Result {
    try run(words, on: machine, connection)
  }

  func run(_ words: [String], on machine: String, _ connection: String) throws -> Result {
    let child = try ChildProcess(
      childExecutable(named: "mooring"), words + ["--store", hub.folder.path(machine)],
      environment: [ConnectionString.hubVariable: connection])
    var lines: [String] = []
    while let line = child.readLine() { lines.append(line) }
    let errors = child.readErrors()
    let exit = child.waitForExit()
    return Result(status: exit.status, output: lines.joined(separator: "\n"), errors: errors)
  }
}
