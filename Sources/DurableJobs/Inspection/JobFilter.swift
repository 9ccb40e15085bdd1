/// Which jobs a list shows.
public struct JobFilter: Sendable {
  /// Empty for all.
  public var states: Set<JobState> = []
  public var kinds: Set<JobKind> = []
  public var queues: Set<QueueName> = []
  public var batch: JobBatchID?
  /// At most so many.
  public var limit = 50

  public init() {}

  func matches(_ job: JobRecord) -> Bool {
    (kinds.isEmpty || kinds.contains(job.kind)) && (queues.isEmpty || queues.contains(job.queue))
      && (states.isEmpty || job.state.map(states.contains) ?? true)
      && (batch == nil || batch?.rawValue == job.batch)
  }
}
