import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct TLSTests {
  @Test func certificatesAreVerified() throws {
    try withTemporaryFolder { folder in
      let authority = folder.path("authority.pem")
      try openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2",
        "-subj", "/CN=Test", "-keyout", folder.path("authority.key"), "-out", authority)
      try openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2",
        "-subj", "/CN=Other", "-keyout", folder.path("other.key"), "-out", folder.path("other.pem"))
      let port = try freePort()
      let server = try PostgreSQLServer(settings: [
        "listen_addresses": "127.0.0.1", "port": "\(port)", "ssl": "on",
        "ssl_cert_file": "../server.pem", "ssl_key_file": "../server.key",
      ]) { files in
        try openssl(
          "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2",
          "-subj", "/CN=db.test", "-addext", "subjectAltName=DNS:db.test",
          "-CA", authority, "-CAkey", folder.path("authority.key"),
          "-keyout", files + "/server.key", "-out", files + "/server.pem")
      }
      defer { server.stop() }
      func text(_ host: String, _ mode: String, _ authority: String) -> String {
        """
        host=\(host) hostaddr=127.0.0.1 port=\(port) user=mooring dbname=postgres \
        sslmode=\(mode) sslrootcert=\(authority)
        """
      }
      func refusal(_ text: String) throws -> PostgreSQLError {
        try failure { _ = try Connection(ConnectionString(text), until: farDeadline) }
      }

      var connection = try Connection(
        ConnectionString(text("db.test", "verify-full", authority)), until: farDeadline)
      #expect(connection.isEncrypted == true)
      #expect(try connection.integers("SELECT 1::int8") == [1])
      let bytes = [UInt8](repeating: 7, count: 3 << 20)
      let echoed = try connection.rows(
        Statement("SELECT $1", .bytes(bytes)), until: farDeadline
      ) { try $0.bytes(0) }
      #expect(echoed == [bytes])

      let name = try refusal(text("other.test", "verify-full", authority))
      #expect(name.code == .connect)
      #expect(name.message.contains("does not match host name"), "\(name)")
      let unknown = try refusal(text("db.test", "verify-full", folder.path("other.pem")))
      #expect(unknown.message.contains("certificate verify failed"), "\(unknown)")
      let missing = try refusal(text("db.test", "verify-full", folder.path("none.pem")))
      #expect(missing.message.contains("does not exist"), "\(missing)")
      let plain = try refusal(text("db.test", "disable", authority))
      #expect(plain.sqlState == .invalidAuthorization)

      // The end of the session arrives through TLS, too.
      let process = connection.processID
      var other = try Connection(
        ConnectionString(text("db.test", "require", authority)), until: farDeadline)
      try other.execute(
        Statement("SELECT pg_terminate_backend($1, 60000)", .int4(process)), until: farDeadline)
      let end = try failure { _ = try connection.waitForNotifications(until: farDeadline) }
      #expect(end.sqlState == .adminShutdown)
    }
  }

  private func openssl(_ words: String, _ rest: String...) throws {
    let child = try ChildProcess(
      URL(filePath: "/usr/bin/openssl"), words.split(separator: " ").map(String.init) + rest)
    let exit = child.waitForExit()
    try #require(exit.status == 0, "\(child.readErrors())")
  }
}
