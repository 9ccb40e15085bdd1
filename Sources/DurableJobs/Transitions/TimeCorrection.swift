import EntityModel
import EntityStore
import Foundation

extension JobTable {
  /// Corrects the times that were computed before the clock was set back, and are too late by now.
  ///
  /// - Returns: False if the bound of one transaction was reached, and more may be left.
  func correctTimes() throws -> Bool {
    try correctSchedules()
    return try correctWaits()
  }

  /// Lets jobs wait from now on for as long as they were to wait then: for a retry, a snooze or the
  /// jitter of a schedule. The wait is counted from the last claim, and may be longer by the
  /// duration of the attempt.
  ///
  /// The time of a job that was never claimed is that of its request, which may be a time of the
  /// calendar, and stays.
  ///
  /// - Complexity: O(*n*) in the scheduled jobs.
  private func correctWaits() throws -> Bool {
    let cursor = try cursor(.scheduled)
    var late: [(job: JobRecord, wait: TimeInterval)] = []
    while late.count < Limits.movesPerTransactionMax, let id = try cursor.next() {
      var job = try job(ofTurn: id)
      let column: JobColumn = job.startedAt == nil ? .enqueuedAt : .startedAt
      guard job.startedAt != nil || job.schedule != nil, let since = job.date(column), since > now
      else { continue }
      // Otherwise the next correction would find the job again.
      job.set(column, .date(now))
      late.append((job, max(0, job.at.timeIntervalSince(since))))
    }
    for (waiting, wait) in late {
      var job = waiting
      job.wait(until: now.addingTimeInterval(wait), now: now)
      try update(job)
    }
    return late.count < Limits.movesPerTransactionMax
  }

  /// Gives schedules whose next time is far too late the next time from now on.
  private func correctSchedules() throws {
    let cursor = try dueSchedules()
    var ids: [ObjectID] = []
    while let number = try cursor.next() {
      ids.append(ObjectID(entity: ScheduleRecord.entity, number: number))
    }
    for id in ids {
      guard let record = try transaction.get(id), let next = try nextTime(of: record),
        let stored = try record["nextAt"].dateValue,
        stored.timeIntervalSince(next) > Limits.scheduleErrorMax
      else { continue }
      try transaction.update(id) { try $0.set("nextAt", to: .date(next)) }
    }
  }

  /// Returns nil for a schedule that cannot be read. When it is due it is paused with the reason.
  private func nextTime(of schedule: Record) throws -> Date? {
    do {
      return try JobSchedule(schedule).recurrence.next(after: now)
    } catch is JobError {
      return nil
    }
  }
}
