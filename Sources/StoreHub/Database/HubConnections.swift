package import PostgreSQL
package import SystemSupport

/// The connections of one process to the database of a hub. One that is not in use is kept for the
/// next caller.
package final class HubConnections: Sendable {
  /// The longest wait for an answer of the server, beyond a wait for a lock.
  package static let answerMax = Duration.seconds(10)

  private let database: ConnectionString
  private let kept = Kept()

  package init(_ database: ConnectionString) { self.database = database }

  /// Returns a connection that may have ended since it was last used.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  package func take(until deadline: ContinuousClock.Instant) throws(StorageError) -> Connection {
    if let connection = kept.take() { return connection }
    return try connect(until: deadline)
  }

  /// Makes a new connection.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  package func connect(until deadline: ContinuousClock.Instant) throws(StorageError) -> Connection {
    do {
      return try Connection(database, until: deadline)
    } catch {
      throw StorageError(hub: error)
    }
  }

  /// Takes a connection back that is no longer in use. One in a transaction is closed.
  package func put(_ connection: consuming Connection) {
    guard case .idle = connection.transactionState else { return }
    kept.put(connection)
  }

  /// Runs a body that may be run again, on a kept connection or, if that has ended, a new one.
  ///
  /// - Throws: `StorageError`, also for the errors of the body.
  func run<R>(
    _ body: (inout Connection, ContinuousClock.Instant) throws -> R
  ) throws -> R {
    let deadline = ContinuousClock.now + Self.answerMax
    var connection = try take(until: deadline)
    let result: R
    do {
      result = try body(&connection, deadline)
    } catch let error as PostgreSQLError where error.code == .connectionLost {
      connection = try connect(until: deadline)
      do { result = try body(&connection, deadline) } catch { throw StorageError(hub: error) }
    } catch {
      throw StorageError(hub: error)
    }
    put(connection)
    return result
  }
}

// SAFETY (@unchecked): the connection is touched under the lock only.
private final class Kept: @unchecked Sendable {
  private let lock = ThreadLock()
  private var connection: Connection?

  func take() -> Connection? {
    lock.lock()
    defer { lock.unlock() }
    return connection.take()
  }

  func put(_ returned: consuming Connection) {
    lock.lock()
    defer { lock.unlock() }
    if connection == nil { connection = consume returned }
  }
}

extension StorageError {
  /// Returns the error of a store for one of its hub's database.
  package init(hub error: any Error) {
    if let error = error as? StorageError {
      self = error
      return
    }
    let cause = [("cause", (error as? PostgreSQLError)?.cause ?? "\(error)")]
    switch (error as? PostgreSQLError)?.sqlState {
    case .lockTimeout?:
      self.init(
        .busy, "another machine has the turn to write", context: cause, advice: "try again")
    case .idleInTransactionTimeout?:
      self.init(
        .busy, "the turn to write ended before the commit", context: cause, advice: "try again")
    case .invalidPassword?, .invalidAuthorization?:
      self.init(
        .permission, "the server of the hub refuses the role", context: cause,
        advice: "check user and password in the connection string, and pg_hba.conf")
    case .undefinedDatabase?:
      self.init(
        .needsCommitLog, "the server does not have the database of the hub", context: cause,
        advice: "check the name of the database")
    case .diskFull?:
      self.init(
        .unreachable, "the database of the hub has no room left", context: cause,
        advice: "free some space on its server")
    case .readOnlyTransaction?:
      self.init(
        .unreachable, "the server of the hub is a standby", context: cause,
        advice: "name the primary server")
    case .insufficientPrivilege?:
      self.init(
        .permission, "the role may not write to the hub", context: cause,
        advice: "grant it USAGE on the schema mooring, and SELECT, INSERT, UPDATE and DELETE there")
    case .undefinedTable?, .undefinedSchema?:
      self.init(
        .needsCommitLog, "the database has no hub", context: cause,
        advice: "check the name of the database, or create the hub first")
    case let state? where Self.refusals.contains(state.class):
      self.init(
        .needsCommitLog, "the server refuses a statement of this program", context: cause,
        advice: "`mooring hub check` tests the server; the tables of the hub may be damaged")
    default:
      self.init(
        .unreachable, "the hub of the store cannot be reached", context: cause,
        advice: "check its server and the network; reads go on without it")
    }
  }
}

extension StorageError {
  /// The classes of errors that the same statement would have again.
  private static let refusals: [SQLState.Class] = [.data, .constraint, .syntaxOrAccess, .limit]

  static func newerHub(_ hub: String) -> StorageError {
    StorageError(
      .needsCommitLog, "the hub was made by a newer version of this program",
      context: [("hub", hub)], advice: "upgrade this program")
  }
}

extension PostgreSQLError {
  /// The problem, in the words of the server, in one line.
  fileprivate var cause: String {
    let text = message.split(separator: "\n").joined(separator: "; ")
    return sqlState.map { "\(text) [\($0)]" } ?? text
  }
}
