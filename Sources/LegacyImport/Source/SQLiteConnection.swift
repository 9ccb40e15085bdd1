import CMooringSQLite
import EntityModel

/// A connection to a private copy, configured for an untrusted file. Used by one thread.
final class SQLiteConnection {
  let handle: OpaquePointer
  private let interruption: Interruption

  /// - Throws: ``ImportError``.
  convenience init(creating path: String) throws(ImportError) {
    try self.init(path: path, flags: SQLITE_OPEN_CREATE)
  }

  /// Opens the main file as if there were no log. Only for a file that no process writes.
  ///
  /// - Throws: ``ImportError``.
  convenience init(ignoringLogOf path: String) throws(ImportError) {
    let escaped = path.utf8.map { byte in
      byte > 0x2d && byte < 0x7f && byte != 0x3f
        ? String(UnicodeScalar(byte))
        : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    try self.init(path: "file:" + escaped.joined() + "?immutable=1", flags: SQLITE_OPEN_URI)
  }

  /// - Throws: ``ImportError``.
  init(
    path: String, flags: Int32 = 0, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(ImportError) {
    var opened: OpaquePointer?
    let flags = flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &opened, flags, nil)
    guard status == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw ImportError(
        .unreadable, "SQLite cannot open the copy of the file",
        [("path", path), ("SQLite", String(cString: sqlite3_errstr(status)))])
    }
    handle = opened
    interruption = Interruption(isCancelled: isCancelled)
    restrict()
    interruptLongSteps()
    compareUnknownCollationsAsBytes()
  }

  deinit { sqlite3_close_v2(handle) }

  func prepare(_ sql: String) throws -> SQLiteStatement {
    interruption.begin()
    return try SQLiteStatement(sql, self)
  }

  /// Runs a statement to its end.
  func execute(_ sql: String) throws {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  /// Must be called before each step: it starts the time of the step.
  func beginStep() { interruption.begin() }

  /// Accepts a schema with entries that do not parse. Only for a copy.
  func allowDamagedSchema() throws {
    _ = mooring_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    try execute("PRAGMA writable_schema = ON")
  }

  /// The finding of a check that a malformed page has ended.
  static let malformedPage = "the check itself found a malformed page"

  /// Returns the first ten lines of SQLite's quick check, none if it finds nothing, and whether it
  /// completed: its time is bounded, and it may need functions of another program.
  func quickCheck() throws -> (findings: [String], isComplete: Bool) {
    var findings: [String] = []
    interruption.stepTime = Limits.checkTimeMax
    defer { interruption.stepTime = Limits.stepTimeMax }
    do {
      let check = try prepare("PRAGMA quick_check(10)")
      while findings.count < 10, try check.step() {
        guard case .text(let line) = try check.cell(0) else { continue }
        findings += line.split(separator: "\n").map { String($0).onOneLine }
      }
    } catch let error as ImportError where error.code == .damaged {
      findings.append(Self.malformedPage)
    } catch let error as ImportError where error.code != .noSpace {
      return (Array(findings.prefix(10)), false)
    }
    return (findings == ["ok"] ? [] : Array(findings.prefix(10)), true)
  }

  /// Returns the error of a call that just failed.
  func failure(_ status: Int32, _ summary: StaticString, _ context: [(String, String)] = [])
    -> any Error
  {
    if status & 0xff == SQLITE_INTERRUPT, interruption.wasCancelled { return CancellationError() }
    let code: ImportError.Code =
      switch status & 0xff {
      case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
      case SQLITE_BUSY, SQLITE_LOCKED: .busy
      case SQLITE_TOOBIG, SQLITE_NOMEM, SQLITE_INTERRUPT: .tooLarge
      case SQLITE_FULL: .noSpace
      default: .unreadable
      }
    let reason =
      status & 0xff == SQLITE_INTERRUPT
      ? "a step took longer than \(interruption.stepTime)" : String(cString: sqlite3_errmsg(handle))
    return ImportError(
      code, summary, context + [("SQLite", reason)],
      advice: code == .damaged ? "--damaged imports what can still be read" : nil)
  }

  func damage(_ summary: StaticString, _ context: [(String, String)]) -> any Error {
    failure(SQLITE_CORRUPT, summary, context)
  }

  private func restrict() {
    for (option, isOn) in [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
      (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
      // Without trust, one computed column with a function of JSON makes SQLite 3.40 refuse the
      // whole file. All that a schema could do harm with is switched off here.
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1),
      // Else a name that no column has would be a text.
      (SQLITE_DBCONFIG_DQS_DML, 0),
    ] {
      _ = mooring_configure(handle, option, Int32(isOn))
    }
    for (limit, value) in [
      (SQLITE_LIMIT_LENGTH, Limits.cellBytesMax), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_WORKER_THREADS, 0), (SQLITE_LIMIT_EXPR_DEPTH, 100),
      (SQLITE_LIMIT_SQL_LENGTH, 1 << 20), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    ] {
      sqlite3_limit(handle, limit, Int32(value))
    }
    sqlite3_busy_timeout(handle, Int32(Limits.lockWait.components.seconds * 1000))
  }

  private func interruptLongSteps() {
    // SAFETY: the connection owns the interruption and is closed before it goes.
    sqlite3_progress_handler(
      handle, 10_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isDue ? 1 : 0
      }, Unmanaged.passUnretained(interruption).toOpaque())
  }

  /// Lets a table be read whose columns have a collation of another program. The order under that
  /// collation is not used.
  private func compareUnknownCollationsAsBytes() {
    sqlite3_collation_needed(handle, nil) { _, connection, _, name in
      sqlite3_create_collation_v2(
        connection, name, SQLITE_UTF8, nil,
        { _, leftCount, left, rightCount, right in
          // SAFETY: SQLite hands over that many bytes on each side.
          let left = UnsafeRawBufferPointer(start: left, count: Int(leftCount))
          let right = UnsafeRawBufferPointer(start: right, count: Int(rightCount))
          return left.elementsEqual(right) ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        }, nil)
    }
  }
}

/// Decides when a step of SQLite is interrupted.
private final class Interruption {
  private let isCancelled: @Sendable () -> Bool
  private var deadline: ContinuousClock.Instant?
  private(set) var wasCancelled = false

  var stepTime = Limits.stepTimeMax

  init(isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

  /// Starts the time of the next step. Most steps end before the clock is read.
  func begin() { deadline = nil }

  var isDue: Bool {
    wasCancelled = isCancelled()
    let now = ContinuousClock.now
    let due = deadline ?? now + stepTime
    deadline = due
    return wasCancelled || now > due
  }
}
