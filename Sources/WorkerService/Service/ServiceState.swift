import Glibc

/// What a service tells systemd of itself; see sd_notify(3).
public enum ServiceState: Sendable, Equatable {
  /// It has started, or has ended a reload.
  case ready
  /// A line for people, shown by `systemctl status`.
  case status(String)
  case stopping
  /// It reads its settings anew; ``ready`` ends this.
  case reloading
  /// It is alive; must come more often than the watchdog's time.
  case watchdog
  /// Starting or stopping takes up to this long from now on.
  case extendTimeout(Duration)

  private static let statusBytesMax = 500

  /// As in the datagram.
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

  /// A line break would begin another assignment.
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

  /// systemd ignores what it was told before the reload that it has asked for.
  private static func monotonicMicroseconds() -> Int64 {
    var now = timespec()
    // The clock is there on every Linux, so the call cannot fail.
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
  }
}
