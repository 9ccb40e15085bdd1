import Foundation
import Glibc
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import PostgreSQL

/// A deadline that no test reaches, except one that fails.
var farDeadline: ContinuousClock.Instant { .now + .seconds(60) }

extension PostgreSQLServer {
  /// Connects as the superuser.
  ///
  /// - Parameter options: Added to the connection string.
  func connect(
    _ options: String = "", limits: Connection.Limits = Connection.Limits()
  ) throws -> Connection {
    try Connection(
      ConnectionString("\(connectionText) \(options)"), limits: limits, until: farDeadline)
  }

  /// Ends a session, and waits until its process has ended.
  func terminate(_ processID: Int32) throws {
    var connection = try connect()
    let isSent = try connection.rows(
      Statement("SELECT pg_terminate_backend($1, 60000)", .int4(processID)), until: farDeadline
    ) { try $0.bool(0) }
    try #require(isSent == [true])
  }

  /// Waits until the processes of the session are in a state, given as a condition on
  /// `pg_stat_activity`; asks again and again, because the server does not notify of it.
  func waitForSessions(_ count: Int64, where condition: String) throws {
    var connection = try connect()
    let deadline = farDeadline
    while ContinuousClock.now < deadline {
      let found = try connection.rows(
        Statement("SELECT count(*) FROM pg_stat_activity WHERE \(condition)"), until: farDeadline
      ) { try $0.int8(0) }
      if found == [count] { return }
      usleep(1_000)
    }
    Issue.record("there are not \(count) sessions where \(condition)")
    throw TestEnded()
  }
}

extension Connection {
  /// Returns the first column of all rows as integers.
  mutating func integers(_ statement: Statement) throws -> [Int64?] {
    try rows(statement, until: farDeadline) { try $0.int8(0) }
  }
}

/// Returns the error that the closure throws, and fails if it throws none.
func failure(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> PostgreSQLError {
  do {
    try body()
  } catch let error as PostgreSQLError {
    return error
  }
  Issue.record("no error was thrown", sourceLocation: sourceLocation)
  throw TestEnded()
}

/// Ends a test that cannot go on, after its issue was recorded.
struct TestEnded: Error {}

/// Work on a thread of its own, for whose result the test waits.
final class Work<Value: Sendable>: Sendable {
  private let ended = DispatchSemaphore(value: 0)
  private let result = Locked<Result<Value, any Error>?>(nil)

  init(_ body: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread { [self] in
      let value = Result { try body() }
      result.withLock { $0 = value }
      ended.signal()
    }
  }

  func wait() throws -> Value {
    ended.wait()
    return try #require(result.withLock { $0 }).get()
  }
}
