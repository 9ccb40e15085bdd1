package import EntityStore
import Foundation
import PostgreSQL
import SystemSupport

/// The locks of a hub: rows with a holder, which is this process, and an end that the holder moves
/// on while it lives.
///
/// The clock is that of the server. A lock of a machine that has died can be taken when its time is
/// over, 15 seconds later at most. A lock of a process of this machine can be taken at once: the
/// taker has the kernel lock in the folder (see `SharedLocks`).
///
/// `HubPulse` moves the ends on.
///
/// A holder that was cut off for so long that another machine has its lock may not write any more:
/// its next turn is refused (see `HubCommitLog.beginTurn`).
package final class HubLocks: SharedLocks {
  static let duration = Duration.seconds(15)
  /// The age of the notes that `note(of:)` returns.
  private static let notesAgeMax = Duration.seconds(1)

  private struct State {
    /// The names of the locks that are held.
    var held: Set<String> = []
    var notes: [String: SharedNote] = [:]
    var notesReadAt: ContinuousClock.Instant?
  }

  let address: HubAddress
  /// The identity of this process.
  let holder = UUID()
  private let connections: HubConnections
  let pulse: HubPulse
  private let state = Locked(State())

  package init(_ address: HubAddress) {
    self.address = address
    connections = HubConnections(address.database)
    pulse = HubPulse(address, holder: holder, connections: connections)
  }

  // MARK: Locks

  package func take(_ name: String) throws -> (any SharedLock)? {
    let holders = try rows(
      Statement(
        """
        INSERT INTO mooring.lock AS l (store, name, holder, machine, until)
        VALUES ($1, $2, $3, $4, clock_timestamp() + \(Self.interval))
        ON CONFLICT (store, name) DO UPDATE
          SET holder = excluded.holder, machine = excluded.machine, until = excluded.until
          WHERE l.until < clock_timestamp() OR l.machine = excluded.machine
        RETURNING holder
        """, .uuid(address.hub), .text(name), .uuid(holder), .uuid(address.machine))
    ) { try $0.uuid(0) }
    guard holders == [holder] else { return nil }
    change { $0.insert(name) }
    return Lock(name, of: self)
  }

  package func timeHeldElsewhere(_ name: String) throws -> Duration? {
    try rows(
      Statement(
        """
        SELECT extract(epoch FROM until - clock_timestamp())::float8 FROM mooring.lock
        WHERE store = $1 AND name = $2 AND until >= clock_timestamp() AND machine <> $3
        """, .uuid(address.hub), .text(name), .uuid(address.machine))
    ) { Duration.seconds(max(0, try $0.double(0) ?? 0)) }.first
  }

  private final class Lock: SharedLock {
    private let name: String
    private let locks: HubLocks
    private let isReleased = Locked(false)

    init(_ name: String, of locks: HubLocks) {
      self.name = name
      self.locks = locks
    }

    deinit { release() }

    func leave(_ note: SharedNote) { locks.store(note, at: name) }

    func release() {
      let isFirst = isReleased.withLock { isReleased in
        defer { isReleased = true }
        return !isReleased
      }
      if isFirst { locks.release(name) }
    }
  }

  private func release(_ name: String) {
    change { $0.remove(name) }
    let own: [Parameter] = [.uuid(address.hub), .text(name), .uuid(holder)]
    let rows = "FROM mooring.lock WHERE store = $1 AND name = $2 AND holder = $3"
    // Without a connection the lock ends when its time is over.
    try? execute([
      Statement("DELETE \(rows) AND note IS NULL", own[0], own[1], own[2]),
      Statement(
        """
        UPDATE mooring.lock SET until = '-infinity'
        WHERE store = $1 AND name = $2 AND holder = $3
        """, own[0], own[1], own[2]),
    ])
  }

  private func change(_ body: (inout Set<String>) -> Void) {
    state.withLock { state in
      body(&state.held)
      pulse.setHoldsLocks(!state.held.isEmpty)
    }
  }

  // MARK: The fence of a turn

  /// The names of the locks that must still be held when a turn begins.
  var heldNames: Set<String> { state.withLock { $0.held } }

  /// Selects the names of the locks that this process has. For the transaction of a turn.
  var fenceStatement: Statement {
    Statement(
      """
      SELECT name FROM mooring.lock
      WHERE store = $1 AND holder = $2 AND until > '-infinity'
      """, .uuid(address.hub), .uuid(holder))
  }

  // MARK: Notes

  package func note(of name: String) -> SharedNote? {
    let isOld = state.withLock { state in
      state.notesReadAt.map { ContinuousClock.now - $0 > Self.notesAgeMax } ?? true
    }
    if isOld { readNotes() }
    return state.withLock { $0.notes[name] }
  }

  /// Reads all notes at once: a schedule asks for those of many feeds. Without a connection the
  /// earlier ones stay.
  private func readNotes() {
    let found = try? rows(
      Statement(
        """
        SELECT name, note, extract(epoch FROM noted_at)::float8 FROM mooring.lock
        WHERE store = $1 AND note IS NOT NULL
        """, .uuid(address.hub))
    ) { row in
      (
        try row.text(0) ?? "",
        SharedNote(
          try row.text(1) ?? "", at: Date(timeIntervalSince1970: try row.double(2) ?? 0))
      )
    }
    state.withLock { state in
      if let found { state.notes = Dictionary(found) { $1 } }
      state.notesReadAt = .now
    }
  }

  private func store(_ note: SharedNote, at name: String) {
    state.withLock { $0.notes[name] = note }
    // A note that is lost costs a request to a server.
    try? execute([
      Statement(
        """
        UPDATE mooring.lock SET note = $3, noted_at = to_timestamp($4)
        WHERE store = $1 AND name = $2
        """, .uuid(address.hub), .text(name), .text(note.text),
        .double(note.date.timeIntervalSince1970))
    ])
  }

  // MARK: Turns of hosts

  package func reserveTurn(_ name: String, spacing: Duration) throws -> Duration {
    let seconds = spacing / .seconds(1)
    // The hub itself is the holder, because nobody has such a row.
    let wait =
      try rows(
        Statement(
          """
          INSERT INTO mooring.lock AS l (store, name, holder, machine, until)
          VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
          ON CONFLICT (store, name) DO UPDATE
            SET until = greatest(l.until, clock_timestamp()) + make_interval(secs => $5)
          RETURNING extract(epoch FROM until - clock_timestamp())::float8
          """, .uuid(address.hub), .text(name), .uuid(address.hub), .uuid(address.machine),
          .double(seconds))
      ) { try $0.double(0) ?? 0 }.first ?? 0
    return .seconds(max(0, wait - seconds))
  }

  // MARK: Statements

  /// The duration as PostgreSQL writes it.
  static let interval = "interval '\(Int(duration / .seconds(1))) seconds'"

  private func execute(_ statements: [Statement]) throws {
    _ = try connections.run { try $0.execute(statements, until: $1) }
  }

  private func rows<T>(
    _ statement: Statement, _ transform: @escaping (borrowing PostgreSQL.ResultRow) throws -> T
  ) throws -> [T] {
    try connections.run { try $0.rows(statement, until: $1, transform) }
  }
}
