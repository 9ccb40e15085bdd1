import EntityModel
package import EntityStore
import Foundation

extension JobQueue {
  /// Returns a job with its attempts and its runner, or `nil` if the job does not exist.
  public func details(of id: JobID) throws -> JobDetails? {
    try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      guard let job = try rows.job(id) else { return nil }
      let runners = try rows.runners(of: store)
      return JobDetails(
        job: try JobStatus(job), attempts: try rows.attempts(of: id),
        runner: runners.first { $0.epoch == job.epoch },
        isQueuePaused: try rows.pausedQueues().contains(job.queue),
        isKindServed: runners.kindsServed.contains(job.kind.rawValue))
    }
  }

  /// Returns the lanes with jobs that wait to be claimed.
  ///
  /// - Complexity: O(log *n*) for each lane, however many jobs wait.
  public func backlog() throws -> [LaneBacklog] {
    let now = store.now()
    return try store.read { transaction in
      var lanes: [LaneBacklog] = []
      try JobRows(reading: transaction).eachLane(.ready) { job in
        lanes.append(
          LaneBacklog(
            queue: job.queue, kind: job.kind,
            oldest: .stored(seconds: max(0, now.timeIntervalSince(job.at)))))
        return true
      }
      return lanes
    }
  }

  /// Returns the counts of the current jobs and of those that have ended within a window.
  ///
  /// - Parameter window: The time until now; at most a week, for which aggregates are kept.
  /// - Parameter readsMax: The most jobs that are read to find their lanes.
  /// - Complexity: Reads the pages above the index entries of all jobs, a record for each job that
  ///   is running, held, scheduled or blocked, and the aggregates of the window.
  public func statistics(
    over window: Duration = .seconds(3_600), readingAtMost readsMax: Int = .max
  ) throws -> JobStatistics {
    try store.read { try statistics(over: window, readingAtMost: readsMax, in: $0) }
  }

  /// Returns the statistics of a snapshot.
  package func statistics(
    over window: Duration, readingAtMost readsMax: Int, in transaction: ReadTransaction
  ) throws -> JobStatistics {
    let now = store.now()
    let minute = Int64((now.timeIntervalSince1970 - max(0, window.seconds)) / 60)
    let rows = try JobRows(reading: transaction)
    let runners = try rows.runners(of: store)
    var survey = LaneSurvey(rows, readingAtMost: readsMax)
    try survey.count()
    let since = Date(timeIntervalSince1970: Double(minute) * 60)
    let all = try survey.addEnded(
      sinceMinute: minute, minutes: max(1, now.timeIntervalSince(since) / 60))
    return JobStatistics(
      at: now, since: since,
      lanes: survey.lanes(paused: try rows.pausedQueues(), served: runners.kindsServed),
      ended: all, counts: survey.counts,
      finished: survey.counts.filter { JobState(rawValue: $0.key)?.isFinished == true },
      areLanesComplete: survey.isComplete, runners: runners)
  }

  /// Returns jobs of a state in the order of their turns; those that have ended in the order of
  /// their removal.
  package func jobs(
    in state: JobState, limit: Int, in transaction: ReadTransaction
  ) throws -> [JobStatus] {
    let rows = try JobRows(reading: transaction)
    let cursor = try rows.cursor(state)
    var found: [JobStatus] = []
    while found.count < limit, let number = try cursor.next() {
      found.append(try JobStatus(try rows.job(ofTurn: number)))
    }
    return found
  }

  /// Returns the attempts that have failed last, the newest first.
  package func failures(limit: Int, in transaction: ReadTransaction) throws -> [JobFailure] {
    let rows = try JobRows(reading: transaction)
    let attempts = try transaction.layout(AttemptRecord.entity)
    var found: [JobFailure] = []
    var next = try transaction.lastNumber(of: attempts)
    while found.count < limit, let number = next {
      let id = ObjectID(entity: AttemptRecord.entity, number: number)
      if let record = try transaction.get(id), let failure = try JobFailure(record, rows) {
        found.append(failure)
      }
      next = try transaction.number(before: number, of: attempts)
    }
    return found
  }

  /// Returns all schedules by name, also those that are not valid.
  public func scheduleStatuses() throws -> [JobScheduleStatus] {
    try store.read { try scheduleStatuses(in: $0) }
  }

  package func scheduleStatuses(in transaction: ReadTransaction) throws -> [JobScheduleStatus] {
    try transaction.fetch(FetchRequest(entityName: ScheduleRecord.entity))
      .map(JobScheduleStatus.init).sorted { $0.name < $1.name }
  }

  /// Checks on one snapshot the rules that hold whatever was killed when:
  ///
  /// - the index entry of each job matches its state;
  /// - each running job has a registered runner, and no other job has one;
  /// - a unique key is held only by jobs that may hold it;
  /// - no limit is exceeded, and none that jobs wait for is free;
  /// - groups count their jobs correctly;
  /// - attempts and outputs belong to existing jobs;
  /// - schedules are valid.
  ///
  /// `Store.checkIntegrity` checks whether records and indexes agree. A runner that has died is a
  /// remark and no problem: the next one takes over its jobs.
  ///
  /// - Throws: `StoreError` if a record cannot be read.
  /// - Complexity: O(*n* · log *n*); memory for the groups, and for the keys of limits in use.
  public func check() throws -> JobReport {
    try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      var check = JobCheck(rows, runners: try rows.runners(of: store))
      try check.run()
      return check.report
    }
  }
}
