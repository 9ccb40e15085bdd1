package import EntityStore
import Foundation
import LMDB
import PostgreSQL
import SystemSupport

/// Applies what other machines commit while a process has a store of a hub open, and notes that the
/// machine is there.
///
/// A notification of the database wakes it, or else its look every two seconds: through a pooler
/// of connections there are no notifications.
package final class HubFollower: Sendable {
  private static let lookInterval = Duration.seconds(2)
  private static let noteInterval = Duration.seconds(10)

  /// Not retained: a store that nobody else uses must be closed.
  // SAFETY: set once, in `init`; reading a weak reference is atomic.
  private nonisolated(unsafe) weak var store: Store?
  private let address: HubAddress
  private let wakeup: Wakeup
  private let isStopped = Locked(false)
  /// The last comparison of the stores that was answered.
  private let answered = Locked<DigestRequest?>(nil)

  /// Begins to follow, on a thread of its own, until `stop` is called.
  ///
  /// - Parameter address: That with which the store was opened.
  package init(_ store: Store, of address: HubAddress) throws {
    self.store = store
    self.address = address
    wakeup = try Wakeup()
    let thread = Thread { [self] in
      while !isStopped.withLock({ $0 }) { follow() }
    }
    thread.name = "mooring.follower"
    thread.start()
  }

  /// Ends the following. A catch-up that is running is completed.
  package func stop() {
    isStopped.withLock { $0 = true }
    wakeup.wakeUp()
  }

  /// Follows until the connection ends or `stop` is called.
  private func follow() {
    do {
      var connection = try Connection(address.database, until: .now + HubConnections.answerMax)
      try connection.execute(
        Statement.listen(to: HubBell.channel), until: .now + HubConnections.answerMax)
      var session = try HubSession(address.database)
      // Entries from before the listening have no notification.
      try catchUp(&session)
      var nextNote = ContinuousClock.now
      while !isStopped.withLock({ $0 }) {
        if ContinuousClock.now >= nextNote {
          try note(in: &session)
          nextNote = .now + Self.noteInterval
        }
        switch try connection.waitForNotifications(until: .now + Self.lookInterval, wakeup: wakeup)
        {
        case .received(let notifications):
          let own = HubBell.payload(address)
          let hub = address.hub.uuidString
          guard notifications.contains(where: { $0.payload.hasPrefix(hub) && $0.payload != own })
          else { continue }
        case .deadline:
          guard try hasNews(&session) else { continue }
        case .wokenUp: return
        }
        try catchUp(&session)
      }
    } catch {
      // Reads go on; writes report what is wrong. The next look may succeed.
      pause()
    }
  }

  /// Returns true if there is something to do: in one round trip, because an idle machine asks so
  /// all the time.
  private func hasNews(_ session: inout HubSession) throws -> Bool {
    guard let store else { return true }
    let (entry, request) = try session.news(of: address.hub)
    return try entry != store.newestHubEntry || request != answered.withLock { $0 }
  }

  /// Ends the following with the store.
  private func catchUp(_ session: inout HubSession) throws {
    guard let store else { return isStopped.withLock { $0 = true } }
    try store.catchUp()
    try answerDigest(of: store, in: &session)
  }

  /// Answers a machine that compares the stores, once for each comparison.
  private func answerDigest(of store: Store, in session: inout HubSession) throws {
    guard let request = try session.requestedDigest(of: address.hub),
      answered.withLock({ $0 }) != request, try store.newestHubEntry == request.entry,
      let own = try store.digest(), own.position.sequence == request.entry
    else { return }
    try session.answer(request, own.digest, of: address.membership)
    answered.withLock { $0 = request }
  }

  private func pause() {
    for _ in 0..<20 where !isStopped.withLock({ $0 }) { usleep(100_000) }
  }

  private func note(in session: inout HubSession) throws {
    guard let store else { return }
    try session.note(
      address.membership, sequence: try store.newestHubEntry,
      program: store.options.program ?? "")
  }
}
