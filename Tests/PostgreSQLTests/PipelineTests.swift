import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct PipelineTests {
  @Test func allStatementsAreAnsweredInOrder() throws {
    var connection = try PostgreSQLServer.shared().connect()
    var rows: [String] = []
    let results = try connection.run(
      [
        .begin, "CREATE TEMPORARY TABLE t (n int8)", "INSERT INTO t VALUES (1), (2), (3)",
        "SELECT n FROM t ORDER BY n DESC", "", "UPDATE t SET n = 0 WHERE n > 1", "SELECT 9::int8",
        .commit,
      ], until: farDeadline
    ) { index, row in rows.append("\(index): \(try row.int8(0) ?? -1)") }
    #expect(rows == ["3: 3", "3: 2", "3: 1", "6: 9"])
    #expect(
      results.map(\.tag) == [
        "BEGIN", "CREATE TABLE", "INSERT 0 3", "SELECT 3", "", "UPDATE 2", "SELECT 1", "COMMIT",
      ])
    #expect(results.map(\.rowCount) == [0, 0, 3, 3, 0, 2, 1, 0])
  }

  /// PostgreSQL 15 does not end an idle transaction if a client sends `Flush` after `Sync`.
  @Test func theServerEndsATransactionThatIsLeftIdle() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    let isOpen = try connection.execute(
      [
        .begin, "SET LOCAL idle_in_transaction_session_timeout = '200ms'",
        "CREATE TABLE never_committed ()", "SELECT 1",
      ], until: farDeadline
    ).count
    #expect(isOpen == 4)
    let started = ContinuousClock.now
    let error = try failure { _ = try connection.waitForNotifications(until: farDeadline) }
    #expect(error.code == .connectionLost)
    #expect(error.sqlState == .idleInTransactionTimeout)
    #expect(error.isOutcomeKnown)
    #expect(started.duration(to: .now) >= .milliseconds(150))
    var other = try server.connect()
    #expect(try other.integers("SELECT to_regclass('never_committed')::text::int8") == [nil])
  }

  @Test func theOutcomeAfterAnIdleTimeoutIsKnown() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    let process = connection.processID
    try connection.execute(
      [.begin, "SET LOCAL idle_in_transaction_session_timeout = '1ms'", "SELECT 1"],
      until: farDeadline
    )
    try server.waitForSessions(0, where: "pid = \(process)")
    let error = try failure { try connection.execute(.commit, until: farDeadline) }
    #expect(error.sqlState == .idleInTransactionTimeout)
    #expect(error.isOutcomeKnown)
  }

  @Test func syncIsTheLastMessageOfEachCall() throws {
    let proxy = try CuttingProxy(PostgreSQLServer.shared())
    defer { proxy.stop() }
    var connection = try Connection(
      ConnectionString(proxy.connectionText), until: farDeadline)
    try connection.execute("SELECT 1", until: farDeadline)
    try connection.execute(
      [.begin, Statement("SELECT $1", .text("x")), .commit], until: farDeadline)
    _ = try failure { try connection.execute("SELECT 1 / 0", until: farDeadline) }
    try connection.execute(.listen(to: "x"), until: farDeadline)
    let wait = try connection.waitForNotifications(until: .now)
    #expect(wait == .deadline)
    #expect(frontendMessages(proxy.clientBytes) == "PBDES PBDEPBDEPBDES PBDES PBDES ")
  }

  /// Returns the types of the messages after the first one, with a space after each `Sync`.
  private func frontendMessages(_ bytes: [UInt8]) -> String {
    func length(at index: Int) -> Int {
      bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    var types = ""
    var next = length(at: 0)
    while next + 5 <= bytes.count {
      types.unicodeScalars.append(Unicode.Scalar(bytes[next]))
      if bytes[next] == UInt8(ascii: "S") { types += " " }
      next += 1 + length(at: next + 1)
    }
    return next == bytes.count ? types : "\(types) and a piece of a message"
  }

  @Test func aFailedStatementStopsThoseAfterIt() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    try connection.execute("CREATE TABLE half (n int8)", until: farDeadline)
    let insert: Statement = "INSERT INTO half VALUES (1)"
    let error = try failure {
      try connection.execute(
        [.begin, insert, "SELECT 1 / 0", insert, .commit], until: farDeadline)
    }
    #expect(error.statement == 2)
    #expect(error.isOutcomeKnown)
    let state = connection.transactionState
    #expect(state == .failed)
    try connection.execute(.rollback, until: farDeadline)
    let implicit = try failure {
      try connection.execute([insert, "TABLE missing", insert], until: farDeadline)
    }
    #expect(implicit.statement == 1)
    #expect(try connection.integers("SELECT count(*) FROM half") == [0])
    // What was committed before the error stays.
    let late = try failure {
      try connection.execute(
        [.begin, insert, .commit, "SELECT 1 / 0"], until: farDeadline)
    }
    #expect(late.statement == 3)
    #expect(try connection.integers("SELECT count(*) FROM half") == [1])
  }

  @Test func anErrorOfTheImplicitCommitIsThrown() throws {
    var connection = try PostgreSQLServer.shared().connect()
    try connection.execute(
      "CREATE TEMPORARY TABLE late (n int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)",
      until: farDeadline)
    let insert: Statement = "INSERT INTO late VALUES (1)"
    let error = try failure {
      try connection.execute([insert, insert], until: farDeadline)
    }
    #expect(error.sqlState == .uniqueViolation)
    #expect(error.isOutcomeKnown)
    #expect(try connection.integers("SELECT count(*) FROM late") == [0])
    let explicit = try failure {
      try connection.execute([.begin, insert, insert, .commit], until: farDeadline)
    }
    #expect(explicit.statement == 3)
    #expect(try connection.integers("SELECT count(*) FROM late") == [0])
  }

  @Test func muchIsSentAndReceivedAtTheSameTime() throws {
    var connection = try PostgreSQLServer.shared().connect()
    var random = SeededRandom(seed: 21)
    let block = random.bytes(count: 100_000)
    let statements = (0..<200).map { Statement("SELECT $1, \($0)::int8", .bytes(block)) }
    var seen = 0
    _ = try connection.run(statements, until: farDeadline) { index, row in
      #expect(try row.int8(1) == Int64(index))
      if try row.bytes(0) == block { seen += 1 }
    }
    #expect(seen == 200)
  }

  @Test func anErrorOfTheReceiverLeavesTheConnectionUsable() throws {
    struct Refusal: Error {}
    var connection = try PostgreSQLServer.shared().connect()
    var calls = 0
    #expect(throws: Refusal.self) {
      _ = try connection.run(
        ["SELECT generate_series(1, 10000)", "SELECT 2"], until: farDeadline
      ) { _, _ in
        calls += 1
        if calls == 3 { throw Refusal() }
      }
    }
    #expect(calls == 3)
    #expect(try connection.integers("SELECT 4::int8") == [4])
  }

  @Test func whatCannotBeAnsweredIsRefused() throws {
    var connection = try PostgreSQLServer.shared().connect()
    let empty = try failure { try connection.execute([], until: farDeadline) }
    #expect(empty.code == .usage)
    let zero = try failure { try connection.execute("SELECT 'a\0b'", until: farDeadline) }
    #expect(zero.code == .usage)
    var many = Statement("SELECT 1")
    many.parameters = Array(repeating: .null, count: 257)
    let wide = try failure { try connection.execute(many, until: farDeadline) }
    #expect(wide.code == .usage)
    let several = try failure { try connection.execute("SELECT 1; SELECT 2", until: farDeadline) }
    #expect(several.sqlState == .syntaxError)
    #expect(try connection.integers("SELECT 1::int8") == [1])
    let copy = try failure {
      try connection.execute("COPY (SELECT 1) TO STDOUT", until: farDeadline)
    }
    #expect(copy.code != .statement, "\(copy)")
    #expect(connection.isOpen == false)
    let closed = try failure { try connection.execute("SELECT 1", until: farDeadline) }
    #expect(closed.code == .connectionLost)
    #expect(closed.isOutcomeKnown)
  }
}
