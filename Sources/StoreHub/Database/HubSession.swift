package import Foundation
import Glibc
package import PostgreSQL
package import SystemSupport

/// A connection for the administration of hubs. One thread at a time uses it.
package struct HubSession: ~Copyable {
  private var connection: Connection

  /// The oldest version whose `idle_in_transaction_session_timeout` and pipelines were seen to work
  /// as a hub needs them.
  private static let oldestVersion = 110_000
  private static let answerMax = Duration.seconds(60)

  /// Connects.
  ///
  /// - Throws: `StorageError` with `.unreachable`, also for a server that is a standby;
  ///   `.permission` for a role that it refuses; `.needsCommitLog` for one that is too old, or does
  ///   not have the database.
  package init(_ database: ConnectionString) throws(StorageError) {
    var connection = try Self.connect(to: database)
    try Self.check(&connection)
    self.connection = connection
  }

  private static func connect(
    to database: ConnectionString
  ) throws(StorageError) -> Connection {
    do {
      return try Connection(database, until: .now + HubConnections.answerMax)
    } catch {
      throw StorageError(hub: error)
    }
  }

  private static func check(_ connection: inout Connection) throws(StorageError) {
    guard connection.serverVersion >= oldestVersion else {
      throw StorageError(
        .needsCommitLog, "the server of the hub is too old",
        context: [("version", String(connection.serverVersion / 10_000))],
        advice: "use PostgreSQL 11 or newer")
    }
    let isStandby: Bool?
    do {
      isStandby =
        try connection.rows(
          "SELECT pg_is_in_recovery()", until: .now + answerMax
        ) { try $0.bool(0) }.first ?? nil
    } catch {
      throw StorageError(hub: error)
    }
    if isStandby != false {
      throw StorageError(
        .unreachable, "the server of the hub is a standby", advice: "name the primary server")
    }
  }

  /// Creates the tables that are missing. A role that may not create any can use those that exist.
  ///
  /// - Throws: `StorageError` with `.permission`, `.unreachable`.
  mutating func createTables() throws(StorageError) {
    if try hasTables() { return }
    do {
      let compression = try hasFastCompression() ? HubSchema.fastCompression : []
      try execute(HubSchema.statements + compression)
    } catch {
      // Another session may have created them at the same time, which the server reports as
      // duplicates in spite of IF NOT EXISTS.
      for _ in 0..<Self.creationChecksMax {
        if try hasTables() { return }
        usleep(100_000)
      }
      throw error
    }
  }

  private static let creationChecksMax = 10

  private mutating func hasTables() throws(StorageError) -> Bool {
    let query: Statement =
      "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'mooring'"
    let count = try rows(query) { try $0.int8(0) ?? 0 }.first ?? 0
    return count >= HubSchema.tablesCount
  }

  /// Returns false for a server that is too old, was built without LZ4, or is another engine.
  private mutating func hasFastCompression() throws(StorageError) -> Bool {
    let query: Statement = """
      SELECT count(*) FROM pg_settings
      WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)
      """
    return try rows(query) { try $0.int8(0) ?? 0 }.first == 1
  }

  mutating func execute(_ statements: [Statement]) throws(StorageError) {
    do {
      try connection.execute(statements, until: .now + Self.answerMax)
    } catch {
      throw StorageError(hub: error)
    }
  }

  mutating func rows<T>(
    _ statement: Statement, _ transform: (borrowing ResultRow) throws -> T
  ) throws(StorageError) -> [T] {
    do {
      return try connection.rows(statement, until: .now + Self.answerMax, transform)
    } catch {
      throw StorageError(hub: error)
    }
  }

  /// Returns the identity of the hub with a name.
  ///
  /// - Throws: `StorageError` with `.needsCommitLog` if the database has no hub at all, or this one
  ///   is of a newer version.
  package mutating func hub(named name: String) throws(StorageError) -> UUID? {
    let found = try rows(
      Statement("SELECT id, format FROM mooring.store WHERE name = $1", .text(name))
    ) { (try $0.uuid(0), try $0.int4(1)) }.first
    guard let (hub, format) = found else { return nil }
    guard format == HubSchema.format else { throw .newerHub(name) }
    return hub
  }

  /// Returns the names of all hubs of the database.
  package mutating func hubNames() throws(StorageError) -> [String] {
    try rows("SELECT name FROM mooring.store ORDER BY name") { try $0.text(0) ?? "" }
  }

  /// Adds a hub without entries.
  ///
  /// - Returns: The identity of the hub that has the name now: the given one, or that of an older
  ///   hub.
  mutating func add(_ hub: UUID, named name: String) throws(StorageError) -> UUID? {
    try execute([
      Statement(
        """
        INSERT INTO mooring.store (id, name, seq, chain, first_seq, clock, format)
        VALUES ($1, $2, 0, $3, 1, 0, $4) ON CONFLICT DO NOTHING
        """, .uuid(hub), .text(name), .bytes(UInt128(0).bytes), .int4(HubSchema.format))
    ])
    return try self.hub(named: name)
  }

  /// Notes that a machine is there, and the newest entry that it has.
  package mutating func note(
    _ membership: HubMembership, sequence: UInt64, program: String
  ) throws(StorageError) {
    try execute([.note(HubPresence(entry: sequence, program: program), of: membership)])
  }

  /// Returns the identity of the machine with a name.
  mutating func machine(named name: String, of hub: UUID) throws(StorageError) -> UUID? {
    try rows(
      Statement(
        "SELECT id FROM mooring.machine WHERE store = $1 AND name = $2", .uuid(hub), .text(name))
    ) { try $0.uuid(0) }.first ?? nil
  }

  /// Removes a machine from the list.
  mutating func remove(_ machine: UUID, of hub: UUID) throws(StorageError) {
    try execute([
      Statement(
        "DELETE FROM mooring.machine WHERE store = $1 AND id = $2", .uuid(hub), .uuid(machine))
    ])
  }
}

/// The note of a machine about itself.
struct HubPresence: Sendable {
  /// The newest entry that it has.
  let entry: UInt64
  let program: String
}

extension Statement {
  /// Notes that a machine is there.
  static func note(_ presence: HubPresence, of membership: HubMembership) -> Statement {
    Statement(
      """
      INSERT INTO mooring.machine (store, id, name, seq, seen_at, program)
      VALUES ($1, $2, $3, $4, clock_timestamp(), $5)
      ON CONFLICT (store, id) DO UPDATE SET name = excluded.name, seq = excluded.seq,
        seen_at = excluded.seen_at, program = excluded.program
      """, .uuid(membership.hub), .uuid(membership.machine), .text(membership.machineName),
      .int8(Int64(clamping: presence.entry)), .text(presence.program))
  }
}

extension ResultRow {
  /// Returns a number of an entry.
  borrowing func sequence(_ column: Int) throws -> UInt64 {
    guard let number = try int8(column), let sequence = UInt64(exactly: number) else {
      throw damaged
    }
    return sequence
  }

  borrowing func chain(_ column: Int) throws -> UInt128? {
    guard let bytes = try bytes(column) else { return nil }
    guard let chain = bytes.withUnsafeBytes({ UInt128(bytes: $0) }) else { throw damaged }
    return chain
  }

  private var damaged: StorageError {
    StorageError(
      .damaged, "the hub has a value that this program does not write",
      advice: "look who else writes to its tables; restore them from a backup")
  }
}
