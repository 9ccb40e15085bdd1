public import Foundation
import SystemSupport

/// A clock whose time changes only when a test changes it.
public final class ManualClock: Sendable {
  private let time: Locked<Date>

  public init(_ start: Date = Date(timeIntervalSinceReferenceDate: 800_000_000)) {
    time = Locked(start)
  }

  public var now: Date { time.withLock { $0 } }

  public func advance(by seconds: TimeInterval) {
    time.withLock { $0.addTimeInterval(seconds) }
  }
}
