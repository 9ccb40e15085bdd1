import Foundation

/// A PostgreSQL server with a new cluster in a folder, where its socket is, too. Its settings are
/// the usual ones: each commit is flushed.
///
/// It ends with this process, however that ends: a shell waits for the end of a pipe that only this
/// process holds. PostgreSQL refuses to run as root; then the user `postgres` runs it.
final class DatabaseServer {
  /// The folder of the newest installed version, by Debian's rule; nil if there is none.
  static var programs: String? {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.compactMap { Int($0) }.sorted(by: >).map { "\(root)/\($0)/bin" }
      .first { TimedProgram($0 + "/pgbench", []).exists }
  }

  private let programs: String
  private let folder: String
  private let shell = Process()
  private let life: Pipe

  /// Creates the cluster and starts the server, which takes some seconds.
  init(_ programs: String, in folder: URL) throws {
    self.programs = programs
    self.folder = folder.path
    let user = try Self.user(owning: folder)
    let data = folder.path + "/data"
    func run(_ command: [String]) throws {
      _ = try TimedProgram(user[0], user.dropFirst() + command).run()
    }
    try run([
      programs + "/initdb", "--pgdata", data, "--username", "mooring", "--encoding", "UTF8",
      "--no-locale", "--no-sync", "--auth", "trust",
    ])
    let control = [programs + "/pg_ctl", "--pgdata", data, "--silent"]
    try run(
      control + [
        "--log", folder.path + "/log", "--options",
        "-c listen_addresses= -c unix_socket_directories=\(folder.path) -c max_connections=60",
        "start",
      ])
    // The server must not have this pipe, so it is created after the start.
    life = Pipe()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments =
      ["-c", "trap '' INT TERM HUP; read -r _; exec \"$@\"", "database"] + user + control
      + ["--mode", "fast", "stop"]
    shell.standardInput = life
    shell.standardOutput = FileHandle.nullDevice
    try shell.run()
  }

  /// Stops the server and waits for its end.
  func stop() {
    try? life.fileHandleForWriting.close()
    shell.waitUntilExit()
  }

  /// The connection string of the superuser.
  var connectionText: String { "host=\(folder) user=mooring dbname=postgres" }

  /// Returns the output of a statement, without headings.
  @discardableResult
  func query(_ sql: String) throws -> String {
    try run("psql", ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", sql])
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs a client of the server and returns its output.
  func run(_ program: String, _ arguments: [String]) throws -> String {
    let place = ["--host", folder, "--username", "mooring"]
    return try TimedProgram("\(programs)/\(program)", place + arguments + ["postgres"]).run().output
  }

  /// Gives a folder to the user who runs the server.
  ///
  /// - Returns: The beginning of the commands that this user runs.
  private static func user(owning folder: URL) throws -> [String] {
    guard geteuid() == 0 else { return ["/usr/bin/env"] }
    _ = try TimedProgram("/bin/chown", ["postgres:", folder.path]).run()
    return ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
  }
}
