import Foundation
import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"))
struct ValueTests {
  /// Sends the parameter and returns what the closure reads of it, in each form of a result.
  private func echo<T>(
    _ parameter: Parameter, as type: String,
    _ formats: [Statement.ResultFormat] = [.binary, .text],
    _ read: (borrowing ResultRow) throws -> T?
  ) throws -> [T?] {
    var connection = try PostgreSQLServer.shared().connect()
    return try formats.flatMap { format in
      try connection.rows(
        Statement("SELECT $1::\(type)", parameter, resultFormat: format), until: farDeadline, read)
    }
  }

  @Test func randomValuesOfAllTypesRoundTrip() throws {
    var connection = try PostgreSQLServer.shared().connect("options='-c timezone=Asia/Kathmandu'")
    var random = SeededRandom(seed: 11)
    try connection.execute(
      """
      CREATE TEMPORARY TABLE everything (
        n int8, i int4, d float8, f bool, t text, u uuid, b bytea, w timestamptz)
      """, until: farDeadline)
    for round in 0..<100 {
      let n = Int64(bitPattern: random.next())
      let i = Int32(truncatingIfNeeded: random.next())
      let d = Double(bitPattern: random.next())
      let f = Bool.random(using: &random)
      let t = String(
        (0..<Int.random(in: 0...40, using: &random)).map { _ in
          Character(["a", "é", "\u{1}", "\n", "𝄞", "'", "\"", "\\"].randomElement(using: &random)!)
        })
      let u = withUnsafeBytes(of: (random.next(), random.next())) {
        UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
      }
      let b = random.bytes(count: Int.random(in: 0...300, using: &random))
      let w = Double(Int64.random(in: -60_000_000_000_000...4_000_000_000_000_000, using: &random))
      let time = try Parameter.time(secondsSince1970: w / 1e6)
      try connection.execute("TRUNCATE everything", until: farDeadline)
      try connection.execute(
        Statement(
          "INSERT INTO everything VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", .int8(n), .int4(i),
          .double(d), .bool(f), .text(t), .uuid(u), .bytes(b), time), until: farDeadline)
      for format in [Statement.ResultFormat.binary, .text] {
        let statement = Statement("SELECT * FROM everything", resultFormat: format)
        let seen = try connection.rows(statement, until: farDeadline) { row in
          #expect(try row.int8(0) == n, "seed 11, round \(round)")
          #expect(try row.int4(1) == i, "seed 11, round \(round)")
          let double = try #require(try row.double(2))
          #expect(double == d || double.isNaN && d.isNaN, "seed 11, round \(round)")
          #expect(try row.bool(3) == f, "seed 11, round \(round)")
          #expect(try row.text(4) == t, "seed 11, round \(round)")
          #expect(try row.uuid(5) == u, "seed 11, round \(round)")
          #expect(try row.bytes(6) == b, "seed 11, round \(round)")
          guard format == .binary else { return true }
          let seconds = try #require(try row.secondsSince1970(7))
          #expect(abs(seconds - w / 1e6) <= 1e-6, "seed 11, round \(round)")
          return true
        }
        #expect(seen == [true])
      }
    }
  }

  @Test func extremeNumbersRoundTrip() throws {
    for n in [Int64.min, -1, 0, 1, .max] {
      #expect(try echo(.int8(n), as: "int8") { try $0.int8(0) } == [n, n])
    }
    for i in [Int32.min, 0, .max] {
      #expect(try echo(.int4(i), as: "int4") { try $0.int4(0) } == [i, i])
      #expect(try echo(.int4(i), as: "int4") { try $0.int8(0) } == [Int64(i), Int64(i)])
    }
    for d in [-Double.infinity, -0.0, .leastNonzeroMagnitude, 0.1 + 0.2, .greatestFiniteMagnitude] {
      #expect(try echo(.double(d), as: "float8") { try $0.double(0) } == [d, d])
    }
    #expect(try echo(.int4(-7), as: "int2") { try $0.int8(0) } == [-7, -7])
    #expect(try echo(.double(0.5), as: "float4") { try $0.double(0) } == [0.5, 0.5])
  }

  @Test func timesAreSecondsSince1970() throws {
    for time in [-Double.infinity, 0, 946_684_800, 1_795_530_000.25, .infinity] {
      let parameter = try Parameter.time(secondsSince1970: time)
      #expect(
        try echo(parameter, as: "timestamptz", [.binary]) { try $0.secondsSince1970(0) }
          == [time])
    }
  }

  @Test func theServerCountsTheSameSeconds() throws {
    var connection = try PostgreSQLServer.shared().connect()
    let statement = Statement(
      "SELECT extract(epoch FROM $1::timestamptz)::float8, $1, clock_timestamp()",
      try .time(secondsSince1970: 1_700_000_000.5))
    let rows = try connection.rows(statement, until: farDeadline) {
      (try $0.secondsSince1970(0), try $0.secondsSince1970(1), try $0.secondsSince1970(2))
    }
    #expect(rows[0].0 == 1_700_000_000.5)
    #expect(rows[0].1 == 1_700_000_000.5)
    #expect(abs(try #require(rows[0].2) - Date().timeIntervalSince1970) < 60)
  }

  @Test func aTimeOutOfRangeIsRefused() throws {
    for seconds in [Double.nan, 1e20, -1e20] {
      let error = try failure { _ = try Parameter.time(secondsSince1970: seconds) }
      #expect(error.code == .unexpectedValue)
    }
  }

  @Test func nullIsNilForEveryType() throws {
    for type in ["int8", "int4", "float8", "bool", "text", "uuid", "bytea", "timestamptz"] {
      let read = try echo(.null, as: type) { row -> Bool in
        #expect(try row.isNull(0))
        #expect(try row.int8(0) == nil)
        #expect(try row.int4(0) == nil)
        #expect(try row.double(0) == nil)
        #expect(try row.bool(0) == nil)
        #expect(try row.text(0) == nil)
        #expect(try row.uuid(0) == nil)
        #expect(try row.bytes(0) == nil)
        #expect(try row.secondsSince1970(0) == nil)
        return try row.withBytes(0) { $0 == nil }
      }
      #expect(read == [true, true])
    }
  }

  @Test func emptyValuesAreNotNull() throws {
    #expect(try echo(.bytes([]), as: "bytea") { try $0.bytes(0) } == [[], []])
    #expect(try echo(.text(""), as: "text") { try $0.text(0) } == ["", ""])
    #expect(try echo(.inferred(""), as: "text") { try $0.text(0) } == ["", ""])
  }

  @Test func zeroBytesAreDataInByteaAndAnErrorInText() throws {
    let bytes: [UInt8] = [0, 1, 0, 0xFF, 0]
    #expect(try echo(.bytes(bytes), as: "bytea") { try $0.bytes(0) } == [bytes, bytes])
    let error = try failure { _ = try echo(.text("a\0b"), as: "text") { try $0.text(0) } }
    #expect(error.sqlState == .invalidText)
    #expect(try failure { _ = try Parameter.inferred("a\0b") }.code == .unexpectedValue)
  }

  @Test func largeValuesRoundTripInPlace() throws {
    var connection = try PostgreSQLServer.shared().connect()
    var random = SeededRandom(seed: 12)
    let block = random.bytes(count: 1 << 16)
    let bytes = [[UInt8]](repeating: block, count: 512).flatMap { $0 }
    let equal = try connection.rows(
      Statement("SELECT $1::bytea", .bytes(bytes)), until: farDeadline
    ) { row in
      try row.withBytes(0) { value in
        value.map { $0.count == bytes.count && memcmp($0.baseAddress!, bytes, $0.count) == 0 }
      }
    }
    #expect(bytes.count == 32 << 20)
    #expect(equal == [true])
  }

  @Test func aValueIsNotReadAsAnotherType() throws {
    func code<T>(_ read: (borrowing ResultRow) throws -> T?) throws -> PostgreSQLError.Code {
      try failure { _ = try echo(.int8(1 << 40), as: "int8", [.binary], read) }.code
    }
    #expect(try code { try $0.int4(0) } == .unexpectedValue)
    #expect(try code { try $0.double(0) } == .unexpectedValue)
    #expect(try code { try $0.bool(0) } == .unexpectedValue)
    #expect(try code { try $0.text(0) } == .unexpectedValue)
    #expect(try code { try $0.uuid(0) } == .unexpectedValue)
    #expect(try code { try $0.bytes(0) } == .unexpectedValue)
    #expect(try code { try $0.secondsSince1970(0) } == .unexpectedValue)
    #expect(try code { try $0.int8(1) } == .usage)
    #expect(try code { try $0.int8(-1) } == .usage)
    let text = try failure {
      _ = try echo(.time(secondsSince1970: 0), as: "timestamptz", [.text]) {
        try $0.secondsSince1970(0)
      }
    }
    #expect(text.code == .unexpectedValue)
  }

  @Test func inferredTextTakesTheTypeOfItsPlace() throws {
    #expect(try echo(.inferred("42"), as: "int8") { try $0.int8(0) } == [42, 42])
    #expect(
      try echo(.inferred(#"\x00ff"#), as: "bytea") { try $0.bytes(0) } == [[0, 255], [0, 255]])
  }

  @Test func aRowLargerThanTheLimitIsRefused() throws {
    var limits = Connection.Limits()
    limits.rowBytesMax = 1_000
    var connection = try PostgreSQLServer.shared().connect(limits: limits)
    let fits = try connection.rows("SELECT repeat('x', 600), repeat('y', 400)", until: farDeadline)
    {
      try $0.text(1)?.count
    }
    #expect(fits == [400])
    let error = try failure {
      try connection.execute("SELECT repeat('x', 600), repeat('y', 401)", until: farDeadline)
    }
    #expect(error.code == .tooLarge)
    #expect(connection.isOpen == false)
  }
}
