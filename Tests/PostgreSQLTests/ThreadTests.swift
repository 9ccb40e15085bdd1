import PostgreSQLTestSupport
import SystemSupport
import Testing

@testable import PostgreSQL

/// For the thread sanitizer.
@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct ThreadTests {
  @Test func eachThreadHasAConnection() throws {
    let server = try PostgreSQLServer.shared()
    var connection = try server.connect()
    try connection.execute("CREATE TABLE shared_work (thread int8, n int8)", until: farDeadline)
    let threads = (0..<2).map { thread in
      Work { () -> Int in
        var connection = try server.connect()
        for number in 0..<100 {
          let insert = Statement(
            "INSERT INTO shared_work VALUES ($1, $2)", .int8(Int64(thread)), .int8(Int64(number)))
          try connection.execute([.begin, insert, .commit], until: farDeadline)
        }
        return try connection.rows("TABLE shared_work", until: farDeadline) { try $0.int8(0) }.count
      }
    }
    let counts = try threads.map { try $0.wait() }
    #expect(counts.max() == 200)
    #expect(
      try connection.integers("SELECT count(*) FROM shared_work GROUP BY thread") == [100, 100])
  }

  @Test func aConnectionMayChangeItsThread() async throws {
    let server = try PostgreSQLServer.shared()
    let threads = BoundedThreads("mooring.test", threadsMax: 2)
    let box = ConnectionBox(try server.connect())
    for round in 0..<20 {
      let answer = try await threads.run {
        try box.connection.integers(Statement("SELECT \(round)::int8"))
      }
      #expect(answer == [Int64(round)])
    }
  }

  /// Lends a connection to one thread after the other.
  // @unchecked: the test waits for the end of each call before the next one.
  private final class ConnectionBox: @unchecked Sendable {
    var connection: Connection
    init(_ connection: consuming Connection) { self.connection = connection }
  }
}
