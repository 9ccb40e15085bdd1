public import Logging

/// How a runner works.
public struct RunnerOptions: Sendable {
  /// Jobs at once. One commit writes all that have ended, so more of them cost fewer flushes each.
  public var concurrency = 16
  /// Threads for the handlers that block. A job that waits for one has been claimed.
  public var blockingThreads = 4
  /// Of these queues at most so many at once in this runner; 0 for none.
  public var queueLimits: [QueueName: Int] = [:]
  /// How long handlers may take to end once they have been cancelled. One that does not end keeps its
  /// claim until the process ends.
  public var cancelGrace = Duration.seconds(10)
  /// What the store tells of the runner: who it is.
  public var command = "runner"
  public var logger = Logger(label: "jobs") { _ in SwiftLogNoOpLogHandler() }
  /// Called once the store knows of the runner, before it claims. Never blocks.
  public var onStart: @Sendable () -> Void = {}
  /// Called when the runner can no longer work, and when it can again. Never blocks.
  public var onCondition: @Sendable (RunnerCondition) -> Void = { _ in }
  /// Called after each attempt.
  public var onEnd: @Sendable (EndedAttempt) -> Void = { _ in }
  /// In 0 ..< 1, for the jitter of retries.
  public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

  public init() {}
}

public enum RunnerCondition: Sendable, Equatable {
  case working
  /// The store cannot be written: why, in one line. What ends meanwhile is written when it can be.
  case blocked(String)
  /// Handlers that were cancelled and do not end; each takes a place.
  case stuck(Int)
}

/// An attempt that has come to its end, for logs and metrics.
public struct EndedAttempt: Sendable {
  public let job: JobID
  public let kind: JobKind
  public let queue: QueueName
  public let attempt: Int
  /// The state in which the job is now; `nil` if the claim was lost.
  public let state: JobState?
  public let error: String?
  public let waited: Duration
  public let ran: Duration
}
