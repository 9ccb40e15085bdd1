import EntityModel
import EntityStore
import Foundation

extension JobRows {
  /// The schedules that are not paused and have a next time, in the order of their next times.
  func dueSchedules() throws -> IndexPrefixCursor {
    let schedules = try snapshot.layout(ScheduleRecord.entity)
    // Null, for schedules without a next time, sorts first.
    return try IndexPrefixCursor(
      try schedules.index(named: "byNext"), of: schedules, leading: [.bool(false)], beyond: .null,
      in: snapshot)
  }

  /// The next time of a schedule.
  func nextFire(of number: Int64) throws -> Date? {
    let schedules = try snapshot.layout(ScheduleRecord.entity)
    let position = try schedules.position(of: "nextAt")
    return try snapshot.row(number, of: schedules)?.value(position).dateValue
  }
}

extension JobTable {
  /// Enqueues the jobs of the schedules that are due, at most `schedulesPerTransactionMax`
  /// schedules.
  ///
  /// The next time is stored in the same transaction, so that each time enqueues its job once,
  /// whichever runner does it.
  func fire() throws {
    let cursor = try dueSchedules()
    var due: [Int64] = []
    while due.count < Limits.schedulesPerTransactionMax, let number = try cursor.next(),
      let next = try nextFire(of: number), next <= now
    {
      due.append(number)
    }
    for number in due { try fire(ObjectID(entity: ScheduleRecord.entity, number: number)) }
  }

  private func fire(_ id: ObjectID) throws {
    guard let record = try transaction.get(id) else { return }
    do {
      let values = try fired(record).values()
      try transaction.update(id) { record in
        for (name, value) in values { try record.set(name, to: value) }
      }
    } catch let error as JobError {
      // No other runner can read it either, and the other schedules must continue.
      try transaction.update(id) { record in
        try record.set("isPaused", to: .bool(true))
        try record.set("error", to: .string("\(error)"))
      }
    }
  }

  /// Enqueues the jobs of the due times and returns the schedule with its next time.
  private func fired(_ record: Record) throws -> JobSchedule {
    var schedule = try JobSchedule(record)
    guard let nextAt = schedule.nextAt else { return schedule }
    let due = schedule.recurrence.due(nextAt: nextAt, now: now)
    for time in due.times {
      var request = schedule.request
      request.schedule = record.id.number
      request.uniqueKey = schedule.overlaps ? nil : "schedule/\(schedule.name)"
      request.runAt = time + schedule.recurrence.jitter(of: time, named: schedule.name).seconds
      let job = try enqueue(request)
      guard job.isNew else { continue }
      schedule.lastAt = time
      schedule.lastJob = job.id
    }
    schedule.nextAt = due.next
    return schedule
  }
}

extension JobTable {
  /// Makes the scheduled jobs that are due ready, at most `movesPerTransactionMax`.
  func promote() throws {
    let cursor = try cursor(.scheduled)
    var count = 0
    while let id = try cursor.next() {
      var job = try job(ofTurn: id)
      guard job.at <= now, count < Limits.movesPerTransactionMax else { return }
      job.move(to: .ready, at: job.at)
      try update(job)
      count += 1
    }
  }
}
