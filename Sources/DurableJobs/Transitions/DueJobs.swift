import EntityModel
import EntityStore
import Foundation

extension JobRows {
  /// The schedules that are not paused, by their next time.
  func dueSchedules() throws -> IndexPrefixCursor {
    let schedules = try snapshot.layout(ScheduleRecord.entity)
    // Null sorts first: those that have no time any more.
    return try IndexPrefixCursor(
      try schedules.index(named: "byNext"), of: schedules, leading: [.bool(false)], beyond: .null,
      in: snapshot)
  }

  func nextFire(of number: Int64) throws -> Date? {
    let schedules = try snapshot.layout(ScheduleRecord.entity)
    let position = try schedules.position(of: "nextAt")
    return try snapshot.row(number, of: schedules)?.value(position).dateValue
  }
}

extension JobTable {
  /// Makes the jobs of the schedules whose time has come.
  ///
  /// The next time is stored with the jobs, in one transaction: so a time makes its job once, whoever
  /// else looks at the schedules, and no leader is needed.
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
      // Nobody else can make sense of it either, and the other schedules are to go on.
      try transaction.update(id) { record in
        try record.set("isPaused", to: .bool(true))
        try record.set("error", to: .string("\(error)"))
      }
    }
  }

  /// The schedule as it is when the jobs of its due times have been made.
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
  /// Makes the scheduled jobs ready whose time has come, a bounded number at a time.
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
