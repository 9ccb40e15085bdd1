import Foundation
import Glibc
import TestSupport

/// A PostgreSQL server with a new cluster in a temporary folder, for the tests of this process. It
/// is reached by a socket in that folder, needs no password, and writes nothing durably.
///
/// A user of the system runs it who is not root, as PostgreSQL demands.
package final class PostgreSQLServer: Sendable {
  /// The folder of the socket.
  package let folder: String
  private let process: SupervisedProcess

  /// The reason why the tests that need a server are skipped.
  package static let skipReason =
    "PostgreSQL 15 is not installed (Debian: postgresql-15): nothing is tested with a server"

  /// True if the server is installed; in the continuous integration always, so that the tests fail
  /// there if it is missing.
  package static let canRun =
    programs != nil || ProcessInfo.processInfo.environment["CI"] == "true"

  /// Returns the server that most tests share, and starts it before that if nobody has.
  package static func shared() throws -> PostgreSQLServer { try result.get() }

  private static let result = Result { try PostgreSQLServer() }

  private let settings: [String: String]

  /// Starts a server, which takes about a second.
  ///
  /// - Parameters:
  ///   - settings: Settings of postgresql.conf beyond those of every test.
  ///   - data: A new folder for the data without the write-ahead log, on a device of the test.
  ///   - prepare: Called with the folder before the start, for files that the settings name.
  package convenience init(
    settings: [String: String] = [:], data: String? = nil,
    prepare: (String) throws -> Void = { _ in }
  ) throws {
    try self.init(settings, data: data, prepare) { programs, data, folder in
      try SystemUser.run([
        programs + "/initdb", "--pgdata", data, "--waldir", folder + "/wal", "--wal-segsize", "1",
        "--username", "mooring", "--encoding", "UTF8", "--no-locale", "--no-sync",
        "--no-instructions", "--auth", "trust",
      ])
      try Self.accessRules.write(toFile: data + "/pg_hba.conf", atomically: false, encoding: .utf8)
    }
  }

  private init(
    _ settings: [String: String], data: String?, _ prepare: (String) throws -> Void = { _ in },
    fill: (_ programs: String, _ data: String, _ folder: String) throws -> Void
  ) throws {
    guard let programs = Self.programs else { throw StartError(description: Self.skipReason) }
    self.settings = settings
    folder = try SystemUser.makeFolder("mooring-postgresql")
    try prepare(folder)
    try SystemUser.own(folder)
    if let data { try SystemUser.own(data) }
    let data = data ?? folder + "/data"
    try fill(programs, data, folder)
    let all = [
      "fsync": "off", "full_page_writes": "off", "listen_addresses": "",
      "unix_socket_directories": folder, "max_connections": "40", "shared_buffers": "16MB",
      "wal_level": "minimal", "max_wal_senders": "0", "autovacuum": "off",
    ].merging(settings) { _, new in new }
    process = try SupervisedProcess(
      SystemUser.command([programs + "/postgres", "-D", data])
        + all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] },
      folder: folder, ready: "ready to accept", endedBy: "QUIT")
  }

  /// The settings of a server that standbys may follow.
  package static let replicationSettings = ["wal_level": "replica", "max_wal_senders": "8"]

  /// Starts a standby with a copy of this server's data, which receives all that it commits.
  package func makeStandby() throws -> PostgreSQLServer {
    try PostgreSQLServer(settings, data: nil) { [folder] programs, data, own in
      try SystemUser.run([
        programs + "/pg_basebackup", "--host", folder, "--username", "mooring", "--pgdata", data,
        "--waldir", own + "/wal", "--write-recovery-conf", "--checkpoint", "fast", "--no-sync",
      ])
    }
  }

  package func stop() { process.stop() }

  /// The connection string of the superuser `mooring`, without its options.
  package var connectionText: String { "host=\(folder) user=mooring dbname=postgres" }

  /// Roles with these names need a password.
  private static let accessRules = """
    local   all  guarded_a,guarded_b  scram-sha-256
    local   all,replication  all      trust
    hostssl all  all  127.0.0.1/32    trust

    """

  struct StartError: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder of the newest installed version, by Debian's rule.
  private static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.compactMap { Int($0) }.sorted(by: >).map { "\(root)/\($0)/bin" }
      .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
  }()
}

/// The user who runs the servers: this one, or for root one without rights.
enum SystemUser {
  private static let isRoot = geteuid() == 0

  /// User and group; those of Debian's package, if it has created them.
  private static let ids: (uid_t, gid_t) = {
    guard isRoot else { return (geteuid(), getegid()) }
    for name in ["postgres", "nobody"] {
      // SAFETY: the entry is read before the next call of the function, which happens once.
      if let entry = getpwnam(name) { return (entry.pointee.pw_uid, entry.pointee.pw_gid) }
    }
    return (65_534, 65_534)
  }()

  static func command(_ command: [String]) -> [String] {
    guard isRoot else { return command }
    return ["/usr/bin/setpriv", "--reuid=\(ids.0)", "--regid=\(ids.1)", "--clear-groups"] + command
  }

  /// Creates a folder with a short name, because the path of a socket has at most 107 bytes.
  static func makeFolder(_ prefix: String) throws -> String {
    var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
    // SAFETY: mkdtemp writes over the last characters of a string that ends with zero.
    let isMade = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) } != nil
    }
    guard isMade else {
      throw PostgreSQLServer.StartError(description: String(cString: strerror(errno)))
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Gives the folder and its content to the user.
  static func own(_ folder: String) throws {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    for path in [folder] + names.map({ "\(folder)/\($0)" }) {
      guard chown(path, ids.0, ids.1) == 0 else {
        throw PostgreSQLServer.StartError(
          description: "\(path): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Runs a program to its end.
  static func run(_ arguments: [String]) throws {
    let command = command(arguments)
    let child = try ChildProcess(
      URL(filePath: command[0]), Array(command.dropFirst()), environment: ["LC_ALL": "C"])
    while child.readLine() != nil {}
    let exit = child.waitForExit()
    guard exit.status == 0 else {
      throw PostgreSQLServer.StartError(description: child.readErrors())
    }
  }
}
