import Glibc

/// A state of a service that is reported to systemd; see sd_notify(3).
public enum ServiceState: Sendable, Equatable {
  /// The service has started, or has ended a reload.
  case ready
  /// A line that `systemctl status` shows.
  case status(String)
  case stopping
  /// The service reloads its settings until it reports ``ready``.
  case reloading
  /// The service is alive. Must be sent more often than the watchdog's time.
  case watchdog
  /// Starting or stopping takes up to this long from now on.
  case extendTimeout(Duration)

  private static let statusBytesMax = 500

  /// The assignment in the datagram.
  var assignment: String {
    switch self {
    case .ready: "READY=1"
    case .status(let text): "STATUS=\(Self.line(text))"
    case .stopping: "STOPPING=1"
    case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds())"
    case .watchdog: "WATCHDOG=1"
    case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(Self.microseconds(time))"
    }
  }

  /// Returns the text without line breaks, which would begin another assignment, and cut to its
  /// bound.
  private static func line(_ text: String) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      line.unicodeScalars.append(isControl ? " " : scalar)
      if line.utf8.count >= statusBytesMax { return line + "…" }
    }
    return line
  }

  private static func microseconds(_ time: Duration) -> Int64 {
    let (seconds, attoseconds) = time.components
    let (micros, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflows ? .max : max(0, micros + attoseconds / 1_000_000_000_000)
  }

  /// The time of the reload, with which systemd ignores older notifications.
  private static func monotonicMicroseconds() -> Int64 {
    var now = timespec()
    // Every Linux has the clock, so the call cannot fail.
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
  }
}
