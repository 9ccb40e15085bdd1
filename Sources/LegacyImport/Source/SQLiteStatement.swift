import CMooringSQLite

/// A prepared statement. Used by one thread.
final class SQLiteStatement {
  enum Outcome: Equatable {
    case row
    case done
    /// SQLite finds the file malformed here.
    case malformed
    /// A value of the row is longer than `Limits.cellBytesMax`; nothing of the row was read.
    case oversized
  }

  private let connection: SQLiteConnection
  private let handle: OpaquePointer

  init(_ sql: String, _ connection: SQLiteConnection) throws {
    var prepared: OpaquePointer?
    let status = sqlite3_prepare_v3(connection.handle, sql, -1, 0, &prepared, nil)
    guard status == SQLITE_OK, let prepared else {
      throw connection.failure(status, "SQLite cannot read the file")
    }
    handle = prepared
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// - Returns: True if there is a row.
  /// - Throws: ``ImportError`` or `CancellationError`.
  func step() throws -> Bool {
    switch try outcome() {
    case .row: true
    case .done: false
    case .malformed: throw connection.damage("the file is damaged", [])
    case .oversized: throw connection.failure(SQLITE_TOOBIG, "a value is too large")
    }
  }

  /// - Throws: ``ImportError`` or `CancellationError` for what is neither damage nor size.
  func outcome() throws -> Outcome {
    connection.beginStep()
    let status = sqlite3_step(handle)
    switch status & 0xff {
    case SQLITE_ROW: return .row
    case SQLITE_DONE: return .done
    case SQLITE_CORRUPT, SQLITE_NOTADB: return .malformed
    case SQLITE_TOOBIG: return .oversized
    default: throw connection.failure(status, "SQLite cannot read the file")
    }
  }

  func reset() {
    // The error of the last step, if it had one, was reported by that step.
    sqlite3_reset(handle)
  }

  func bind(_ cells: [Cell]) throws {
    for (offset, cell) in cells.enumerated() { try bind(cell, Int32(offset + 1)) }
  }

  private func bind(_ cell: Cell, _ place: Int32) throws {
    switch cell {
    case .null: try check(sqlite3_bind_null(handle, place))
    case .integer(let number): try check(sqlite3_bind_int64(handle, place, number))
    case .real(let number): try check(sqlite3_bind_double(handle, place, number))
    case .text(let text): try bindText(Array(text.utf8), place)
    case .badText(let bytes): try bindText(bytes, place)
    case .blob(let bytes):
      // SAFETY: SQLite copies the bytes before the call returns.
      try check(
        bytes.withUnsafeBytes {
          mooring_bind_blob(handle, place, $0.baseAddress, Int32(clamping: $0.count))
        })
    case .oversized(let bytes):
      throw ImportError(
        .tooLarge, "a key is longer than what is read", [("bytes", String(bytes))])
    }
  }

  /// Binds a blob of zeros.
  func bindZeros(_ bytes: Int64, _ place: Int32) throws {
    try check(sqlite3_bind_zeroblob64(handle, place, UInt64(clamping: bytes)))
  }

  private func bindText(_ bytes: [UInt8], _ place: Int32) throws {
    // One byte more, for an empty array has no address, and no address is null.
    // SAFETY: SQLite copies the bytes before the call returns.
    let status = (bytes + [0]).withUnsafeBytes {
      mooring_bind_text(
        handle, place, $0.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(clamping: bytes.count))
    }
    try check(status)
  }

  private func check(_ status: Int32) throws {
    guard status == SQLITE_OK else {
      throw connection.failure(status, "SQLite refuses a value")
    }
  }

  func integer(_ place: Int32) -> Int64 { sqlite3_column_int64(handle, place) }

  /// Returns the value as it is in the file, whatever the declared type of the column.
  func cell(_ place: Int32) throws -> Cell {
    switch sqlite3_column_type(handle, place) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, place))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, place))
    case SQLITE_TEXT:
      // The text first: of UTF-16 it is made here, and only then its bytes are counted.
      guard let start = sqlite3_column_text(handle, place) else { throw noMemory }
      // SAFETY: the bytes stay until the next step, and are copied here.
      let bytes = UnsafeBufferPointer(
        start: start, count: Int(sqlite3_column_bytes(handle, place)))
      return Self.text(bytes)
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(handle, place))
      guard count > 0 else { return .blob([]) }
      guard let start = sqlite3_column_blob(handle, place) else { throw noMemory }
      // SAFETY: the bytes stay until the next step, and are copied here.
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    default: return .null
    }
  }

  /// Returns a text, or its bytes if they are not UTF-8. Avoids `String(validating:as:)`, which
  /// looks up generic metadata at each call.
  private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> Cell {
    do {
      // SAFETY: the span lives no longer than the bytes, and the string is a copy.
      return .text(String(copying: try UTF8Span(validating: Span(_unsafeElements: bytes))))
    } catch {
      return .badText(Array(bytes))
    }
  }

  private var noMemory: any Error {
    connection.failure(SQLITE_NOMEM, "there is no memory for a value")
  }
}
