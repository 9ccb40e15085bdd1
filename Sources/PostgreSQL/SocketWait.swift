import CMooringPostgreSQL
import Glibc

/// The end of a wait for a socket.
enum Readiness {
  case ready(isReadable: Bool)
  case wokenUp
  case deadline
}

/// Waits until the socket can be read or, on request, written. The socket is looked at once even if
/// the deadline has passed.
///
/// - Parameter wakeup: The object that ends the wait from another thread.
func wait(
  for socket: Int32, reading: Bool = true, writing: Bool = false, wakeup: Wakeup? = nil,
  until deadline: ContinuousClock.Instant
) -> Readiness {
  let events = Int16(reading ? POLLIN : 0) | Int16(writing ? POLLOUT : 0)
  // A negative descriptor is left out.
  var sources = [
    pollfd(fd: socket, events: events, revents: 0),
    pollfd(fd: wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
  ]
  while true {
    // SAFETY: the array has two elements, and the call keeps no pointer to it.
    // Without memory in the kernel it fails, and is repeated like after a signal.
    let count = poll(&sources, 2, milliseconds(until: deadline))
    if count > 0, sources[1].revents != 0 { return .wokenUp }
    // An error or the end of the connection is reported by the read that follows.
    if count > 0 {
      return .ready(isReadable: Int32(sources[0].revents) & ~POLLOUT != 0)
    }
    if ContinuousClock.now >= deadline { return .deadline }
  }
}

/// Returns the time that is left, rounded up, at most a day: the caller waits again.
private func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
  let left = ContinuousClock.now.duration(to: deadline)
  if left <= .zero { return 0 }
  if left > .seconds(86_400) { return 86_400_000 }
  return Int32((left / .milliseconds(1)).rounded(.up))
}

/// Ends a wait for notifications from another thread. A wakeup without a wait ends the next one.
package final class Wakeup: Sendable {
  let descriptor: Int32

  /// - Throws: `.usage` if the process has no descriptor left.
  package init() throws(PostgreSQLError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw PostgreSQLError(.usage, "eventfd: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// Ends the current or the next wait. May be called on any thread.
  package func wakeUp() {
    var one: UInt64 = 1
    // SAFETY: the call reads the eight bytes. It fails only if 2^64 wakeups are pending.
    _ = write(descriptor, &one, 8)
  }

  /// Takes back all wakeups up to now.
  func reset() {
    var count: UInt64 = 0
    // SAFETY: the call writes at most the eight bytes, and none if no wakeup is pending.
    _ = read(descriptor, &count, 8)
  }
}
