import Foundation
package import PostgreSQL
import SystemSupport

/// Tries whether a database keeps what a hub relies on, with a hub of its own that it removes.
package struct EngineCheck {
  /// One requirement and what was found.
  package struct Finding: Codable, Hashable, Sendable {
    package let requirement: String
    /// The problem that was found; `nil` for none.
    package let problem: String?
    /// True if a hub works without it.
    package let isOptional: Bool
  }

  private let database: ConnectionString
  private let hub = UUID()

  package init(_ database: ConnectionString) { self.database = database }

  /// Runs all tries, which take about two seconds.
  ///
  /// - Throws: `StorageError` with `.unreachable`, `.permission` if nothing can be tried.
  package func run() throws -> [Finding] {
    var session = try HubSession(database)
    try session.createTables()
    guard try session.add(hub, named: "check-\(hub.uuidString)") == hub else {
      throw StorageError(
        .unreachable, "the database does not keep what is written to it",
        advice: "check which server the connection string names")
    }
    defer { remove() }
    return [
      finding("bytes come back as they were written", keepsBytes),
      finding("the lock of a row makes others wait, at most for their limit", locksRows),
      finding("who gets the lock sees what its last holder has committed", showsTail),
      finding("a commit is refused after the silence of its connection", endsSilence),
      finding("notifications reach other connections", isOptional: true, notifies),
    ]
  }

  private struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  private func finding(
    _ requirement: String, isOptional: Bool = false, _ body: () throws -> Void
  ) -> Finding {
    do {
      try body()
      return Finding(requirement: requirement, problem: nil, isOptional: isOptional)
    } catch {
      return Finding(requirement: requirement, problem: "\(error)", isOptional: isOptional)
    }
  }

  // MARK: Tries

  private func keepsBytes() throws {
    var connection = try connect()
    let bytes = (0...255).map { UInt8($0) }
    try connection.execute(entry(1, bytes), until: deadline)
    let stored = try connection.rows(
      Statement("SELECT body FROM mooring.entry WHERE store = $1 AND seq = 1", .uuid(hub)),
      until: deadline
    ) { try $0.bytes(0) }
    guard stored == [bytes] else { throw Problem("other bytes came back") }
  }

  private func locksRows() throws {
    var holder = try connect()
    var waiter = try connect()
    try take(&holder, within: .seconds(5))
    let start = ContinuousClock.now
    do {
      try take(&waiter, within: .milliseconds(300))
      throw Problem("two connections have the lock")
    } catch let error as PostgreSQLError where error.sqlState == .lockTimeout {
      guard ContinuousClock.now - start < .seconds(3) else { throw Problem("the limit is ignored") }
    }
    try holder.execute(.rollback, until: deadline)
    try waiter.execute(.rollback, until: deadline)
    try take(&waiter, within: .seconds(5))
    try waiter.execute(.rollback, until: deadline)
  }

  private func showsTail() throws {
    var holder = try connect()
    try take(&holder, within: .seconds(5))
    let seen = Locked<Result<Int64, any Error>?>(nil)
    let process = Locked<Int32?>(nil)
    let thread = BoundedThreads("mooring.check", threadsMax: 1)
    let done = DispatchSemaphore(value: 0)
    thread.submit { [self] in
      let result = Result {
        var waiter = try connect()
        try waiter.execute(HubCommitLog.begin(within: .seconds(10)), until: deadline)
        let own = try waiter.rows("SELECT pg_backend_pid()", until: deadline) { try $0.int4(0) }
        process.withLock { $0 = own.first ?? nil }
        try waiter.execute(lock, until: deadline)
        let count = try waiter.rows(
          Statement("SELECT count(*) FROM mooring.entry WHERE store = $1 AND seq = 2", .uuid(hub)),
          until: deadline
        ) { try $0.int8(0) ?? 0 }
        try waiter.execute(.rollback, until: deadline)
        return count.first ?? 0
      }
      seen.withLock { $0 = result }
      done.signal()
    }
    try waitForWaiter(process, &holder)
    try holder.execute([entry(2, [2]), .commit], until: deadline)
    done.wait()
    guard try seen.withLock({ $0 })?.get() == 1 else { throw Problem("an older state is read") }
  }

  /// Waits until the session of another connection waits for a lock. An engine that does not list
  /// such waits passes the try after some seconds, in which the wait will have begun.
  private func waitForWaiter(_ process: Locked<Int32?>, _ holder: inout Connection) throws {
    let end = ContinuousClock.now + .seconds(3)
    while ContinuousClock.now < end {
      if let process = process.withLock({ $0 }) {
        let waits = try holder.rows(
          Statement("SELECT count(*) FROM pg_locks WHERE pid = $1 AND NOT granted", .int4(process)),
          until: deadline
        ) { try $0.int8(0) ?? 0 }
        if waits != [0] { return }
      }
      usleep(Self.lookPause)
    }
  }

  private static let lookPause: UInt32 = 5_000

  private func endsSilence() throws {
    var holder = try connect()
    var other = try connect()
    try take(&holder, within: .seconds(5), silence: .milliseconds(300))
    try take(&other, within: .seconds(5))
    try other.execute(.rollback, until: deadline)
    do {
      try holder.execute([entry(3, [3]), .commit], until: deadline)
    } catch is PostgreSQLError {
      return
    }
    throw Problem("a connection that lost the lock could commit")
  }

  private func notifies() throws {
    var listener = try connect()
    var sender = try connect()
    let channel = "mooring_check"
    try listener.execute(Statement.listen(to: channel), until: deadline)
    try sender.execute(Statement.notify(channel, payload: hub.uuidString), until: deadline)
    let end = ContinuousClock.now + .seconds(3)
    while case .received(let notifications) = try listener.waitForNotifications(until: end) {
      if notifications.contains(where: { $0.payload == hub.uuidString }) { return }
    }
    throw Problem("none came in three seconds: machines look every two seconds")
  }

  // MARK: Statements

  private var deadline: ContinuousClock.Instant { .now + HubConnections.answerMax }

  private func connect() throws -> Connection { try Connection(database, until: deadline) }

  private func take(
    _ connection: inout Connection, within limit: Duration,
    silence: Duration = HubCommitLog.silenceMax
  ) throws {
    try connection.execute(
      HubCommitLog.begin(within: limit, silence: silence) + [lock], until: deadline)
  }

  private var lock: Statement {
    Statement("SELECT seq FROM mooring.store WHERE id = $1 FOR UPDATE", .uuid(hub))
  }

  private func entry(_ number: Int64, _ bytes: [UInt8]) -> Statement {
    Statement(
      """
      INSERT INTO mooring.entry (store, seq, part, machine, nonce, chain, body)
      VALUES ($1, $2, 0, $3, $3, NULL, $4)
      """, .uuid(hub), .int8(number), .uuid(hub), .bytes(bytes))
  }

  private func remove() {
    // A hub that cannot be removed now has a name of its own, and no store uses it.
    guard var session = try? HubSession(database) else { return }
    try? session.execute(
      ["entry", "store"].map {
        Statement(
          "DELETE FROM mooring.\($0) WHERE \($0 == "store" ? "id" : "store") = $1", .uuid(hub))
      })
  }
}
