import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: ConnectionPooler.canRun, "\(ConnectionPooler.skipReason)"))
struct ConnectionPoolerTests {
  @Test func transactionsPassAPoolerInTransactionMode() throws {
    let pooler = try ConnectionPooler(PostgreSQLServer.shared())
    defer { pooler.stop() }
    let string = try ConnectionString(pooler.connectionText)
    var first = try Connection(string, until: farDeadline)
    var second = try Connection(string, until: farDeadline)
    try first.execute("CREATE TABLE pooled (n int8 UNIQUE, body bytea)", until: farDeadline)
    for number in 0..<20 {
      let insert = Statement(
        "INSERT INTO pooled VALUES ($1, $2)", .int8(Int64(number)), .bytes([0, UInt8(number)]))
      try first.execute([.begin, "SET LOCAL lock_timeout = '10s'"], until: farDeadline)
      let seen = try second.integers("SELECT count(*) FROM pooled")
      #expect(seen == [Int64(number)])
      try first.execute([insert, .commit], until: farDeadline)
    }
    let error = try failure {
      try second.execute("INSERT INTO pooled VALUES (3)", until: farDeadline)
    }
    #expect(error.sqlState == .uniqueViolation)
    #expect(try second.integers("SELECT sum(n)::int8 FROM pooled") == [190])
  }
}
