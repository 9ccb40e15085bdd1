import CMooringPostgreSQL
import TextFormats

/// A message that a session has sent to all that listen to its channel.
package struct Notification: Hashable, Sendable {
  package let channel: String
  package let payload: String
  /// The process of the server that served the sender.
  package let processID: Int32
}

/// The end of a wait for notifications.
package enum NotificationWait: Hashable, Sendable {
  /// One or more notifications, in the order of their commits.
  case received([Notification])
  case wokenUp
  case deadline
}

extension Statement {
  /// The longest name of a channel, in bytes of UTF-8. The server would cut longer ones.
  private static let channelBytesMax = 63
  /// The longest payload, in bytes of UTF-8.
  private static let payloadBytesMax = 7_999

  /// Subscribes the session to a channel, from the commit on. By a pooler that changes sessions
  /// between transactions it cannot be used.
  package static func listen(to channel: String) throws(PostgreSQLError) -> Statement {
    Statement("LISTEN \(try quoted(channel))")
  }

  package static func unlisten(_ channel: String) throws(PostgreSQLError) -> Statement {
    Statement("UNLISTEN \(try quoted(channel))")
  }

  /// Sends a notification at the commit. Commits with notifications wait for each other: in a
  /// transaction of its own it does not delay others.
  package static func notify(
    _ channel: String, payload: String = ""
  ) throws(PostgreSQLError) -> Statement {
    guard payload.utf8.count <= payloadBytesMax else {
      throw PostgreSQLError(
        .tooLarge, "a payload of \(payload.utf8.count) bytes; at most \(payloadBytesMax)")
    }
    // The name is checked by the same rule; as a parameter it is not quoted.
    _ = try quoted(channel)
    return Statement("SELECT pg_notify($1, $2)", .text(channel), .text(payload))
  }

  /// Returns the name in quotation marks, so that it is taken as it is.
  private static func quoted(_ channel: String) throws(PostgreSQLError) -> String {
    guard (1...channelBytesMax).contains(channel.utf8.count), !channel.utf8.contains(0) else {
      throw PostgreSQLError(.usage, "a channel has 1 to \(channelBytesMax) bytes and no zero byte")
    }
    return channel.sqlName
  }
}

extension Connection {
  /// Waits for notifications of the channels that the session listens to. Those that have come with
  /// the answers to earlier statements are returned at once.
  ///
  /// - Parameter wakeup: Ends the wait from another thread; its wakeups up to then are taken back.
  /// - Throws: `.connectionLost`, with a SQLSTATE if the server has given a reason.
  package mutating func waitForNotifications(
    until deadline: ContinuousClock.Instant, wakeup: Wakeup? = nil
  ) throws(PostgreSQLError) -> NotificationWait {
    let pointer = try ready()
    while true {
      let received = takeNotifications(pointer)
      if !received.isEmpty { return .received(received) }
      let socket = libpq.call.PQsocket(pointer)
      switch wait(for: socket, wakeup: wakeup, until: deadline) {
      case .ready: try readIdle(pointer)
      case .deadline: return .deadline
      case .wokenUp:
        wakeup?.reset()
        return .wokenUp
      }
    }
  }

  /// The notifications that a call returns; more are returned by the next one.
  private static let notificationsMax = 1_000

  private func takeNotifications(_ pointer: OpaquePointer) -> [Notification] {
    var received: [Notification] = []
    while received.count < Self.notificationsMax, let next = libpq.call.PQnotifies(pointer) {
      // SAFETY: the notification is ours; its strings are copied before it is freed, once.
      received.append(
        Notification(
          channel: LibPQ.text(next.pointee.relname), payload: LibPQ.text(next.pointee.extra),
          processID: next.pointee.be_pid))
      libpq.call.PQfreemem(next)
    }
    return received
  }
}
