import CMooringPostgreSQL

/// A failure of the server, of the way to it, or of a call. It contains no password.
package struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// libpq is not installed, or is too old.
    case libraryMissing
    /// The connection string cannot be read.
    case connectionString
    /// No connection could be made. With a SQLSTATE if a server has refused it.
    case connect
    /// The server has refused a statement. The connection can be used.
    case statement
    /// The connection has ended. With a SQLSTATE if the server has given a reason.
    case connectionLost
    /// The deadline of the call was reached. A connection that was waiting for an answer is closed.
    case deadline
    /// A row or a parameter is larger than allowed.
    case tooLarge
    /// A value has another type than the one it is read as, or cannot be represented in it.
    case unexpectedValue
    /// The call cannot be answered, or violates the contract of the method.
    case usage
  }

  package let code: Code
  package let sqlState: SQLState?
  /// The problem, in the words of the server or of libpq.
  package let message: String
  package let detail: String?
  package let hint: String?
  /// The constraint that a statement violates.
  package let constraint: String?
  /// The position of the failed statement among those of its pipeline.
  package internal(set) var statement: Int?
  /// False if the server may have executed the statement, although there is no answer: a `COMMIT`
  /// may have been done. True if it is certain that the failed statement had no effect.
  package private(set) var isOutcomeKnown: Bool

  init(
    _ code: Code, _ message: String, sqlState: SQLState? = nil, isOutcomeKnown: Bool = true
  ) {
    self.code = code
    self.sqlState = sqlState
    self.message = message
    self.isOutcomeKnown = isOutcomeKnown
    (detail, hint, constraint) = (nil, nil, nil)
  }

  /// Reads the error that the server has sent.
  init(_ result: OpaquePointer, _ libpq: LibPQ) {
    // SAFETY: the strings belong to the result, which lives, and are copied.
    func field(_ name: Int) -> String? {
      libpq.call.PQresultErrorField(result, Int32(name)).map { LibPQ.text($0) }
    }
    let endsSession = field(mooring_libpq_severity) != "ERROR"
    let state = field(mooring_libpq_sqlstate).flatMap { SQLState($0) }
    code = endsSession || state == nil ? .connectionLost : .statement
    sqlState = state
    message =
      field(mooring_libpq_message)
      ?? LibPQ.text(libpq.call.PQresultErrorMessage(result))
    detail = field(mooring_libpq_detail)
    hint = field(mooring_libpq_hint)
    constraint = field(mooring_libpq_constraint)
    // An error undoes its statement. A session that ends may have committed before. But this
    // timeout strikes only while the server waits for a statement, and undoes the transaction.
    isOutcomeKnown = code == .statement || state == .idleInTransactionTimeout
  }

  /// Returns the error as one of a session that has ended before a statement was sent.
  func beforeSending() -> PostgreSQLError {
    var error = self
    error.isOutcomeKnown = true
    return error
  }
}

extension PostgreSQLError {
  static func deadline(_ action: String, isOutcomeKnown: Bool) -> PostgreSQLError {
    PostgreSQLError(
      .deadline, "the time was up while \(action)", isOutcomeKnown: isOutcomeKnown)
  }

  /// The problem in a few words, the same for every error with this code.
  package var summary: String {
    switch code {
    case .libraryMissing: "PostgreSQL's client library cannot be loaded"
    case .connectionString: "the connection string cannot be read"
    case .connect: "no connection to the PostgreSQL server"
    case .statement: "the PostgreSQL server refuses a statement"
    case .connectionLost: "the connection to the PostgreSQL server has ended"
    case .deadline: "the PostgreSQL server took too long"
    case .tooLarge: "a value for or from the PostgreSQL server is too large"
    case .unexpectedValue: "the PostgreSQL server holds a value of another type"
    case .usage: "the call does not fit the PostgreSQL connection"
    }
  }

  /// The remedy.
  package var advice: String {
    if !isOutcomeKnown {
      return "connect again, and look whether the statement was executed before it is repeated"
    }
    switch sqlState {
    case .invalidPassword?, .invalidAuthorization?:
      return "check user, password file and pg_hba.conf"
    case .undefinedDatabase?: return "check the name of the database, or create it"
    case .tooManyConnections?: return "try again later, or raise max_connections"
    case .adminShutdown?, .crashShutdown?, .cannotConnectNow?: return "connect again later"
    case .readOnlyTransaction?: return "connect to the primary server"
    case .idleInTransactionTimeout?, .serializationFailure?, .deadlock?:
      return "repeat the transaction"
    case .lockTimeout?: return "try again later"
    case .insufficientPrivilege?: return "grant the role what it needs"
    case .diskFull?: return "free some space on the server"
    default: break
    }
    return switch code {
    case .libraryMissing: "install the Debian package libpq5"
    case .connectionString:
      "give `key=value …`, `postgresql://host/database` or `service=NAME`"
    case .connect: "check host, port, certificate and network, then try again"
    case .statement: "see the server's message"
    case .connectionLost: "connect again"
    case .deadline: "try again later"
    case .tooLarge: "read or write it in parts"
    case .unexpectedValue: "check that the tables are those of this version"
    case .usage: "report this as a bug"
    }
  }

  package var description: String {
    var text = "\(summary): \(message)"
    if let sqlState { text += " [\(sqlState)]" }
    if let detail { text += "; \(detail)" }
    if let hint { text += "; \(hint)" }
    return "\(text) (\(advice))"
  }
}
