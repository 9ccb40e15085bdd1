import EntityModel
import EntityStore
import Foundation

extension JobQueue {
  /// - Returns: `nil` if there is no such job, or none any more.
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

  /// The lanes in which jobs wait to be claimed.
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
            oldest: .seconds(max(0, now.timeIntervalSince(job.at)))))
        return true
      }
      return lanes
    }
  }

  /// How the jobs stand, and how they went within a window.
  ///
  /// - Parameter window: Until now; at most a week, for which figures are kept.
  /// - Complexity: O(*n*) in the jobs of the store, of which those that are ready or have ended cost one
  ///   step in an index each, and the others the look at a record; O(*m*) in the figures of the window.
  public func statistics(over window: Duration = .seconds(3_600)) throws -> JobStatistics {
    try store.read { transaction in
      let now = store.now()
      let minute = Int64((now.timeIntervalSince1970 - max(0, window.seconds)) / 60)
      let rows = try JobRows(reading: transaction)
      let runners = try rows.runners(of: store)
      var survey = LaneSurvey(rows)
      try survey.countUnfinished()
      let since = Date(timeIntervalSince1970: Double(minute) * 60)
      let all = try survey.addEnded(
        sinceMinute: minute, minutes: max(1, now.timeIntervalSince(since) / 60))
      return JobStatistics(
        at: now, since: since,
        lanes: survey.lanes(paused: try rows.pausedQueues(), served: runners.kindsServed),
        ended: all, finished: try survey.countFinished(), runners: runners)
    }
  }

  /// All schedules by name, also those that nobody can make jobs of.
  public func scheduleStatuses() throws -> [JobScheduleStatus] {
    try store.fetch(FetchRequest(entityName: ScheduleRecord.entity))
      .map(JobScheduleStatus.init).sorted { $0.name < $1.name }
  }

  /// Checks what the jobs of a store must be whatever was killed when, on one snapshot: each stands
  /// where its state says; what runs has a runner that is registered, and what does not run has none; a
  /// key is held only by those that may hold it; no limit is exceeded, and nobody waits for one that
  /// nobody has; batches count their members; nothing is kept of jobs that are gone; schedules can be
  /// read. That records and indexes agree is for `Store.checkIntegrity`.
  ///
  /// A runner that has died is no problem: the next one takes its jobs over. It is a remark.
  ///
  /// - Throws: `StoreError` if a record cannot be read.
  /// - Complexity: O(*n* · log *n*); memory for the batches, and for the keys of limits in use.
  public func check() throws -> JobReport {
    try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      var check = JobCheck(rows, runners: try rows.runners(of: store))
      try check.run()
      return check.report
    }
  }
}
