import Foundation
import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct ConnectTests {
  private func connectFailure(_ text: String) throws -> PostgreSQLError {
    let error = try failure { _ = try Connection(ConnectionString(text), until: farDeadline) }
    #expect(error.code == .connect, "\(error)")
    #expect(error.isOutcomeKnown)
    return error
  }

  @Test func aConnectionKnowsItsServer() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    let version = connection.serverVersion
    let process = connection.processID
    #expect(version >= 150_000)
    #expect(try connection.integers("SELECT pg_backend_pid()") == [Int64(process)])
    let state = connection.transactionState
    #expect(state == .idle)
    #expect(connection.isEncrypted == false)
    let names = try connection.rows(
      "SELECT current_setting('application_name'), current_setting('client_encoding')",
      until: farDeadline
    ) { [try $0.text(0), try $0.text(1)] }
    #expect(names == [["mooring", "UTF8"]])
  }

  @Test func aWrongPasswordIsRefusedAndNotShown() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    try connection.execute(
      "CREATE ROLE guarded_a LOGIN PASSWORD 'hunter2'", until: farDeadline)
    let text = "host=\(server.folder) dbname=postgres user=guarded_a"
    let error = try connectFailure("\(text) password=hunter3")
    #expect(error.sqlState == .invalidPassword)
    #expect(error.sqlState?.class == .authorization)
    #expect(
      error.message.hasSuffix(#"FATAL:  password authentication failed for user "guarded_a""#))
    let missing = try connectFailure("\(text) passfile=/dev/null")
    #expect(missing.message.contains("no password supplied"))
    for error in [error, missing] {
      #expect(!"\(error) \(String(reflecting: error))".contains("hunter"))
    }
    var admitted = try Connection(
      ConnectionString("\(text) password=hunter2"), until: farDeadline)
    #expect(try admitted.integers("SELECT 1::int8") == [1])
  }

  @Test func aRefusalHasItsSQLState() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    try connection.execute("CREATE ROLE narrow LOGIN CONNECTION LIMIT 0", until: farDeadline)
    let host = "host=\(server.folder)"
    #expect(try connectFailure("\(host) user=mooring dbname=none").sqlState == .undefinedDatabase)
    #expect(try connectFailure("\(host) user=nobody dbname=x").sqlState == .invalidAuthorization)
    #expect(
      try connectFailure("\(host) user=narrow dbname=postgres").sqlState == .tooManyConnections)
  }

  @Test func aMissingServerIsReported() throws {
    let socket = try connectFailure("host=/nonexistent user=mooring")
    #expect(socket.sqlState == nil)
    #expect(socket.message.contains("/nonexistent"))
    let refused = try connectFailure("host=127.0.0.1 port=\(freePort()) user=mooring")
    #expect(refused.message.contains("Connection refused"))
  }

  @Test func connectingHasADeadline() throws {
    // The kernel accepts the connection, and nobody answers.
    let (descriptor, port) = try listeningSocket()
    defer { close(descriptor) }
    let string = try ConnectionString("host=127.0.0.1 port=\(port) user=mooring")
    let error = try failure { _ = try Connection(string, until: .now + .milliseconds(50)) }
    #expect(error.code == .deadline)
    #expect(error.isOutcomeKnown)
  }

  @Test func theNextHostIsTried() throws {
    let server = try PostgreSQLServer.shared()
    let text = "host=/nonexistent,\(server.folder) user=mooring dbname=postgres"
    var connection = try Connection(ConnectionString(text), until: farDeadline)
    #expect(try connection.integers("SELECT 1::int8") == [1])
  }

  /// A process of its own, because the environment of this one is read by other threads.
  @Test func serviceAndPasswordFilesAreRead() async throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    try connection.execute(
      "CREATE ROLE guarded_b LOGIN PASSWORD 'from a file'", until: farDeadline)
    try await withTemporaryFolder { folder in
      let service = "[home]\nhost=\(server.folder)\nuser=guarded_b\ndbname=postgres\n"
      try service.write(toFile: folder.path("services"), atomically: false, encoding: .utf8)
      let password = folder.path("passwords")
      try "*:*:*:guarded_b:from a file\n"
        .write(toFile: password, atomically: false, encoding: .utf8)
      try #require(chmod(password, 0o600) == 0)
      await #expect(processExitsWith: .success) { [folder = folder.path as String] in
        setenv("PGSERVICEFILE", folder + "/services", 1)
        setenv("PGPASSFILE", folder + "/passwords", 1)
        var connection = try Connection(ConnectionString("service=home"), until: farDeadline)
        let users = try connection.rows("SELECT current_user", until: farDeadline) {
          try $0.text(0)
        }
        guard users == ["guarded_b"] else { exit(1) }
      }
    }
  }

  /// A process of its own, in which no other test has connected.
  @Test func theLibraryIsLoadedWhenItIsNeeded() async {
    await #expect(processExitsWith: .success) {
      guard dlopen("libpq.so.5", RTLD_NOW | RTLD_NOLOAD) == nil else { exit(1) }
      _ = try ConnectionString("host=/run")
      guard dlopen("libpq.so.5", RTLD_NOW | RTLD_NOLOAD) != nil else { exit(2) }
    }
  }

  @Test func aMissingLibraryIsOneClearError() throws {
    let error = try failure { _ = try LibPQ(file: "libpq-that-is-missing.so.5") }
    #expect(error.code == .libraryMissing)
    #expect("\(error)".contains("libpq-that-is-missing.so.5"))
    #expect(error.advice == "install the Debian package libpq5")
    let other = try failure { _ = try LibPQ(file: "libc.so.6") }
    #expect(other.message == "libc.so.6 has no function PQlibVersion")
  }
}
