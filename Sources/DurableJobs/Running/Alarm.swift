import Dispatch
import Foundation

/// Calls a closure on a queue at a time of the wall clock, also if the clock is set meanwhile: on Linux
/// Dispatch hands wall times to a timer of the kernel on CLOCK_REALTIME.
final class Alarm: Sendable {
  // SAFETY: set up in `init`; then only rescheduled, by the actor that owns it, and canceled, which
  // Dispatch allows from any thread.
  nonisolated(unsafe) private let timer: any DispatchSourceTimer

  init(on queue: DispatchQueue, _ ring: @escaping @Sendable () -> Void) {
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: ring)
    timer.schedule(wallDeadline: .distantFuture)
    timer.activate()
  }

  deinit { timer.cancel() }

  /// - Parameter date: `nil` for never.
  func set(to date: Date?, now: Date) {
    guard let date else { return timer.schedule(wallDeadline: .distantFuture) }
    timer.schedule(
      wallDeadline: .now() + max(0, date.timeIntervalSince(now)), leeway: .milliseconds(1))
  }
}
