import EntityModel
import EntityStore

extension JobRows {
  /// The jobs that match a filter: the newest first, or, if the filter names only states that are
  /// not finished, in the order of their turns.
  ///
  /// - Complexity: O(*l* · log *n*) for *l* jobs that are read.
  func list(_ filter: JobFilter) throws -> [JobRecord] {
    if let group = filter.group { return try list(filter, ofGroup: group) }
    let isLive = !filter.states.isEmpty && filter.states.allSatisfy { !$0.isFinished }
    return isLive ? try listLive(filter) : try listNewest(filter)
  }

  private func list(_ filter: JobFilter, ofGroup group: JobGroupID) throws -> [JobRecord] {
    let cursor = try IndexPrefixCursor(
      try jobs.index(named: "byBatch"), of: jobs, leading: [.int64(group.rawValue)], in: snapshot)
    return try take(filter) { try cursor.next() }
  }

  private func listLive(_ filter: JobFilter) throws -> [JobRecord] {
    var found: [JobRecord] = []
    for state in JobState.allCases where filter.states.contains(state) {
      let cursor = try cursor(state)
      var rest = filter
      rest.limit = filter.limit.map { $0 - found.count }
      found += try take(rest) { try cursor.next() }
    }
    return found
  }

  private func listNewest(_ filter: JobFilter) throws -> [JobRecord] {
    var next = try snapshot.lastNumber(of: jobs)
    return try take(filter) {
      guard let number = next else { return nil }
      next = try self.snapshot.number(before: number, of: self.jobs)
      return number
    }
  }

  private func take(_ filter: JobFilter, _ next: () throws -> Int64?) throws -> [JobRecord] {
    var found: [JobRecord] = []
    while found.count < filter.limit ?? .max, let number = try next() {
      let job = try job(ofTurn: number)
      if filter.matches(job) { found.append(job) }
    }
    return found
  }
}

/// A selection of jobs.
public struct JobFilter: Sendable {
  /// The states to select; empty for all. The same holds for kinds and queues.
  public var states: Set<JobState> = []
  public var kinds: Set<JobKind> = []
  public var queues: Set<QueueName> = []
  public var group: JobGroupID?
  /// The most jobs to select; `nil` for no limit.
  public var limit: Int? = 50

  public init() {}

  func matches(_ job: JobRecord) -> Bool {
    (kinds.isEmpty || kinds.contains(job.kind)) && (queues.isEmpty || queues.contains(job.queue))
      && (states.isEmpty || job.state.map(states.contains) ?? true)
      && (group == nil || group?.rawValue == job.group)
  }
}

/// The ready jobs of one kind in one queue.
public struct LaneBacklog: Hashable, Sendable {
  public let queue: QueueName
  public let kind: JobKind
  /// The time for which the next job has been ready.
  public let oldest: Duration
}
