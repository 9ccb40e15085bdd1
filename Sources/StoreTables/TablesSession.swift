import EntityStore
import PostgreSQL
import StoreHub
import SystemSupport
import TextFormats

/// A connection that writes the tables of a hub, and the names and statements of what is there.
///
/// The tables are in a schema of their own, `mooring_` and the name of the hub, because the same
/// entity may have other attributes in another store. Beside the tables of entities it has
///
///     _position   one row: the token of the history up to which all tables have the changes; its
///                 lock is the right to write
///     _table      the tables that were made: the entity's id, the name, the shape
final class TablesSession {
  struct StoredTable {
    let entityID: Int
    let name: String
    let shape: String
  }

  struct State {
    /// `nil` if there is none yet.
    let token: HistoryToken?
    let tables: [StoredTable]
  }

  let schema: String
  private let connections: HubConnections
  private var connection: Connection?

  private static let answerMax = Duration.seconds(60)
  /// The longest wait for statements that empty a table, or make its primary key.
  static let wholeTableMax = Duration.seconds(3_600)
  private static let lockWaitMax = Duration.seconds(10)
  /// The time after which the server ends a writer that sends nothing.
  private static let silenceMax = Duration.seconds(30)

  /// - Throws: `StorageError` with `.unreachable`; `TablesError` with `.encoding`.
  init(_ address: HubAddress, on connections: HubConnections) throws {
    schema = "mooring_\(address.membership.name)"
    self.connections = connections
    connection = try connections.take(until: .now + HubConnections.answerMax)
    do {
      try requireEncoding()
    } catch let error as StorageError where error.code == .unreachable {
      // It may be a kept one that has ended since.
      connection = try connections.connect(until: .now + HubConnections.answerMax)
      try requireEncoding()
    }
  }

  /// Keeps the connection for the next session. A session that is released without this rolls its
  /// transaction back.
  func end() {
    if let connection = connection.take() { connections.put(connection) }
  }

  private func requireEncoding() throws {
    let encoding = try rows("SELECT current_setting('server_encoding')") { try $0.text(0) ?? "" }
    guard encoding == ["UTF8"] else {
      throw TablesError(
        .encoding, "the database cannot store every character", [("encoding", encoding.joined())],
        advice: "use a database with the encoding UTF8")
    }
  }

  /// Returns the quoted name of a table.
  func table(_ name: String) -> String { "\(schema.sqlName).\(name.sqlName)" }

  // MARK: The schema

  /// Creates the schema if it is missing, and lets roles read its tables, also those to come.
  func prepare(readers: [String]) throws {
    let statements = (try hasSchema() ? [] : creation) + readers.flatMap(grants)
    if !statements.isEmpty { try execute(statements) }
  }

  func hasSchema() throws -> Bool {
    try rows(Statement("SELECT to_regclass($1) IS NOT NULL", .text(table("_table")))) {
      try $0.bool(0) ?? false
    } == [true]
  }

  private var creation: [Statement] {
    [
      Statement("CREATE SCHEMA IF NOT EXISTS \(schema.sqlName)"),
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(table("_position")) (
          id int PRIMARY KEY, token text, machine text, written_at timestamptz)
        """),
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(table("_table")) (
          entity int PRIMARY KEY, name text NOT NULL, shape text NOT NULL)
        """),
      Statement("INSERT INTO \(table("_position")) (id) VALUES (1) ON CONFLICT DO NOTHING"),
    ]
  }

  private func grants(to role: String) -> [Statement] {
    let reader = role == "public" ? "PUBLIC" : role.sqlName
    return [
      Statement("GRANT USAGE ON SCHEMA \(schema.sqlName) TO \(reader)"),
      Statement("GRANT SELECT ON ALL TABLES IN SCHEMA \(schema.sqlName) TO \(reader)"),
      // The server itself then grants it on tables that replace others.
      Statement(
        """
        ALTER DEFAULT PRIVILEGES IN SCHEMA \(schema.sqlName) GRANT SELECT ON TABLES TO \(reader)
        """),
    ]
  }

  // MARK: The transaction

  /// Begins the transaction that writes, and waits until nobody else does.
  ///
  /// - Throws: `TablesError` with `.busy`; `StorageError`.
  func begin() throws -> State {
    try execute([
      // What the last writer has committed is then seen after its lock.
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      Statement("SET LOCAL lock_timeout = \(Int(Self.lockWaitMax / .milliseconds(1)))"),
      Statement(
        """
        SET LOCAL idle_in_transaction_session_timeout = \(Int(Self.silenceMax / .milliseconds(1)))
        """),
    ])
    let token = try rows(
      Statement("SELECT token FROM \(table("_position")) WHERE id = 1 FOR UPDATE")
    ) { try $0.text(0) }
    let tables = try rows(
      Statement("SELECT entity, name, shape FROM \(table("_table")) ORDER BY entity")
    ) { row in
      StoredTable(
        entityID: Int(try row.int4(0) ?? 0), name: try row.text(1) ?? "",
        shape: try row.text(2) ?? "")
    }
    // One that cannot be read is replaced, as one that has expired.
    return State(token: (token.first ?? nil).flatMap { try? HistoryToken($0) }, tables: tables)
  }

  func rollBack() throws { try execute([.rollback]) }

  /// The statements that store the position, and the tables at it, and commit.
  func end(at token: HistoryToken, machine: String) -> [Statement] {
    [
      Statement(
        """
        UPDATE \(table("_position"))
        SET token = $1, machine = $2, written_at = clock_timestamp() WHERE id = 1
        """, .text(token.description), .text(machine)),
      .commit,
    ]
  }

  /// Notes a table that was made.
  func note(_ entityID: Int, _ shape: TableShape) -> Statement {
    Statement(
      """
      INSERT INTO \(table("_table")) (entity, name, shape) VALUES ($1, $2, $3)
      ON CONFLICT (entity) DO UPDATE SET name = excluded.name, shape = excluded.shape
      """, .int4(Int32(clamping: entityID)), .text(shape.name), .text(shape.text))
  }

  /// Removes a table.
  func drop(_ stored: StoredTable) -> [Statement] {
    [
      Statement("DROP TABLE IF EXISTS \(table(stored.name))"),
      Statement(
        "DELETE FROM \(table("_table")) WHERE entity = $1",
        .int4(Int32(clamping: stored.entityID))),
    ]
  }

  /// The statements that remove the schema after its last table, and commit.
  ///
  /// Objects that others have made there keep the schema.
  func dropSchema() throws {
    try execute([
      Statement("DROP TABLE \(table("_position")), \(table("_table"))"), .commit,
    ])
    do {
      try execute([Statement("DROP SCHEMA \(schema.sqlName)")])
    } catch let error as TablesError where error.code == .inUse {}
  }

  // MARK: Statements

  func execute(_ statements: [Statement], within limit: Duration = answerMax) throws {
    _ = try run { try $0.execute(statements, until: .now + limit) }
  }

  func rows<T>(
    _ statement: Statement, _ transform: (borrowing PostgreSQL.ResultRow) throws -> T
  ) throws -> [T] {
    try run { try $0.rows(statement, until: .now + Self.answerMax, transform) }
  }

  private func run<R>(_ body: (inout Connection) throws -> R) throws -> R {
    guard var connection = connection.take() else {
      throw StorageError(.unreachable, "the session has ended", advice: "try again")
    }
    let result: R
    do {
      result = try body(&connection)
    } catch {
      self.connection = consume connection
      throw Self.translated(error)
    }
    self.connection = consume connection
    return result
  }

  private static func translated(_ error: any Error) -> any Error {
    if let error = error as? PostgreSQLError, let found = TablesError(error) { return found }
    return StorageError(hub: error)
  }
}
