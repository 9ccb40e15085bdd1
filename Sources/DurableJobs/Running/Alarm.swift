import Dispatch
import Foundation

/// Calls a closure on a queue at a time of the wall clock, and after a time of the clock that nobody
/// sets: what is due by the calendar follows the one, and what is waited for follows the other.
///
/// On Linux Dispatch hands wall times to a timer of the kernel on CLOCK_REALTIME, so that it rings in
/// time also if the clock is set meanwhile.
final class Alarm: Sendable {
  // SAFETY: set up in `init`; then only rescheduled, by the actor that owns it, and canceled, which
  // Dispatch allows from any thread.
  nonisolated(unsafe) private let calendar: any DispatchSourceTimer
  // SAFETY: as above.
  nonisolated(unsafe) private let stopwatch: any DispatchSourceTimer

  init(on queue: DispatchQueue, _ ring: @escaping @Sendable () -> Void) {
    calendar = DispatchSource.makeTimerSource(queue: queue)
    stopwatch = DispatchSource.makeTimerSource(queue: queue)
    for timer in [calendar, stopwatch] {
      timer.setEventHandler(handler: ring)
      timer.schedule(deadline: .distantFuture)
      timer.activate()
    }
  }

  deinit {
    calendar.cancel()
    stopwatch.cancel()
  }

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

/// Any number of wakes are one, until it is taken.
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
