import CMooringPostgreSQL
import Glibc

/// A session of a PostgreSQL server. All calls block, each until its deadline at the latest: they
/// belong on threads of the caller and not on Swift's cooperative pool.
// SAFETY (@unchecked Sendable): libpq allows a connection on one thread at a time. It cannot be
// copied, and only methods that need it exclusively touch it, so that it may change threads and
// never be used by two at once.
package struct Connection: ~Copyable, @unchecked Sendable {
  package struct Limits: Sendable {
    /// The largest row that is accepted from the server, in bytes of its values. libpq has received
    /// the row when it is measured; the server's own limit is 1 GiB for a value.
    package var rowBytesMax = 64 << 20

    package init() {}
  }

  package enum TransactionState: Sendable {
    /// No transaction is open.
    case idle
    /// A transaction is open.
    case open
    /// A statement of the open transaction has failed: it can only be rolled back.
    case failed
    /// The connection is closed.
    case closed
  }

  let libpq: LibPQ
  let limits: Limits
  /// The errors that the server sends without being asked, before it ends the session.
  let endNotice: EndNotice
  /// `nil` after the connection was closed or lost.
  private(set) var pointer: OpaquePointer?
  /// The version as one number: 150020 is 15.20.
  package let serverVersion: Int
  /// The process of the server, as `pg_stat_activity` and notifications name it.
  package let processID: Int32
  /// True if the connection is encrypted by TLS.
  package let isEncrypted: Bool

  /// Connects to the first server of the string that accepts, and authenticates.
  ///
  /// The deadline holds for all hosts together, in place of `connect_timeout`: a host that does not
  /// answer takes what is left, unless the string sets `tcp_user_timeout`. The name service has a
  /// time limit of its own.
  ///
  /// - Throws: `.connect`, with a SQLSTATE if a server has refused; `.deadline`;
  ///   `.libraryMissing`.
  package init(
    _ string: ConnectionString, limits: Limits = Limits(), until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    let libpq = try LibPQ.loaded()
    let notice = EndNotice(libpq)
    let pointer = try Self.start(string, libpq)
    do throws(PostgreSQLError) {
      notice.receive(from: pointer)
      try Self.authenticate(pointer, libpq, until: deadline)
    } catch {
      libpq.call.PQfinish(pointer)
      throw error
    }
    self.libpq = libpq
    self.limits = limits
    self.pointer = pointer
    endNotice = notice
    serverVersion = Int(libpq.call.PQserverVersion(pointer))
    processID = libpq.call.PQbackendPID(pointer)
    isEncrypted = libpq.call.PQsslInUse(pointer) == 1
  }

  deinit {
    // SAFETY: the pointer is freed once: here, or in `close`, which forgets it.
    if let pointer { libpq.call.PQfinish(pointer) }
  }

  /// Closes the connection. The server rolls an open transaction back.
  package mutating func close() {
    // SAFETY: see `deinit`.
    if let pointer { libpq.call.PQfinish(pointer) }
    pointer = nil
  }

  package var isOpen: Bool { pointer != nil }

  package var transactionState: TransactionState {
    mutating get {
      guard let pointer else { return .closed }
      return switch libpq.call.PQtransactionStatus(pointer) {
      case PQTRANS_IDLE: .idle
      case PQTRANS_INTRANS: .open
      case PQTRANS_INERROR: .failed
      default: .closed
      }
    }
  }

  // MARK: Connecting

  private static func start(
    _ string: ConnectionString, _ libpq: LibPQ
  ) throws(PostgreSQLError) -> OpaquePointer {
    // The last value of a keyword counts.
    let options =
      [("fallback_application_name", "mooring")]
      + string.options.map { ($0.keyword, $0.value) } + [("client_encoding", "UTF8")]
    let keywords = options.map { strdup($0.0) }
    let values = options.map { strdup($0.1) }
    defer { for copy in keywords + values { free(copy) } }
    // SAFETY: both arrays end with a null pointer; libpq copies the strings.
    let pointer = libpq.call.PQconnectStartParams(
      keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    guard let pointer else { throw PostgreSQLError(.connect, "no memory is left") }
    return pointer
  }

  private static func authenticate(
    _ pointer: OpaquePointer, _ libpq: LibPQ, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    // The message of a refusal is the only place that has its SQLSTATE.
    _ = libpq.call.PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
    guard libpq.call.PQstatus(pointer) != CONNECTION_BAD else { throw failure(pointer, libpq) }
    var next = PGRES_POLLING_WRITING
    while next != PGRES_POLLING_OK {
      let readiness = wait(
        for: libpq.call.PQsocket(pointer), reading: next == PGRES_POLLING_READING,
        writing: next == PGRES_POLLING_WRITING, until: deadline)
      if case .deadline = readiness { throw .deadline("connecting", isOutcomeKnown: true) }
      next = libpq.call.PQconnectPoll(pointer)
      if next == PGRES_POLLING_FAILED { throw failure(pointer, libpq) }
    }
    // Otherwise a server and a client that both send would wait for each other.
    guard libpq.call.PQsetnonblocking(pointer, 1) == 0 else { throw failure(pointer, libpq) }
  }

  /// Reads `FATAL:  28P01: the message` and drops the place in the server's source.
  private static func failure(_ pointer: OpaquePointer, _ libpq: LibPQ) -> PostgreSQLError {
    var state: SQLState?
    let lines = LibPQ.text(libpq.call.PQerrorMessage(pointer)).split(separator: "\n")
      .filter { !$0.hasPrefix("LOCATION:") }
      .map { line in
        for start in line.ranges(of: ":  ").map(\.upperBound) {
          let rest = line[start...]
          guard let found = SQLState(rest.prefix(5)), rest.dropFirst(5).hasPrefix(": ") else {
            continue
          }
          state = found
          return line[..<start] + rest.dropFirst(7)
        }
        return line
      }
    return PostgreSQLError(.connect, lines.joined(separator: "; "), sqlState: state)
  }

  // MARK: The end of a connection

  /// Returns the connection for a call, which must not find it in use or lost.
  ///
  /// It reads what the server has sent since the last call, so that a session that has ended is
  /// known before a statement is sent, and the statement's outcome with it.
  mutating func ready() throws(PostgreSQLError) -> OpaquePointer {
    guard let pointer else {
      throw PostgreSQLError(.connectionLost, "it was closed before")
    }
    while case .ready = wait(for: libpq.call.PQsocket(pointer), until: .now) {
      try readIdle(pointer)
    }
    return pointer
  }

  /// Reads what the server sends outside of statements.
  ///
  /// - Throws: `.connectionLost` if it has ended the session.
  mutating func readIdle(_ pointer: OpaquePointer) throws(PostgreSQLError) {
    let isConnected = libpq.call.PQconsumeInput(pointer) == 1
    // Parses, and so calls the receiver of notices.
    _ = libpq.call.PQisBusy(pointer)
    guard isConnected, endNotice.error == nil else { throw lost(wasSent: false) }
  }

  /// Closes the connection and returns the reason of its end.
  mutating func lost(wasSent: Bool) -> PostgreSQLError {
    defer { close() }
    if let error = endNotice.error { return wasSent ? error : error.beforeSending() }
    let message = pointer.map { LibPQ.text(libpq.call.PQerrorMessage($0)) } ?? ""
    return PostgreSQLError(
      .connectionLost, message.isEmpty ? "the server has closed it" : message,
      isOutcomeKnown: !wasSent)
  }
}

/// The last error that the server has sent outside of a statement: why it ends the session. Notices
/// and warnings are dropped; libpq would print them.
// @unchecked Sendable: libpq calls the receiver on the thread that uses the connection, which owns
// this object.
final class EndNotice: @unchecked Sendable {
  private let libpq: LibPQ
  private(set) var error: PostgreSQLError?

  init(_ libpq: LibPQ) { self.libpq = libpq }

  /// Receives the notices of a connection, which must not outlive the object.
  func receive(from pointer: OpaquePointer) {
    // SAFETY: the connection owns the object until after its end.
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = libpq.call.PQsetNoticeReceiver(
      pointer,
      { context, result in
        guard let context, let result else { return }
        let notice = Unmanaged<EndNotice>.fromOpaque(context).takeUnretainedValue()
        notice.receive(result)
      }, context)
  }

  private func receive(_ result: OpaquePointer) {
    let severity = libpq.call.PQresultErrorField(result, Int32(mooring_libpq_severity))
    if ["FATAL", "PANIC"].contains(LibPQ.text(severity)) {
      error = PostgreSQLError(result, libpq)
    }
  }
}
