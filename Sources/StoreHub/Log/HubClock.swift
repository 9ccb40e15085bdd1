import Foundation
import SystemSupport

/// The clock of a hub's server, which all of its machines go by: the clock of this machine and the
/// difference that the last look at the log has shown. Before the first look there is none.
///
/// Times in the store are compared with times that other machines have written: when a job is due,
/// when a host was asked. A machine whose own clock is wrong would be too early or too late.
final class HubClock: Sendable {
  private let local: @Sendable () -> Date
  /// The seconds by which the server is ahead.
  private let difference = Locked(0.0)

  /// - Parameter local: The clock of this machine.
  init(_ local: @escaping @Sendable () -> Date) { self.local = local }

  /// The time, as the server would name it.
  var now: Date { local().addingTimeInterval(difference.withLock { $0 }) }

  /// Notes the time that the server has just named, in seconds since 2001.
  func note(_ time: Double) {
    let ahead = time - local().timeIntervalSinceReferenceDate
    difference.withLock { $0 = ahead }
  }
}
