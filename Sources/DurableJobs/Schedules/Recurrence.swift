public import Foundation

/// When the jobs of a schedule are made: the expression, whose clock it means, what becomes of
/// missed times, and how far the jobs of one time are spread.
public struct Recurrence: Sendable, Hashable {
  public let expression: CronExpression
  public let zone: TimeZone
  public let missed: MissedRuns
  /// Each run begins up to this much after its time, so that equal schedules do not all begin at
  /// once.
  public let jitter: Duration

  /// The largest jitter.
  public static let jitterMax: Duration = .seconds(24 * 60 * 60)

  /// - Throws: `JobError` with the code `invalidSchedule` if the jitter is negative or above
  ///   `jitterMax`, or the number of missed runs is not from 1 to `MissedRuns.maxLimit`.
  public init(
    _ expression: CronExpression, in zone: TimeZone, missed: MissedRuns = .once,
    jitter: Duration = .zero
  ) throws {
    try missed.check()
    guard (.zero...Self.jitterMax).contains(jitter) else {
      throw JobError(
        .invalidSchedule, "a jitter is out of its range", [("jitter", "\(jitter)")],
        advice: "write 0 to 86400 seconds")
    }
    self.expression = expression
    self.zone = zone
    self.missed = missed
    self.jitter = jitter
  }

  /// The first time after an instant; nil if none comes any more (see `CronExpression.next`).
  public func next(after instant: Date) -> Date? {
    expression.next(after: instant, in: zone)
  }
}
