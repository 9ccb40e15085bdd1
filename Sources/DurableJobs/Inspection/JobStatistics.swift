import EntityModel
import EntityStore
public import Foundation

/// The current jobs of a store and those that have ended lately, as of one snapshot.
public struct JobStatistics: Codable, Hashable, Sendable {
  /// The jobs of one kind in one queue.
  public struct Lane: Codable, Hashable, Sendable {
    public let queue: String
    public let kind: String
    public internal(set) var ready = 0
    public internal(set) var running = 0
    /// The jobs that wait for another job with the same limit.
    public internal(set) var held = 0
    public internal(set) var scheduled = 0
    /// The jobs that wait for a group.
    public internal(set) var blocked = 0
    /// The time at which the job became ready that has been ready for longest.
    public internal(set) var oldestReadyAt: Date?
    public internal(set) var isPaused = false
    /// True if a live runner has a handler for the kind. Otherwise its jobs are not run.
    public internal(set) var isServed = false
    public internal(set) var ended = Ended()

    /// True if there are jobs that have not ended.
    public var hasUnfinished: Bool { ready + running + held + scheduled + blocked > 0 }
  }

  /// The counts of what has ended since `JobStatistics.since`. An attempt that is tried again
  /// counts as retried, a job that has ended without success as failed.
  public struct Ended: Codable, Hashable, Sendable {
    public internal(set) var succeeded: Int64 = 0
    public internal(set) var retried: Int64 = 0
    public internal(set) var failed: Int64 = 0
    public internal(set) var succeededPerMinute = 0.0
    public internal(set) var retriedPerMinute = 0.0
    public internal(set) var failedPerMinute = 0.0
    /// The times for which they were ready; `nil` if none has run.
    public internal(set) var wait: Spread?
    /// The times for which they ran.
    public internal(set) var run: Spread?
  }

  /// Percentiles of durations, exact within a fifth (`DurationHistogram`).
  public struct Spread: Codable, Hashable, Sendable {
    public let count: Int
    public let p50Seconds: Double
    public let p99Seconds: Double
  }

  public let at: Date
  /// The beginning of the minute in which the window begins: aggregates are stored by minutes.
  public let since: Date
  /// The lanes with unfinished jobs or with jobs that have ended since, by queue, then by kind.
  public let lanes: [Lane]
  /// The sums over all lanes.
  public let ended: Ended
  /// The number of jobs in each state.
  public let counts: [String: Int]
  /// The number of jobs that are kept in each state in which a job has ended.
  public let finished: [String: Int]
  /// False if there were too many jobs to find the lane of each: then the numbers of running, held,
  /// scheduled and blocked jobs are too small, except in ``counts``.
  public let areLanesComplete: Bool
  public let runners: [JobRunnerStatus]
}
