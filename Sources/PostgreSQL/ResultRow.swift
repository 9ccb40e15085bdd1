import CMooringPostgreSQL
package import Foundation

/// A row of a result, lent to a closure. Columns count from 0. Values are null or of the type of
/// the called method; another type is an error and is never converted in silence.
package struct ResultRow: ~Copyable {
  private let libpq: LibPQ
  private let result: OpaquePointer
  private let row: Int32
  package let columnCount: Int

  init(_ libpq: LibPQ, _ result: OpaquePointer, row: Int32) {
    self.libpq = libpq
    self.result = result
    self.row = row
    columnCount = Int(libpq.call.PQnfields(result))
  }

  /// The sum of the lengths of all values.
  var byteCount: Int {
    (0..<Int32(columnCount)).reduce(0) { $0 + Int(libpq.call.PQgetlength(result, row, $1)) }
  }

  // MARK: Bytes

  /// Lends the bytes of a value where they are, in the form in which the server has sent them; nil
  /// for null. They must not be used after `body` has returned.
  package func withBytes<R, E: Error>(
    _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(E) -> R
  ) throws -> R {
    try body(try value(column)?.bytes)
  }

  package func isNull(_ column: Int) throws(PostgreSQLError) -> Bool {
    try value(column) == nil
  }

  /// Returns a `bytea`, copied once.
  package func bytes(_ column: Int) throws(PostgreSQLError) -> [UInt8]? {
    guard let value = try value(column) else { return nil }
    guard value.type == .bytea else { throw value.mismatch("bytea") }
    if value.isBinary { return Array(value.bytes) }
    guard let bytes = Self.decodeHex(value.bytes) else { throw value.mismatch("bytea") }
    return bytes
  }

  /// Reads the text form `\x0a1b…`.
  private static func decodeHex(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "x")]), text.count % 2 == 0 else {
      return nil
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2 - 1)
    for index in stride(from: 2, to: text.count, by: 2) {
      let digits = String(decoding: text[index..<index + 2], as: UTF8.self)
      guard let byte = UInt8(digits, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  // MARK: Numbers

  /// Returns an integer of two, four or eight bytes.
  package func int8(_ column: Int) throws(PostgreSQLError) -> Int64? {
    guard let value = try value(column) else { return nil }
    let number: Int64? =
      switch (value.type, value.isBinary) {
      case (.int8?, true): value.integer(Int64.self)
      case (.int4?, true): value.integer(Int32.self).map { Int64($0) }
      case (.int2?, true): value.integer(Int16.self).map { Int64($0) }
      case (.int8?, false), (.int4?, false), (.int2?, false): Int64(value.text)
      default: nil
      }
    guard let number else { throw value.mismatch("an integer") }
    return number
  }

  /// Returns an integer that fits into four bytes.
  package func int4(_ column: Int) throws(PostgreSQLError) -> Int32? {
    guard let wide = try int8(column) else { return nil }
    guard let number = Int32(exactly: wide) else {
      throw PostgreSQLError(.unexpectedValue, "column \(column): \(wide) has more than four bytes")
    }
    return number
  }

  package func double(_ column: Int) throws(PostgreSQLError) -> Double? {
    guard let value = try value(column) else { return nil }
    guard let number = value.double else { throw value.mismatch("a double") }
    return number
  }

  package func bool(_ column: Int) throws(PostgreSQLError) -> Bool? {
    guard let value = try value(column) else { return nil }
    guard value.type == .bool, let byte = value.bytes.first else { throw value.mismatch("bool") }
    return value.isBinary ? byte != 0 : byte == UInt8(ascii: "t")
  }

  /// Returns the seconds since 1970 of a `timestamptz` in binary form, or of a double that counts
  /// them. The text form depends on settings of the session and is not read.
  package func secondsSince1970(_ column: Int) throws(PostgreSQLError) -> Double? {
    guard let value = try value(column) else { return nil }
    if let seconds = value.double { return seconds }
    guard value.type == .timestamptz, value.isBinary,
      let microseconds = value.integer(Int64.self)
    else { throw value.mismatch("timestamptz") }
    return switch microseconds {
    case .max: .infinity
    case .min: -.infinity
    default: Double(microseconds) / 1e6 + TypeCode.epoch
    }
  }

  // MARK: Texts

  /// Returns a text; of any type if the result is in text form.
  package func text(_ column: Int) throws(PostgreSQLError) -> String? {
    guard let value = try value(column) else { return nil }
    switch value.type {
    case .text?, .varchar?, .bpchar?, .name?, .json?, .unknown?: break
    default: guard !value.isBinary else { throw value.mismatch("text") }
    }
    guard let text = String(validating: value.bytes, as: UTF8.self) else {
      throw value.mismatch("UTF-8")
    }
    return text
  }

  package func uuid(_ column: Int) throws(PostgreSQLError) -> UUID? {
    guard let value = try value(column) else { return nil }
    guard value.type == .uuid else { throw value.mismatch("uuid") }
    guard value.isBinary else {
      guard let uuid = UUID(uuidString: value.text) else { throw value.mismatch("uuid") }
      return uuid
    }
    guard value.bytes.count == 16 else { throw value.mismatch("uuid") }
    // SAFETY: the buffer has the 16 bytes that are read.
    return UUID(uuid: value.bytes.loadUnaligned(as: uuid_t.self))
  }

  // MARK: Values

  private struct Value {
    let column: Int
    let typeID: Oid
    let isBinary: Bool
    let bytes: UnsafeRawBufferPointer

    var type: TypeCode? { TypeCode(rawValue: typeID) }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    var double: Double? {
      switch (type, isBinary) {
      case (.float8?, true): integer(UInt64.self).map { Double(bitPattern: $0) }
      case (.float4?, true): integer(UInt32.self).map { Double(Float(bitPattern: $0)) }
      case (.float8?, false), (.float4?, false): Double(text)
      default: nil
      }
    }

    /// Reads an integer in network order; nil unless the value has its length.
    func integer<I: FixedWidthInteger & BitwiseCopyable>(_ type: I.Type) -> I? {
      guard bytes.count == MemoryLayout<I>.size else { return nil }
      // SAFETY: the buffer has the bytes that are read.
      return I(bigEndian: bytes.loadUnaligned(as: I.self))
    }

    func mismatch(_ wanted: String) -> PostgreSQLError {
      PostgreSQLError(
        .unexpectedValue,
        "column \(column) is of type \(type.map { "\($0)" } ?? "\(typeID)") and not \(wanted)")
    }
  }

  private func value(_ column: Int) throws(PostgreSQLError) -> Value? {
    guard (0..<columnCount).contains(column) else {
      throw PostgreSQLError(.usage, "column \(column) of \(columnCount)")
    }
    let field = Int32(column)
    guard libpq.call.PQgetisnull(result, row, field) == 0 else { return nil }
    // SAFETY: the value belongs to the result, which the caller of the closure keeps alive; it has
    // the length that libpq reports.
    let bytes = UnsafeRawBufferPointer(
      start: libpq.call.PQgetvalue(result, row, field),
      count: Int(libpq.call.PQgetlength(result, row, field)))
    return Value(
      column: column, typeID: libpq.call.PQftype(result, field),
      isBinary: libpq.call.PQfformat(result, field) == 1, bytes: bytes)
  }
}
