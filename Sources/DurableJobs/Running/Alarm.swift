import Dispatch
import Foundation

/// Calls a closure on a queue at a date and after a duration. A date follows the wall clock, which
/// people set; a duration follows the monotonic clock.
///
/// Dispatch on Linux uses a kernel timer on CLOCK_REALTIME for wall times, so the alarm fires in
/// time even if the clock is set.
final class Alarm: Sendable {
  // SAFETY: configured in `init`; then only rescheduled by the actor that owns it, and canceled,
  // which Dispatch allows from any thread.
  nonisolated(unsafe) private let calendar: any DispatchSourceTimer
  // SAFETY: as above.
  nonisolated(unsafe) private let stopwatch: any DispatchSourceTimer

  init(on queue: DispatchQueue, _ fire: @escaping @Sendable () -> Void) {
    calendar = DispatchSource.makeTimerSource(queue: queue)
    stopwatch = DispatchSource.makeTimerSource(queue: queue)
    for timer in [calendar, stopwatch] {
      timer.setEventHandler(handler: fire)
      timer.schedule(deadline: .distantFuture)
      timer.activate()
    }
  }

  deinit {
    calendar.cancel()
    stopwatch.cancel()
  }

  /// Replaces the times at which the closure is called.
  ///
  /// - Parameter date: `nil` for never.
  /// - Parameter wait: `nil` for never.
  func set(to date: Date?, now: Date, after wait: Duration?) {
    if let date {
      calendar.schedule(
        wallDeadline: .now() + max(0, date.timeIntervalSince(now)), leeway: .milliseconds(1))
    } else {
      calendar.schedule(wallDeadline: .distantFuture)
    }
    if let wait {
      stopwatch.schedule(deadline: .now() + max(0, wait.seconds), leeway: .milliseconds(1))
    } else {
      stopwatch.schedule(deadline: .distantFuture)
    }
  }
}

/// A stream of wakes. Wakes that come before one is taken are merged into one.
final class Wakeups: Sendable {
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
  }

  func wake() { continuation.yield() }
  func finish() { continuation.finish() }
}
