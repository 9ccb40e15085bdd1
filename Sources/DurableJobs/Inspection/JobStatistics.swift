import EntityModel
import EntityStore
public import Foundation

/// How the jobs of a store stand, and how they have gone of late: all of one moment.
public struct JobStatistics: Codable, Hashable, Sendable {
  /// The jobs of one kind in one queue.
  public struct Lane: Codable, Hashable, Sendable {
    public let queue: String
    public let kind: String
    public internal(set) var ready = 0
    public internal(set) var running = 0
    /// Wait for another job with the same limit.
    public internal(set) var held = 0
    public internal(set) var scheduled = 0
    /// Wait for a batch.
    public internal(set) var blocked = 0
    /// Since when the one stands ready that has stood so for longest.
    public internal(set) var oldestReadyAt: Date?
    public internal(set) var isPaused = false
    /// Whether a runner that lives knows the kind. If not, nobody runs its jobs.
    public internal(set) var isServed = false
    public internal(set) var ended = Ended()

    /// Whether jobs are there that have not ended.
    public var hasUnfinished: Bool { ready + running + held + scheduled + blocked > 0 }
  }

  /// What ended since `JobStatistics.since`. An attempt that is tried again counts as retried, a job
  /// that has ended otherwise than well as failed.
  public struct Ended: Codable, Hashable, Sendable {
    public internal(set) var succeeded: Int64 = 0
    public internal(set) var retried: Int64 = 0
    public internal(set) var failed: Int64 = 0
    public internal(set) var succeededPerMinute = 0.0
    public internal(set) var retriedPerMinute = 0.0
    public internal(set) var failedPerMinute = 0.0
    /// How long they stood ready; `nil` if none has run.
    public internal(set) var wait: Spread?
    /// How long they ran.
    public internal(set) var run: Spread?
  }

  /// Told within a fifth (`DurationHistogram`).
  public struct Spread: Codable, Hashable, Sendable {
    public let count: Int
    public let p50Seconds: Double
    public let p99Seconds: Double
  }

  public let at: Date
  /// The beginning of the minute in which the window begins: figures are kept by minutes.
  public let since: Date
  /// By queue, then by kind: those that have unfinished jobs, and those of which some have ended since.
  public let lanes: [Lane]
  /// Of all lanes.
  public let ended: Ended
  /// How many jobs are kept of each state in which they have ended.
  public let finished: [String: Int]
  public let runners: [JobRunnerStatus]
}
