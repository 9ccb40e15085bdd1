/// Thrown by a handler to say what is to become of its job. Any other error is a failure, after which
/// the job is tried again as its policy says.
public struct JobStop: Error, Sendable, CustomStringConvertible {
  enum Verdict: Sendable {
    case retry(after: Duration)
    case discard
    case snooze(Duration)
  }

  let verdict: Verdict
  public let reason: String

  /// The attempt has failed; the next one comes after this time and not after the policy's backoff.
  public static func retry(after wait: Duration, because reason: String) -> JobStop {
    JobStop(verdict: .retry(after: wait), reason: reason)
  }

  /// The job cannot succeed: it is not tried again.
  public static func discard(because reason: String) -> JobStop {
    JobStop(verdict: .discard, reason: reason)
  }

  /// It is too early: the job runs again after this time, and this attempt does not count.
  public static func snooze(for wait: Duration) -> JobStop {
    JobStop(verdict: .snooze(wait), reason: "snoozed")
  }

  public var description: String { reason }
}
