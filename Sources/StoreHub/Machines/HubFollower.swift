package import EntityStore
import Foundation
import LMDB
import PostgreSQL
import SystemSupport

/// Applies what other machines commit while a process has a store of a hub open, and lets the pulse
/// of the process note that the machine is there.
///
/// A notification of the database wakes it, or else the pulse, which looks every two seconds:
/// through a pooler of connections there are no notifications.
package final class HubFollower: PulseListener {
  /// The end of a wait without a notification, after which the next one begins.
  private static let waitMax = Duration.seconds(86_400)

  private struct State {
    var isStopped = false
    /// True after the pulse has not reached the server: the connection may be dead as well.
    var hasLostTouch = false
    /// The last request to compare the stores, and the last one that was answered.
    var request: DigestRequest?
    var answered: DigestRequest?
  }

  /// Not retained: a store that nobody else uses must be closed.
  // SAFETY: set once, in `init`; reading a weak reference is atomic.
  private nonisolated(unsafe) weak var store: Store?
  private let address: HubAddress
  private let pulse: HubPulse
  private let wakeup: Wakeup
  private let state = Locked(State())

  /// Begins to follow, on a thread of its own, until `stop` is called.
  ///
  /// - Parameter address: That with which the store was opened.
  package init(_ store: Store, of address: HubAddress) throws {
    self.store = store
    self.address = address
    let locks = store.options.sharedLocks as? HubLocks ?? HubLocks(address)
    pulse = locks.pulse
    wakeup = try Wakeup()
    pulse.begin(for: self)
    let thread = Thread { [self] in
      while !isStopped { follow() }
    }
    thread.name = "mooring.follower"
    thread.start()
  }

  /// Ends the following. A catch-up that is running is completed.
  package func stop() {
    state.withLock { $0.isStopped = true }
    pulse.end(for: self)
    wakeup.wakeUp()
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  // MARK: The thread

  /// Follows until the connection ends or `stop` is called.
  private func follow() {
    do {
      let deadline = ContinuousClock.now + HubConnections.answerMax
      var connection = try Connection(address.database, until: deadline)
      try connection.execute(Statement.listen(to: HubBell.channel), until: deadline)
      if let presence {
        try connection.execute(.note(presence, of: address.membership), until: deadline)
      }
      state.withLock { $0.hasLostTouch = false }
      // Entries from before the listening have no notification.
      try catchUp()
      while !isStopped {
        switch try connection.waitForNotifications(until: .now + Self.waitMax, wakeup: wakeup) {
        case .received(let notifications):
          let own = HubBell.payload(address)
          let hub = address.hub.uuidString
          if notifications.contains(where: { $0.payload.hasPrefix(hub) && $0.payload != own }) {
            try catchUp()
          }
        case .wokenUp:
          if state.withLock({ $0.isStopped || $0.hasLostTouch }) { return }
          try catchUp()
          try answerRequest()
        case .deadline: continue
        }
      }
    } catch {
      // Reads go on; writes report what is wrong. The next look may succeed.
      pause()
    }
  }

  /// Ends the following with the store.
  private func catchUp() throws {
    guard let store else { return stop() }
    try store.catchUp()
  }

  /// Answers a machine that compares the stores, once for each comparison. One at an entry that
  /// others have followed cannot be answered any more.
  private func answerRequest() throws {
    let (request, answered) = state.withLock { ($0.request, $0.answered) }
    guard let store, let request, request != answered,
      try store.newestHubEntry >= request.entry
    else { return }
    if let own = try store.digest(), own.position.sequence == request.entry {
      var session = try HubSession(address.database)
      try session.answer(request, own.digest, of: address.membership)
    }
    state.withLock { $0.answered = request }
  }

  private func pause() {
    for _ in 0..<20 where !isStopped { usleep(100_000) }
  }

  // MARK: The pulse

  /// The note of the machine; `nil` if the store cannot be read, which the next catch-up finds,
  /// too. A follower whose store is gone ends.
  var presence: HubPresence? {
    guard let store else {
      stop()
      return nil
    }
    guard let entry = try? store.newestHubEntry else { return nil }
    return HubPresence(entry: entry, program: store.options.program ?? "")
  }

  /// Wakes the follower if there is something to do.
  func hear(_ news: HubNews) {
    let isRequested = state.withLock { state in
      state.request = news.request.flatMap { DigestRequest($0) }
      return state.request != state.answered
    }
    if isRequested || news.entry != presence?.entry { wakeup.wakeUp() }
  }

  /// Lets the follower connect again.
  func loseTouch() {
    state.withLock { $0.hasLostTouch = true }
    wakeup.wakeUp()
  }
}
