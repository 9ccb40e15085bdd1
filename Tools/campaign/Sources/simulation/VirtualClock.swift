import Foundation
import Synchronization

/// The time of a simulation: milliseconds since its start, and a wall clock that is set at times.
/// Nothing else moves it.
final class VirtualClock: Sendable {
  private struct State {
    var elapsed = 0
    /// The milliseconds by which the wall clock is ahead of its first setting plus `elapsed`.
    var offset = 0
  }

  private static let start = 1_800_000_000_000
  private let state = Mutex(State())
  private let origin = ContinuousClock.now

  /// The milliseconds since the start, which no fault changes.
  var elapsed: Int { state.withLock { $0.elapsed } }

  /// The wall clock.
  var now: Date {
    let milliseconds = state.withLock { Self.start + $0.elapsed + $0.offset }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
  }

  /// The monotonic clock of a runner.
  var instant: ContinuousClock.Instant { origin + .milliseconds(elapsed) }

  func advance(to elapsed: Int) { state.withLock { $0.elapsed = max($0.elapsed, elapsed) } }

  /// Sets the wall clock forward or back.
  func step(by milliseconds: Int) { state.withLock { $0.offset += milliseconds } }

  /// The elapsed time at which the wall clock will show a date, if nothing sets it.
  func elapsed(at date: Date) -> Int {
    elapsed + Int((date.timeIntervalSince(now) * 1_000).rounded(.up))
  }
}
