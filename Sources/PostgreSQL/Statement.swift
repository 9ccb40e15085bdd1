import CMooringPostgreSQL
package import Foundation

/// One SQL statement with its parameters `$1`, `$2`, ….
package struct Statement: Sendable, ExpressibleByStringLiteral {
  /// The form in which the server sends values.
  package enum ResultFormat: Int32, Sendable { case text, binary }

  package var sql: String
  package var parameters: [Parameter]
  package var resultFormat: ResultFormat

  package init(
    _ sql: String, _ parameters: Parameter..., resultFormat: ResultFormat = .binary
  ) {
    self.sql = sql
    self.parameters = parameters
    self.resultFormat = resultFormat
  }

  package init(stringLiteral sql: String) { self.init(sql) }

  package static let begin: Statement = "BEGIN"
  package static let rollback: Statement = "ROLLBACK"
  /// Commits the transaction. If it has failed before, the server answers with a rollback, which
  /// is an error here: `SQLState.failedTransaction`.
  package static let commit = Statement(commitText)

  static let commitText = "COMMIT"
  /// A parameter of a message has less than 1 GiB in the server.
  static let bytesMax = 1 << 30
  static let parametersMax = 256
}

/// A value for a parameter of a statement.
package struct Parameter: Sendable {
  let type: Oid
  let isBinary: Bool
  /// `nil` is null. Never empty: libpq takes a missing address for null.
  let bytes: [UInt8]?
  let count: Int

  private init(_ type: TypeCode?, _ bytes: [UInt8]?, isBinary: Bool = true) {
    self.type = type?.rawValue ?? 0
    self.isBinary = isBinary
    self.bytes = bytes?.isEmpty == true ? [0] : bytes
    count = bytes?.count ?? 0
  }

  private init(_ type: TypeCode, _ value: some FixedWidthInteger) {
    self.init(type, withUnsafeBytes(of: value.bigEndian) { Array($0) })
  }

  /// A null, whose type the server infers.
  package static let null = Parameter(nil, nil)

  package static func bytes(_ value: [UInt8]) -> Parameter { Parameter(.bytea, value) }
  package static func int8(_ value: Int64) -> Parameter { Parameter(.int8, value) }
  package static func int4(_ value: Int32) -> Parameter { Parameter(.int4, value) }

  /// A text. The server refuses one with U+0000: `SQLState.invalidText`.
  package static func text(_ value: String) -> Parameter { Parameter(.text, Array(value.utf8)) }

  package static func bool(_ value: Bool) -> Parameter { Parameter(.bool, [value ? 1 : 0]) }

  package static func double(_ value: Double) -> Parameter { Parameter(.float8, value.bitPattern) }

  package static func uuid(_ value: UUID) -> Parameter {
    Parameter(.uuid, withUnsafeBytes(of: value.uuid) { Array($0) })
  }

  /// A `timestamptz`, rounded to microseconds; an infinite number is `infinity` or `-infinity`.
  ///
  /// - Throws: `.unexpectedValue` for a time that the server cannot represent.
  package static func time(secondsSince1970 seconds: Double) throws(PostgreSQLError) -> Parameter {
    if seconds == .infinity { return Parameter(.timestamptz, Int64.max) }
    if seconds == -.infinity { return Parameter(.timestamptz, Int64.min) }
    let microseconds = ((seconds - TypeCode.epoch) * 1e6).rounded()
    guard let value = Int64(exactly: microseconds) else {
      throw PostgreSQLError(.unexpectedValue, "\(seconds) s since 1970 is no timestamp")
    }
    return Parameter(.timestamptz, value)
  }

  /// A value in the text form of a type that the server infers.
  ///
  /// - Throws: `.unexpectedValue` for a text with U+0000, where the value would end.
  package static func inferred(_ value: String) throws(PostgreSQLError) -> Parameter {
    guard !value.utf8.contains(0) else {
      throw PostgreSQLError(.unexpectedValue, "a parameter in text form contains a zero byte")
    }
    return Parameter(nil, Array(value.utf8) + [0], isBinary: false)
  }
}

/// The types of the server that are read or written, by their fixed object ids.
enum TypeCode: Oid {
  case bool = 16
  case bytea = 17
  case name = 19
  case int8 = 20
  case int2 = 21
  case int4 = 23
  case text = 25
  case json = 114
  case float4 = 700
  case float8 = 701
  case unknown = 705
  case bpchar = 1042
  case varchar = 1043
  case timestamptz = 1184
  case uuid = 2950

  /// The start of 2000, from which the server counts microseconds, in seconds since 1970.
  static let epoch = 946_684_800.0
}

extension [Parameter] {
  /// Lends the addresses of all values. Nothing is copied.
  func withAddresses<R>(_ body: ([UnsafePointer<CChar>?]) -> R) -> R {
    var addresses: [UnsafePointer<CChar>?] = []
    addresses.reserveCapacity(count)
    func lend(_ rest: ArraySlice<Parameter>) -> R {
      guard let first = rest.first else { return body(addresses) }
      guard let bytes = first.bytes else {
        addresses.append(nil)
        return lend(rest.dropFirst())
      }
      return bytes.withUnsafeBytes { buffer in
        // SAFETY: the array is alive until the call of `body` has returned.
        addresses.append(buffer.assumingMemoryBound(to: CChar.self).baseAddress)
        return lend(rest.dropFirst())
      }
    }
    return lend(self[...])
  }
}
