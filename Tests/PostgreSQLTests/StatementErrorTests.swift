import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct StatementErrorTests {
  private func state(
    of statement: Statement, _ connection: inout Connection
  ) throws -> SQLState? {
    let error = try failure { try connection.execute(statement, until: farDeadline) }
    #expect(error.code == .statement, "\(error)")
    #expect(error.isOutcomeKnown)
    #expect(error.statement == 0)
    return error.sqlState
  }

  @Test func errorsHaveTheirSQLState() throws {
    var connection = try PostgreSQLServer.shared().connect()
    try connection.execute(
      """
      CREATE TEMPORARY TABLE item (
        id int8 CONSTRAINT item_key PRIMARY KEY, name text NOT NULL CHECK (name <> ''))
      """, until: farDeadline)
    try connection.execute("INSERT INTO item VALUES (1, 'one')", until: farDeadline)
    #expect(try state(of: "SELEKT 1", &connection) == .syntaxError)
    #expect(try state(of: "TABLE missing", &connection) == .undefinedTable)
    #expect(try state(of: "CREATE TABLE missing.t ()", &connection) == .undefinedSchema)
    #expect(try state(of: "SELECT missing()", &connection) == .undefinedFunction)
    #expect(try state(of: "CREATE TEMPORARY TABLE item ()", &connection) == .duplicateTable)
    #expect(try state(of: "INSERT INTO item VALUES (2, NULL)", &connection) == .notNullViolation)
    #expect(try state(of: "INSERT INTO item VALUES (2, '')", &connection) == .checkViolation)
    let duplicate = Statement("INSERT INTO item VALUES ($1, $2)", .int8(1), .text("two"))
    #expect(try state(of: duplicate, &connection) == .uniqueViolation)
    #expect(try state(of: "SELECT 1 / 0", &connection)?.class == .data)
    #expect(try connection.integers("SELECT count(*) FROM item") == [1])
  }

  @Test func anErrorHasTheServersWords() throws {
    var connection = try PostgreSQLServer.shared().connect()
    try connection.execute(
      "CREATE TEMPORARY TABLE pair (a int8 CONSTRAINT pair_key UNIQUE)", until: farDeadline)
    try connection.execute("INSERT INTO pair VALUES (7)", until: farDeadline)
    let error = try failure {
      try connection.execute("INSERT INTO pair VALUES (7)", until: farDeadline)
    }
    #expect(error.constraint == "pair_key")
    #expect(error.detail == "Key (a)=(7) already exists.")
    #expect(
      "\(error)" == """
        the PostgreSQL server refuses a statement: duplicate key value violates unique constraint \
        "pair_key" [23505]; Key (a)=(7) already exists. (see the server's message)
        """)
    let hinted = try failure { try connection.execute("SELECT 1 + ''::bytea", until: farDeadline) }
    #expect(hinted.hint?.contains("explicit type casts") == true)
  }

  @Test func rightsAndReadOnlyTransactionsAreRespected() throws {
    let server = try PostgreSQLServer.shared()
    var owner = try server.connect()
    try owner.execute("CREATE ROLE reader_of_errors LOGIN", until: farDeadline)
    try owner.execute("CREATE TABLE public.closed_to_readers ()", until: farDeadline)
    var reader = try Connection(
      ConnectionString("host=\(server.folder) user=reader_of_errors dbname=postgres"),
      until: farDeadline)
    let closed = try state(of: "TABLE public.closed_to_readers", &reader)
    #expect(closed == .insufficientPrivilege)
    try owner.execute("SET default_transaction_read_only = on", until: farDeadline)
    #expect(try state(of: "CREATE TABLE t ()", &owner) == .readOnlyTransaction)
  }

  @Test func concurrentTransactionsFailWithTheirCodes() throws {
    let server = try PostgreSQLServer.shared()
    var first = try server.connect()
    var second = try server.connect()
    try first.execute(
      "CREATE TABLE contended AS SELECT n, 0 AS value FROM generate_series(1, 2) n",
      until: farDeadline)
    let serializable: Statement = "BEGIN ISOLATION LEVEL REPEATABLE READ"
    let read: Statement = "TABLE contended"
    let change: Statement = "UPDATE contended SET value = value + 1 WHERE n = 1"
    try first.execute([serializable, read], until: farDeadline)
    try second.execute(change, until: farDeadline)
    #expect(try state(of: change, &first) == .serializationFailure)
    let open = first.transactionState
    #expect(open == .failed)
    try first.execute(.rollback, until: farDeadline)

    try first.execute([.begin, change], until: farDeadline)
    try second.execute("SET lock_timeout = '20ms'", until: farDeadline)
    #expect(try state(of: change, &second) == .lockTimeout)
    try first.execute(.rollback, until: farDeadline)
  }

  @Test func aDeadlockIsFound() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    try connection.execute(
      "CREATE TABLE crossed AS SELECT n FROM generate_series(1, 2) n", until: farDeadline)
    @Sendable func lock(_ number: Int) -> Statement {
      Statement("SELECT FROM crossed WHERE n = \(number) FOR UPDATE")
    }
    try connection.execute(
      [.begin, "SET LOCAL deadlock_timeout = '60s'", lock(1)], until: farDeadline)
    let process = connection.processID
    let other = Work { () -> SQLState? in
      var connection = try server.connect()
      try connection.execute(
        [.begin, "SET LOCAL deadlock_timeout = '10ms'", lock(2)], until: farDeadline)
      try server.waitForSessions(1, where: "pid = \(process) AND wait_event_type = 'Lock'")
      return try failure { try connection.execute(lock(1), until: farDeadline) }.sqlState
    }
    // Waits for the other one, or would be the one that the other waits for.
    try server.waitForSessions(
      1, where: "query LIKE '%crossed WHERE n = 2%' AND state = 'idle in transaction'")
    try connection.execute(lock(2), until: farDeadline)
    #expect(try other.wait() == .deadlock)
  }

  @Test func theCommitOfAFailedTransactionIsAnError() throws {
    var connection = try PostgreSQLServer.shared().connect()
    try connection.execute(.begin, until: farDeadline)
    #expect(try state(of: "SELECT 1 / 0", &connection) == SQLState("22012"))
    #expect(try state(of: "SELECT 1", &connection) == .failedTransaction)
    #expect(try state(of: .commit, &connection) == .failedTransaction)
    let after = connection.transactionState
    #expect(after == .idle)
    let rolledBack = try connection.execute(.rollback, until: farDeadline)
    #expect(rolledBack.tag == "ROLLBACK")
  }

  @Test func sqlStatesAreChecked() {
    #expect(SQLState("40001") == .serializationFailure)
    #expect(SQLState("40001")?.class == .transactionRollback)
    for text in ["", "4000", "400011", "4000a", "4000é", "40 01"] {
      #expect(SQLState(text) == nil)
    }
  }
}
