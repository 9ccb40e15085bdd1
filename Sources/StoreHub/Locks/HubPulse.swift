import EntityStore
import Foundation
import PostgreSQL
import SystemSupport

/// Does every two seconds what a process in a hub has to do, on one thread and in one round trip,
/// so that an idle machine wakes up rarely: it renews the locks, notes that the machine is there,
/// asks for what a follower may have missed, and looks for commits of other processes of this
/// machine.
///
/// While the server does not answer, the looks wait for it. Nothing is missed by that: no process
/// of the hub can commit then.
///
/// There is a thread only while somebody needs it.
final class HubPulse: Sendable {
  private static let interval = Duration.seconds(2)
  /// The beats from one renewal to the next, and from one note to the next. One that fails is
  /// repeated with the next beat.
  private static let beatsPerRenewal = 2
  private static let beatsPerNote = 5

  private struct State {
    var holdsLocks = false
    var listener: (any PulseListener)?
    var looks: [Int: @Sendable () -> Void] = [:]
    var looksEver = 0
    var isBeating = false
    /// The number of the last beat, and of those that have renewed and noted.
    var beat = 0
    var renewedAt = 0
    var notedAt = 0

    var isNeeded: Bool { holdsLocks || listener != nil || !looks.isEmpty }
  }

  private let address: HubAddress
  /// The identity of this process.
  private let holder: UUID
  private let connections: HubConnections
  private let state = Locked(State())

  init(_ address: HubAddress, holder: UUID, connections: HubConnections) {
    self.address = address
    self.holder = holder
    self.connections = connections
  }

  /// Begins or ceases to renew the locks of this process.
  func setHoldsLocks(_ holdsLocks: Bool) { change { $0.holdsLocks = holdsLocks } }

  /// Begins to note the machine for a listener, and to pass the news on. There is one at a time.
  func begin(for listener: any PulseListener) { change { $0.listener = listener } }

  func end(for listener: any PulseListener) {
    change { state in
      if state.listener === listener { state.listener = nil }
    }
  }

  /// The timer by which observers find commits of other processes.
  var pollTimer: PollTimer {
    PollTimer { [self] _, look in
      let number = change { state in
        state.looksEver += 1
        state.looks[state.looksEver] = look
        return state.looksEver
      }
      return { [self] in change { $0.looks[number] = nil } }
    }
  }

  // MARK: The thread

  /// True while there is a thread.
  var isBeating: Bool { state.withLock { $0.isBeating } }

  @discardableResult
  private func change<R>(_ body: (inout State) -> R) -> R {
    let (result, begins) = state.withLock { state in
      let result = body(&state)
      defer { state.isBeating = state.isBeating || state.isNeeded }
      return (result, state.isNeeded && !state.isBeating)
    }
    if begins { beatUntilNobodyNeedsIt() }
    return result
  }

  private func beatUntilNobodyNeedsIt() {
    let thread = Thread { [self] in
      while isStillNeeded() {
        usleep(UInt32(Self.interval / .microseconds(1)))
        beat()
      }
    }
    thread.name = "mooring.pulse"
    thread.start()
  }

  private func isStillNeeded() -> Bool {
    state.withLock { state in
      state.isBeating = state.isNeeded
      return state.isBeating
    }
  }

  private func beat() {
    let state = state.withLock { state in
      state.beat += 1
      return state
    }
    for look in state.looks.values { look() }
    let renews = state.holdsLocks && state.beat - state.renewedAt >= Self.beatsPerRenewal
    let notes = state.beat - state.notedAt >= Self.beatsPerNote
    var statements = renews ? [renewal] : []
    if let presence = state.listener?.presence {
      if notes { statements.append(.note(presence, of: address.membership)) }
      statements.append(.news(of: address.hub))
    }
    if statements.isEmpty { return }
    do {
      let news = try exchange(statements)
      self.state.withLock { done in
        if renews { done.renewedAt = state.beat }
        if notes { done.notedAt = state.beat }
      }
      if let news { state.listener?.hear(news) }
    } catch {
      state.listener?.loseTouch()
    }
  }

  /// Moves the ends of the held locks on. A lock that another machine has taken since is not taken
  /// back.
  private var renewal: Statement {
    Statement(
      """
      UPDATE mooring.lock SET until = clock_timestamp() + \(HubLocks.interval)
      WHERE store = $1 AND holder = $2 AND until > '-infinity'
      """, .uuid(address.hub), .uuid(holder))
  }

  /// - Returns: The row of the only statement that has one.
  private func exchange(_ statements: [Statement]) throws -> HubNews? {
    try connections.run { connection, deadline in
      var news: HubNews?
      _ = try connection.run(statements, until: deadline) { _, row in news = try HubNews(row) }
      return news
    }
  }
}

/// Gets the news of a pulse, on its thread.
protocol PulseListener: AnyObject, Sendable {
  /// The note of the machine; `nil` for none, and for no news.
  var presence: HubPresence? { get }

  func hear(_ news: HubNews)

  /// Called when the server was not reached.
  func loseTouch()
}

/// The state of a hub as a look finds it.
struct HubNews: Sendable {
  /// The number of the newest entry.
  let entry: UInt64
  /// The text of the last request to compare the stores.
  let request: String?

  /// Reads the row of `Statement.news`.
  init(_ row: borrowing PostgreSQL.ResultRow) throws {
    entry = try row.sequence(0)
    request = try row.text(1)
  }
}

extension Statement {
  /// Selects the news of a hub.
  static func news(of hub: UUID) -> Statement {
    Statement(
      """
      SELECT seq, (SELECT note FROM mooring.lock WHERE store = $1 AND name = 'digest')
      FROM mooring.store WHERE id = $1
      """, .uuid(hub))
  }
}
