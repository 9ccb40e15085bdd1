import Foundation
import PostgreSQL
import SystemSupport

/// Notifies the other machines of a hub of new entries.
///
/// A notification is sent after the commit, by a connection of its own: within the transaction of
/// the entry, all commits of the database would wait for each other. One that is lost is replaced
/// by the poll of the followers.
///
/// After each one there is a pause, so that a machine that commits a thousand times a second keeps
/// neither the server nor the followers busy with notifications.
final class HubBell: Sendable {
  /// The channel of all hubs of a database.
  static let channel = "mooring"

  private static let pause: UInt32 = 2_000
  private let address: HubAddress
  private let connections: HubConnections
  private let threads = BoundedThreads("mooring.bell", threadsMax: 1)
  /// True while a notification is about to be sent. Those in between are one.
  private let isRinging = Locked(false)

  init(_ address: HubAddress) {
    self.address = address
    connections = HubConnections(address.database)
  }

  func ring() {
    let isFirst = isRinging.withLock { isRinging in
      defer { isRinging = true }
      return !isRinging
    }
    if isFirst { threads.submit { [self] in send() } }
  }

  /// The message of a machine, by which it knows its own.
  static func payload(_ address: HubAddress) -> String {
    "\(address.hub.uuidString) \(address.machine.uuidString)"
  }

  private func send() {
    isRinging.withLock { $0 = false }
    let deadline = ContinuousClock.now + HubConnections.answerMax
    do {
      var connection = try connections.take(until: deadline)
      try connection.execute(
        [
          "SELECT set_config('synchronous_commit', 'off', true)",
          .notify(Self.channel, payload: Self.payload(address)),
        ], until: deadline)
      connections.put(connection)
    } catch {
      // The followers find the entry when they poll.
    }
    usleep(Self.pause)
  }
}
