public import Logging

/// The options of a runner.
public struct RunnerOptions: Sendable {
  /// The most jobs that run at once. One commit writes all that have ended, so more jobs need fewer
  /// flushes each.
  public var concurrency = 16
  /// The threads for handlers that block. A job that waits for a thread has been claimed.
  public var blockingThreads = 4
  /// The most jobs of single queues that this runner runs at once. It runs none of a queue with 0,
  /// and as many of a queue without an entry as `concurrency` allows.
  public var queueLimits: [QueueName: Int] = [:]
  /// The time that handlers have to end after a cancellation. One that does not end keeps its claim
  /// until the process ends.
  public var cancelGrace = Duration.seconds(10)
  /// A description of the runner, stored in its record.
  public var command = "runner"
  public var logger = Logger(label: "jobs") { _ in SwiftLogNoOpLogHandler() }
  /// Called when the runner is registered, before it claims. Must not block.
  public var onStart: @Sendable () -> Void = {}
  /// Called when the condition of the runner changes. Must not block.
  public var onCondition: @Sendable (RunnerCondition) -> Void = { _ in }
  /// Called after each attempt.
  public var onEnd: @Sendable (EndedAttempt) -> Void = { _ in }
  /// Returns a number in 0 ..< 1, for the jitter of retries.
  public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

  public init() {}
}

/// The condition of a runner.
public enum RunnerCondition: Sendable, Equatable {
  case working
  /// The store cannot be written, for the reason in one line. Attempts that end are written when it
  /// can be written again.
  case blocked(String)
  /// The number of handlers that were cancelled and do not end. Each counts against the
  /// concurrency.
  case stuck(Int)
}

/// An attempt that has ended, for logs and metrics.
public struct EndedAttempt: Sendable {
  public let job: JobID
  public let kind: JobKind
  public let queue: QueueName
  public let attempt: Int
  /// The new state of the job; `nil` if the claim was lost.
  public let state: JobState?
  public let error: String?
  /// The time for which the job was ready before its claim.
  public let waited: Duration
  public let ran: Duration
}
