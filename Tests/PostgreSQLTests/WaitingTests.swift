import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

/// Deadlines and cancellation of statements that wait.
@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct WaitingTests {
  @Test func aDeadlineEndsTheWaitForALock() throws {
    let server = try PostgreSQLServer.shared()
    var holder = try server.connect()
    var waiter = try server.connect()
    try holder.execute("CREATE TABLE held ()", until: farDeadline)
    try holder.execute([.begin, "LOCK TABLE held"], until: farDeadline)
    let error = try failure {
      try waiter.execute(
        [.begin, "LOCK TABLE held", .commit], until: .now + .milliseconds(50))
    }
    #expect(error.code == .deadline)
    #expect(!error.isOutcomeKnown)
    #expect(waiter.isOpen == false)
    let after = try failure { try waiter.execute("SELECT 1", until: farDeadline) }
    #expect(after.code == .connectionLost)
    try holder.execute(.rollback, until: farDeadline)
  }

  @Test func aDeadlineEndsAResultThatDoesNotEnd() throws {
    var connection = try PostgreSQLServer.shared().connect()
    let error = try failure {
      try connection.execute(
        "SELECT generate_series(1, 1000000000)", until: .now + .milliseconds(100))
    }
    #expect(error.code == .deadline)
    #expect(connection.isOpen == false)
  }

  @Test func nothingIsSentAfterTheDeadline() throws {
    var connection = try PostgreSQLServer.shared().connect()
    let error = try failure {
      try connection.execute("CREATE TABLE too_late ()", until: .now - .seconds(1))
    }
    #expect(error.code == .deadline)
    #expect(error.isOutcomeKnown)
    #expect(try connection.integers("SELECT to_regclass('too_late')::text::int8") == [nil])
  }

  @Test func aStatementIsCanceledByAnotherThread() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    let process = connection.processID
    let cancellation = try connection.cancellation()
    let other = Work {
      try server.waitForSessions(1, where: "pid = \(process) AND wait_event = 'PgSleep'")
      try cancellation.cancel(until: farDeadline)
    }
    let error = try failure { try connection.execute("SELECT pg_sleep(60)", until: farDeadline) }
    try other.wait()
    #expect(error.code == .statement)
    #expect(error.sqlState == .queryCanceled)
    #expect(error.isOutcomeKnown)
    #expect(try connection.integers("SELECT 1::int8") == [1])
  }

  @Test func aCancelRequestToNobodyIsHarmless() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    let cancellation = try connection.cancellation()
    try cancellation.cancel(until: farDeadline)
    #expect(try connection.integers("SELECT 1::int8") == [1])
    connection.close()
    try cancellation.cancel(until: farDeadline)
  }

  @Test func cancelRequestsHaveErrorsAndADeadline() throws {
    let proxy = try CuttingProxy(PostgreSQLServer.shared(), takesTurns: true)
    var connection = try Connection(ConnectionString(proxy.connectionText), until: farDeadline)
    let cancellation = try connection.cancellation()
    // The proxy serves one connection at a time: the request waits for its turn.
    let late = try failure { try cancellation.cancel(until: .now + .milliseconds(50)) }
    #expect(late.code == .deadline)
    proxy.stop()
    connection.close()
    var refused: PostgreSQLError?
    while refused == nil {
      do { try cancellation.cancel(until: farDeadline) } catch { refused = error }
    }
    #expect(refused?.code == .connect, "\(String(describing: refused))")
  }
}
