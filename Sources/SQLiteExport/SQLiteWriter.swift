import CMooringSQLite
import Foundation

/// A connection that fills a new file. Used by one thread.
final class SQLiteWriter {
  private let handle: OpaquePointer
  private let isCancelled: CancellationCheck

  /// The function that SQLite calls during long steps.
  private final class CancellationCheck {
    let isCancelled: () -> Bool

    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
  }

  /// Opens an empty file. Nothing of it is durable before it is flushed as a whole: no journal is
  /// kept, and a failure leaves a file that must be removed.
  init(_ path: String, isCancelled: @escaping () -> Bool) throws {
    var opened: OpaquePointer?
    let status = sqlite3_open_v2(
      path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard status == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw ExportError(status, String(cString: sqlite3_errstr(status)))
    }
    handle = opened
    self.isCancelled = CancellationCheck(isCancelled)
    // SAFETY: the connection owns the check and is closed before it goes.
    sqlite3_progress_handler(
      handle, 100_000,
      { context in
        guard let context else { return 0 }
        let check = Unmanaged<CancellationCheck>.fromOpaque(context).takeUnretainedValue()
        return check.isCancelled() ? 1 : 0
      }, Unmanaged.passUnretained(self.isCancelled).toOpaque())
    for setting in [
      "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -32000",
    ] {
      try execute("PRAGMA \(setting)")
    }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs a statement to its end.
  func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func prepare(_ sql: String) throws -> SQLiteInsertion {
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v3(handle, sql, -1, 0, &prepared, nil))
    guard let prepared else { throw ExportError(SQLITE_ERROR, "there is no statement") }
    return SQLiteInsertion(prepared, self)
  }

  func check(_ status: Int32) throws {
    if status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW { return }
    if status & 0xff == SQLITE_INTERRUPT, isCancelled.isCancelled() { throw CancellationError() }
    throw ExportError(
      sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)))
  }
}

/// A prepared statement that inserts rows. Used by one thread.
final class SQLiteInsertion {
  private let handle: OpaquePointer
  private let writer: SQLiteWriter
  private var place: Int32 = 0

  fileprivate init(_ handle: OpaquePointer, _ writer: SQLiteWriter) {
    self.handle = handle
    self.writer = writer
  }

  deinit { sqlite3_finalize(handle) }

  func bindNull() throws { try bind { sqlite3_bind_null(handle, $0) } }
  func bind(_ number: Int64) throws { try bind { sqlite3_bind_int64(handle, $0, number) } }
  /// Binds a number; SQLite stores NaN as NULL.
  func bind(_ number: Double) throws { try bind { sqlite3_bind_double(handle, $0, number) } }

  func bind(_ text: String) throws {
    var text = text
    try text.withUTF8 { bytes in
      try bind { place in
        // An empty text may have no address, and no address would be null.
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
          return mooring_bind_text(handle, place, "", 0)
        }
        // SAFETY: SQLite copies the bytes before the call returns.
        return mooring_bind_text(
          handle, place, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self),
          Int32(clamping: bytes.count))
      }
    }
  }

  func bind(_ data: Data) throws {
    try data.withUnsafeBytes { bytes in
      // SAFETY: SQLite copies the bytes before the call returns.
      try bind { mooring_bind_blob(handle, $0, bytes.baseAddress, Int32(clamping: bytes.count)) }
    }
  }

  /// Inserts the row of the values that were bound since the last one.
  func insert() throws {
    place = 0
    let status = sqlite3_step(handle)
    sqlite3_reset(handle)
    try writer.check(status)
  }

  private func bind(_ value: (Int32) -> Int32) throws {
    place += 1
    try writer.check(value(place))
  }
}
