/// An error with which a handler decides what happens to its job. Any other error is a failure,
/// after which the job is tried again as its policy says.
public struct JobStop: Error, Sendable, CustomStringConvertible {
  enum Verdict: Sendable {
    case retry(after: Duration)
    case discard
    case snooze(Duration)
  }

  let verdict: Verdict
  public let reason: String

  /// True if the job is discarded.
  package var discards: Bool {
    if case .discard = verdict { true } else { false }
  }

  /// Fails the attempt. The next one begins after this time instead of the policy's backoff.
  public static func retry(after wait: Duration, because reason: String) -> JobStop {
    JobStop(verdict: .retry(after: wait), reason: reason)
  }

  /// Discards the job, because no attempt can succeed.
  public static func discard(because reason: String) -> JobStop {
    JobStop(verdict: .discard, reason: reason)
  }

  /// Runs the job again after this time. This attempt does not count.
  public static func snooze(for wait: Duration) -> JobStop {
    JobStop(verdict: .snooze(wait), reason: "snoozed")
  }

  public var description: String { reason }
}
