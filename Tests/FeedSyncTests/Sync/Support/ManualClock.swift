import Foundation
import Synchronization

/// A clock that stands still until it is told to go on.
final class ManualClock: Sendable {
  private let seconds = Mutex(0.0)

  /// 2026-11-20T10:00:00Z, plus what was advanced.
  var now: Date {
    Date(timeIntervalSince1970: 1_795_168_800 + seconds.withLock { $0 })
  }

  func advance(seconds: Double) { self.seconds.withLock { $0 += seconds } }

  func advance(days: Double) { advance(seconds: days * 86_400) }
}
