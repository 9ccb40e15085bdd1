import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct HubTablesTests {
  @Test func tablesAreMadeListedFollowedAndDropped() async throws {
    try await withSharedStore { hub in
      let made = try hub.mooring("tables", "--entity", "Episode", "--grant", "public")
      #expect(made.status == 0, "\(made.errors)")
      #expect(
        made.lines == [
          "table                     rows  written  removed  how",
          "\(hub.table)     5        5        0  filled",
        ])
      #expect(try hub.titles() == SampleFeed.titles.map { $0.contains("\0") ? nil : $0 })
      let again = try hub.mooring("tables", "--format", "json")
      #expect(again.output.contains(#""isFilled":false"#) && again.output.contains(#""written":0"#))

      let follower = try hub.start("tables", "--follow")
      try follower.waitForError("following the store")
      let second = try hub.mooring("tables")
      #expect(second.status == 75)
      #expect(second.errors.contains("process \(follower.pid)"))
      var listener = try hub.listen()
      let set = try hub.run("set", "Episode", "ep:5", "progress=0.25")
      #expect(set.status == 0, "\(set.errors)")
      try hub.waitForProgress("0.25", &listener)
      // The server ends all connections of the follower, which makes new ones.
      try hub.execute(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = '\(hub.name)' AND pid NOT IN (pg_backend_pid(), \(listener.processID))
        """)
      _ = try hub.run("set", "Episode", "ep:5", "progress=0.75")
      try hub.waitForProgress("0.75", &listener)
      kill(follower.pid, SIGTERM)
      let ended = try await follower.finished()
      #expect(ended.status == 0, "\(ended.errors)")

      let dropped = try hub.mooring("tables", "--drop")
      #expect(dropped.lines == ["dropped \(hub.table)"])
      #expect(try hub.mooring("tables").status == 69)
      let check = try hub.run("check")
      #expect(check.status == 0, "\(check.errors)")
    }
  }

  @Test func wrongArgumentsAreRefused() async throws {
    try await withSharedStore { hub in
      for (arguments, status, message) in [
        (["--entity", "Episod"], 64, "Episode"),
        (["--entity", "_Job"], 78, "of the program itself"),
        (["--entity", "Episode", "--grant", "nobody-at-all"], 69, "no such role"),
        (["--drop", "--follow"], 64, "--drop goes with neither"),
        (["--drop"], 69, "has no tables"),
        ([], 69, "has no tables"),
        (["--format", "csv"], 64, "does not fit here"),
      ] {
        let run = try hub.mooring("tables", arguments)
        #expect(run.status == status, "\(arguments): \(run.errors)")
        #expect(run.errors.contains(message), "\(arguments): \(run.errors)")
      }
      let alone = try mooring(
        "hub", "tables", store: hub.store + "-2", environment: hub.environment)
      #expect(alone.status == 69)
    }
  }
}

/// A store of a hub in a database of its own, which the commands have made.
private struct SharedStore {
  let name: String
  let store: String
  let server: PostgreSQLServer

  var connectionText: String { "host=\(server.folder) user=mooring dbname=\(name)" }
  var environment: [String: String] { ["MOORING_HUB": connectionText] }
  var table: String { #""mooring_home"."Episode""# }

  func run(_ arguments: String...) throws -> ToolRun {
    try ToolTests.run("mooring", arguments, store: store, environment: environment)
  }

  func mooring(_ verb: String, _ arguments: String...) throws -> ToolRun {
    try mooring(verb, arguments)
  }

  func mooring(_ verb: String, _ arguments: [String]) throws -> ToolRun {
    try ToolTests.run(
      "mooring", ["hub", verb] + arguments, store: store, environment: environment)
  }

  func start(_ arguments: String...) throws -> StartedTool {
    try StartedTool("mooring", ["hub"] + arguments, store: store, environment: environment)
  }

  func connect() throws -> Connection {
    try Connection(try ConnectionString(connectionText), until: .now + .seconds(10))
  }

  func execute(_ sql: String) throws {
    var connection = try connect()
    try connection.execute(Statement(sql), until: .now + .seconds(10))
  }

  func titles() throws -> [String?] {
    var connection = try connect()
    return try connection.rows(
      Statement("SELECT title FROM \(table) ORDER BY id"), until: .now + .seconds(10)
    ) { try $0.text(0) }
  }

  /// Waits until an update of the tables has written a value into the column `progress`.
  func waitForProgress(_ value: String, _ connection: inout Connection) throws {
    while true {
      let wait = try connection.waitForNotifications(until: .now + .seconds(120))
      guard case .received(let notifications) = wait else {
        throw StartedTool.Hangs(description: "the progress \(value) did not come")
      }
      if notifications.contains(where: { $0.payload == value }) { return }
    }
  }

  /// Returns a connection that is notified of each value of the column `progress`.
  func listen() throws -> Connection {
    var connection = try connect()
    try connection.execute(
      [
        """
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_notify('progress', new.progress::text); RETURN NULL; END $$
        """,
        Statement(
          "CREATE TRIGGER note AFTER UPDATE ON \(table) FOR EACH ROW EXECUTE FUNCTION note()"),
        Statement.listen(to: "progress"),
      ], until: .now + .seconds(10))
    return connection
  }
}

private func withSharedStore(_ body: (SharedStore) async throws -> Void) async throws {
  let server = try PostgreSQLServer.shared()
  try await withTemporaryFolder { folder in
    let name = "tables_\(UUID().uuidString.prefix(8).lowercased())"
    let shared = SharedStore(name: name, store: folder.path("store"), server: server)
    var connection = try Connection(
      try ConnectionString(server.connectionText), until: .now + .seconds(10))
    try connection.execute(Statement("CREATE DATABASE \(name)"), until: .now + .seconds(60))
    try SampleStore.copy(to: shared.store)
    let created = try shared.mooring("create", "--name", "home")
    try #require(created.status == 0, "\(created.errors)")
    try await body(shared)
  }
}
