public import DurableJobs

/// The jobs of a store.
public struct JobsStatus: Codable, Sendable {
  /// The counts now, and those of the last hour with waits and run times.
  public let statistics: JobStatistics
  /// The attempts that have failed last, the newest first.
  public let failures: [JobFailure]
  /// The jobs with which too many runners have died; at most as many as were asked for.
  public let poisoned: [JobStatus]
  /// The jobs that run now.
  public let running: [JobStatus]
  public let pausedQueues: [String]
  public let schedules: [ScheduleStatus]

  public func count(_ state: JobState) -> Int { statistics.counts[state.rawValue] ?? 0 }
}

/// A schedule of jobs.
public struct ScheduleStatus: Codable, Sendable {
  public let schedule: JobScheduleStatus
  /// Its times in words: `every 15 minutes`.
  public let words: String
}

/// A process that runs jobs.
public struct WorkerStatus: Codable, Sendable {
  public let runner: JobRunnerStatus
  /// The number of jobs that run under it.
  public let running: Int
}
