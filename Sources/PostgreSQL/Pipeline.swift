import CMooringPostgreSQL

/// The answer of the server to a statement, without its rows.
package struct CommandResult: Hashable, Sendable {
  /// The command as the server names it, such as `INSERT 0 3` or `BEGIN`.
  package let tag: String
  /// The number of rows that were returned or changed.
  package let rowCount: Int
}

extension Connection {
  /// Executes a statement whose rows, if any, are not needed. Without an open transaction it is one
  /// of its own.
  ///
  /// - Throws: The errors of ``run(_:until:onRow:)``.
  @discardableResult
  package mutating func execute(
    _ statement: Statement, until deadline: ContinuousClock.Instant
  ) throws -> CommandResult {
    try execute([statement], until: deadline)[0]
  }

  /// Executes statements whose rows, if any, are not needed, in one round trip.
  ///
  /// - Throws: The errors of ``run(_:until:onRow:)``.
  @discardableResult
  package mutating func execute(
    _ statements: [Statement], until deadline: ContinuousClock.Instant
  ) throws -> [CommandResult] {
    try run(statements, until: deadline) { _, _ in }
  }

  /// Returns a value for each row of a statement. `transform` is called on this thread and borrows
  /// the row.
  ///
  /// - Throws: The errors of ``run(_:until:onRow:)``.
  package mutating func rows<T>(
    _ statement: Statement, until deadline: ContinuousClock.Instant,
    _ transform: (borrowing ResultRow) throws -> T
  ) throws -> [T] {
    var values: [T] = []
    _ = try run([statement], until: deadline) { _, row in values.append(try transform(row)) }
    return values
  }

  /// Executes statements in order, in one round trip. Without `BEGIN` they are one transaction.
  ///
  /// Their messages end with one `Sync`, and nothing is sent after it: in PostgreSQL 15 a `Flush`
  /// there would disarm `idle_in_transaction_session_timeout`, and a client that has lost its
  /// network would keep its locks.
  ///
  /// Rows are read one by one, so that memory is needed for one of them only. An error of a
  /// statement, or of `onRow`, is thrown after the answers to all; the statements after a failed
  /// one are not executed. The connection can be used afterwards unless it is lost.
  ///
  /// - Parameter onRow: Called with the position of the statement and a row of it.
  /// - Throws: `.statement` with a SQLSTATE; `.deadline`, `.connectionLost` or `.tooLarge`, after
  ///   which the connection is closed; `.usage`; the error of `onRow`.
  package mutating func run(
    _ statements: [Statement], until deadline: ContinuousClock.Instant,
    onRow: (Int, borrowing ResultRow) throws -> Void
  ) throws -> [CommandResult] {
    try check(statements)
    let pointer = try ready()
    guard ContinuousClock.now < deadline else {
      throw PostgreSQLError.deadline("a statement was to be sent", isOutcomeKnown: true)
    }
    var answers = Answers()
    try send(statements, pointer)
    try flush(pointer, until: deadline)
    for (index, statement) in statements.enumerated() {
      // Fails only if the connection is lost, which the next call finds.
      _ = libpq.call.PQsetSingleRowMode(pointer)
      while let result = try nextResult(pointer, until: deadline) {
        defer { libpq.call.PQclear(result) }
        try receive(result, of: statement, index, into: &answers, onRow)
      }
    }
    try receiveSync(pointer, until: deadline, into: &answers)
    if let error = answers.error { throw error }
    return answers.results
  }

  private struct Answers {
    var results: [CommandResult] = []
    /// The first error of a statement or of the receiver of rows.
    var error: (any Error)?
  }

  private func check(_ statements: [Statement]) throws(PostgreSQLError) {
    guard !statements.isEmpty else { throw PostgreSQLError(.usage, "no statement") }
    for statement in statements {
      guard !statement.sql.utf8.contains(0), statement.parameters.count <= Statement.parametersMax
      else { throw PostgreSQLError(.usage, "a zero byte in SQL, or too many parameters") }
      guard statement.parameters.reduce(0, { $0 + $1.count }) < Statement.bytesMax else {
        throw PostgreSQLError(.tooLarge, "the parameters of a statement have 1 GiB or more")
      }
    }
  }

  // MARK: Sending

  private mutating func send(
    _ statements: [Statement], _ pointer: OpaquePointer
  ) throws(PostgreSQLError) {
    guard libpq.call.PQenterPipelineMode(pointer) == 1 else { throw lost(wasSent: false) }
    for (index, statement) in statements.enumerated() {
      let parameters = statement.parameters
      let isQueued = parameters.withAddresses { addresses in
        // SAFETY: the arrays have as many elements as there are parameters, and libpq copies what
        // they lead to before it returns.
        libpq.call.PQsendQueryParams(
          pointer, statement.sql, Int32(parameters.count), parameters.map(\.type), addresses,
          parameters.map { Int32($0.count) }, parameters.map { $0.isBinary ? 1 : 0 },
          statement.resultFormat.rawValue)
      }
      guard isQueued == 1 else { throw lost(wasSent: index > 0) }
    }
    guard libpq.call.PQpipelineSync(pointer) == 1 else { throw lost(wasSent: true) }
  }

  /// Sends all messages, and reads answers at the same time, without which the server would stop
  /// to read.
  private mutating func flush(
    _ pointer: OpaquePointer, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    while libpq.call.PQflush(pointer) == 1 {
      let isReadable = try waitForServer(pointer, writing: true, until: deadline)
      // After a failure the answers tell the reason, which may have been read before.
      if isReadable, libpq.call.PQconsumeInput(pointer) == 0 { return }
    }
  }

  // MARK: Receiving

  private mutating func nextResult(
    _ pointer: OpaquePointer, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> OpaquePointer? {
    while libpq.call.PQisBusy(pointer) == 1 {
      _ = try waitForServer(pointer, writing: false, until: deadline)
      // A failure becomes the next result.
      _ = libpq.call.PQconsumeInput(pointer)
    }
    return libpq.call.PQgetResult(pointer)
  }

  /// Waits for the socket, and returns true if it can be read.
  private mutating func waitForServer(
    _ pointer: OpaquePointer, writing: Bool, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> Bool {
    let socket = libpq.call.PQsocket(pointer)
    // The time is also up if the server does not cease to send.
    if case .ready(let isReadable) = wait(for: socket, writing: writing, until: deadline),
      ContinuousClock.now < deadline
    {
      return isReadable
    }
    // The answer may come at any later time: it must not be taken for that to another statement.
    close()
    throw .deadline("waiting for the answer to a statement", isOutcomeKnown: false)
  }

  private mutating func receive(
    _ result: OpaquePointer, of statement: Statement, _ index: Int, into answers: inout Answers,
    _ onRow: (Int, borrowing ResultRow) throws -> Void
  ) throws(PostgreSQLError) {
    switch libpq.call.PQresultStatus(result) {
    case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK:
      for row in 0..<libpq.call.PQntuples(result) {
        try receive(ResultRow(libpq, result, row: row), index, into: &answers, onRow)
      }
      guard libpq.call.PQresultStatus(result) == PGRES_TUPLES_OK else { return }
      answers.results.append(commandResult(result))
    case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      answers.results.append(commandResult(result))
      if statement.sql == Statement.commitText, answers.results.last?.tag == "ROLLBACK" {
        fail(
          PostgreSQLError(
            .statement, "the transaction had failed and was rolled back",
            sqlState: .failedTransaction), index, &answers)
      }
    case PGRES_PIPELINE_ABORTED:
      // An earlier statement has failed.
      break
    case PGRES_FATAL_ERROR:
      try receive(failure: result, index, into: &answers)
    case let status:
      close()
      throw PostgreSQLError(
        .usage, "COPY, or an answer of kind \(status.rawValue)", isOutcomeKnown: false)
    }
  }

  private mutating func receive(
    _ row: borrowing ResultRow, _ index: Int, into answers: inout Answers,
    _ onRow: (Int, borrowing ResultRow) throws -> Void
  ) throws(PostgreSQLError) {
    let count = row.byteCount
    guard count <= limits.rowBytesMax else {
      close()
      throw PostgreSQLError(
        .tooLarge, "a row of \(count) bytes; at most \(limits.rowBytesMax) are accepted",
        isOutcomeKnown: false)
    }
    guard answers.error == nil else { return }
    do { try onRow(index, row) } catch { answers.error = error }
  }

  /// - Throws: The error if it ends the connection.
  private mutating func receive(
    failure result: OpaquePointer, _ index: Int, into answers: inout Answers
  ) throws(PostgreSQLError) {
    var error = PostgreSQLError(result, libpq)
    guard error.code == .statement else {
      // Without a code it is libpq that has found the end; the server may have given a reason.
      if error.sqlState == nil { error = lost(wasSent: true) }
      error.statement = index
      close()
      throw error
    }
    fail(error, index, &answers)
  }

  private func fail(_ error: PostgreSQLError, _ index: Int, _ answers: inout Answers) {
    guard answers.error == nil else { return }
    var error = error
    error.statement = index
    answers.error = error
  }

  private func commandResult(_ result: OpaquePointer) -> CommandResult {
    // SAFETY: both strings belong to the result, which lives, and are copied.
    CommandResult(
      tag: LibPQ.text(libpq.call.PQcmdStatus(result)),
      rowCount: Int(LibPQ.text(libpq.call.PQcmdTuples(result))) ?? 0)
  }

  /// Receives the answer to `Sync`. Before it there may be the error of the commit of a transaction
  /// without `BEGIN`, which undoes all statements.
  private mutating func receiveSync(
    _ pointer: OpaquePointer, until deadline: ContinuousClock.Instant, into answers: inout Answers
  ) throws(PostgreSQLError) {
    var isSynchronized = false
    while !isSynchronized {
      guard let result = try nextResult(pointer, until: deadline) else {
        // The end of the error's results.
        if answers.error != nil, libpq.call.PQstatus(pointer) == CONNECTION_OK { continue }
        throw lost(wasSent: true)
      }
      defer { libpq.call.PQclear(result) }
      switch libpq.call.PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC: isSynchronized = true
      case PGRES_FATAL_ERROR:
        try receive(failure: result, max(0, answers.results.count - 1), into: &answers)
      default: throw lost(wasSent: true)
      }
    }
    guard libpq.call.PQexitPipelineMode(pointer) == 1 else { throw lost(wasSent: true) }
  }
}
