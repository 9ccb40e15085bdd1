import Foundation

/// pgbouncer in transaction mode: a client has a session of the server only during a transaction.
package final class ConnectionPooler: Sendable {
  private let folder: String
  private let process: SupervisedProcess

  private static let program = "/usr/sbin/pgbouncer"

  package static let skipReason =
    "pgbouncer is not installed (Debian: pgbouncer): nothing is tested with a pooler"
  package static let canRun =
    PostgreSQLServer.canRun
    && (FileManager.default.isExecutableFile(atPath: program)
      || ProcessInfo.processInfo.environment["CI"] == "true")

  /// Starts a pooler for the database of the server.
  package init(_ server: PostgreSQLServer) throws {
    folder = try SystemUser.makeFolder("mooring-pgbouncer")
    let file = folder + "/pgbouncer.ini"
    try """
    [databases]
    postgres = host=\(server.folder) user=mooring dbname=postgres
    [pgbouncer]
    pool_mode = transaction
    default_pool_size = 2
    auth_type = any
    listen_addr =
    listen_port = 6432
    unix_socket_dir = \(folder)

    """.write(toFile: file, atomically: false, encoding: .utf8)
    try SystemUser.own(folder)
    process = try SupervisedProcess(
      SystemUser.command([Self.program, file]), folder: folder, ready: "process up", endedBy: "TERM"
    )
  }

  package func stop() { process.stop() }

  package var connectionText: String {
    "host=\(folder) port=6432 user=mooring dbname=postgres"
  }
}
