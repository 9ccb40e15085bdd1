import EntityModel
import EntityStore
import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// Ways to a database, and what a role may do there.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(5)))
struct HubAccessTests {
  @Test func aRoleThatOwnsNothingUsesAHubWithTheRightsThatThePageNames() async throws {
    try await withDatabase { database in
      try await withHub(at: database) { hub in
        try await hub.create()
        let role = "guest_\(UUID().uuidString.prefix(8).lowercased())"
        try execute(
          Statement("CREATE ROLE \(role) LOGIN NOSUPERUSER"), at: database)
        let guest = hub.through(database.replacingOccurrences(of: "mooring ", with: role + " "))
        #expect(await code { _ = try guest.join("second") } == .notPermitted)
        try execute(
          Statement("GRANT USAGE ON SCHEMA mooring TO \(role)"),
          Statement("GRANT SELECT ON ALL TABLES IN SCHEMA mooring TO \(role)"), at: database)
        // It may read: a copy comes, and then the machine cannot be noted.
        #expect(await code { _ = try guest.join("second") } == .notPermitted)
        try execute(
          Statement(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mooring TO \(role)"),
          at: database)
        let (first, second) = (try hub.open("first"), try guest.join("second"))
        try await insert("from a guest", into: second)
        try await insert("from the owner", into: first)
        let lock = try #require(try second.options.sharedLocks.take("sync-1"))
        lock.release()
        var session = try guest.session()
        _ = try session.trim(second, of: guest.identity())
        #expect(try EngineCheck(guest.database).run().filter { $0.problem != nil } == [])
        try requireSame([first, second])
        try execute(
          Statement("REVOKE INSERT ON mooring.entry FROM \(role)"), at: database)
        #expect(await code { try await insert("refused", into: second) } == .notPermitted)
        try await insert("the turn is free", into: first)
        try second.catchUp()
        #expect(try names(of: second).contains("the turn is free"))
        // So that the role can be dropped with the database.
        first.close()
        second.close()
        try execute(
          Statement("DROP OWNED BY \(role)"), Statement("DROP ROLE \(role)"), at: database)
      }
    }
  }

  @Test func aHubWhoseTablesWereChangedIsNotTakenForOneThatCannotBeReached() async throws {
    try await withDatabase { database in
      try await withHub(at: database) { hub in
        try await hub.create()
        let first = try hub.open("first")
        try await insert("before", into: first)
        try execute("ALTER TABLE mooring.entry RENAME COLUMN nonce TO other", at: database)
        #expect(await code { try await insert("refused", into: first) } == .needsCommitLog)
        try execute("ALTER TABLE mooring.entry RENAME COLUMN other TO nonce", at: database)
        try await insert("after", into: first)
        let stored = Set(try names(of: first))
        #expect(stored.isSuperset(of: ["before", "after"]) && !stored.contains("refused"))
        try requireSame([first, try hub.join("second")])
      }
    }
  }

  @Test func theBodiesOfEntriesAreCompressedByLZ4() async throws {
    try await withDatabase { database in
      try await withHub(at: database) { hub in
        try await hub.create()
        var connection = try Connection(ConnectionString(database), until: .now + .seconds(60))
        let methods = try connection.rows(
          """
          SELECT attcompression::text FROM pg_attribute WHERE attname = 'body'
          AND attrelid IN ('mooring.entry'::regclass, 'mooring.snapshot_part'::regclass)
          """, until: .now + .seconds(60)
        ) { try $0.text(0) }
        #expect(methods == ["l", "l"])
        try requireSame([try hub.open("first"), try hub.join("second")])
      }
    }
  }

  @Test func aHubIsReachedOverTLSWithAPrivateAuthority() async throws {
    try await withTemporaryFolder { folder in
      let authority = folder.path("authority.pem")
      let key = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
      try openssl(key, "-subj", "/CN=Test", "-keyout", folder.path("key"), "-out", authority)
      try openssl(
        key, "-subj", "/CN=Other", "-keyout", folder.path("k"), "-out", folder.path("other.pem"))
      let port = try freePort()
      let server = try PostgreSQLServer(settings: [
        "listen_addresses": "127.0.0.1", "port": "\(port)", "ssl": "on", "max_connections": "60",
        "ssl_cert_file": "../server.pem", "ssl_key_file": "../server.key",
      ]) { files in
        try openssl(
          key, "-subj", "/CN=db.test", "-addext", "subjectAltName=DNS:db.test", "-CA", authority,
          "-CAkey", folder.path("key"), "-keyout", files + "/server.key", "-out",
          files + "/server.pem")
      }
      defer { server.stop() }
      func text(_ host: String, _ authority: String) -> String {
        """
        host=\(host) hostaddr=127.0.0.1 port=\(port) user=mooring dbname=postgres \
        sslmode=verify-full sslrootcert=\(authority)
        """
      }
      try await withHub(at: text("db.test", authority)) { hub in
        try await hub.create()
        let (first, second) = (try hub.open("first"), try hub.join("second"))
        let follower = try HubFollower(second, of: hub.address("second"))
        defer { follower.stop() }
        try await insert("over TLS", into: first)
        try requireSame([first, second])
        for wrong in [text("other.test", authority), text("db.test", folder.path("other.pem"))] {
          #expect(await code { _ = try hub.through(wrong).join("third") } == .unreachable)
          let store = try hub.through(wrong).open("first") { _ in }
          #expect(try names(of: store).count == 2)
        }
      }
    }
  }

  /// Runs `body` with the connection string of a new database of the shared server.
  private func withDatabase(_ body: (String) async throws -> Void) async throws {
    let server = try HubServer.shared()
    let name = "d\(UUID().uuidString.prefix(8).lowercased())"
    try execute(Statement("CREATE DATABASE \(name)"), at: server.connectionText)
    try await body("host=\(server.folder) user=mooring dbname=\(name)")
  }

  private func openssl(_ words: String, _ rest: String...) throws {
    let child = try ChildProcess(
      URL(filePath: "/usr/bin/openssl"), words.split(separator: " ").map(String.init) + rest)
    let exit = child.waitForExit()
    try #require(exit.status == 0, "\(child.readErrors())")
  }
}
