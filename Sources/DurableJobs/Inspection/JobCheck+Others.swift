import EntityModel
import EntityStore
import Foundation

// The checks of what is stored beside the jobs.
extension JobCheck {
  // MARK: Groups

  /// Removed jobs of a group are still counted as succeeded, but nowhere else.
  mutating func checkGroups() throws {
    let layout = try rows.snapshot.layout(GroupRecord.entity)
    try rows.snapshot.eachRow(of: layout) { row in
      let id = ObjectID(entity: GroupRecord.entity, number: row.id)
      guard let counts = try rows.snapshot.get(id).map(GroupCounts.init) else { return true }
      report.groups += 1
      let members = try members(of: row.id)
      let counted = [
        ("jobs", counts.jobs, members.jobs), ("pending jobs", counts.pending, members.pending),
      ]
      for (name, stored, found) in counted where stored != found {
        report.add("batch \(row.id) counts \(stored) \(name), and has \(found)")
      }
      if counts.succeeded < members.succeeded {
        report.add(
          "batch \(row.id) counts \(counts.succeeded) succeeded jobs, and has \(members.succeeded)")
      }
      guard let completion = counts.completion else { return true }
      completions.insert(completion)
      if counts.isOver, try rows.job(completion)?.state == .blocked {
        report.add("job \(completion) waits for batch \(row.id), which has ended")
      }
      return true
    }
  }

  private func members(
    of group: Int64
  ) throws -> (jobs: Int64, pending: Int64, succeeded: Int64) {
    var counts: (jobs: Int64, pending: Int64, succeeded: Int64) = (0, 0, 0)
    let cursor = try IndexPrefixCursor(
      try rows.jobs.index(named: "byBatch"), of: rows.jobs, leading: [.int64(group)],
      in: rows.snapshot)
    while let number = try cursor.next() {
      let row = try rows.snapshot.row(number, of: rows.jobs)
      let state = try row?.value(JobColumn.state.rawValue).stringValue.flatMap(JobState.init)
      counts.jobs += 1
      if state?.isFinished == false { counts.pending += 1 }
      if state == .succeeded { counts.succeeded += 1 }
    }
    return counts
  }

  mutating func checkGroup(of job: JobRecord, _ state: JobState) throws {
    if state == .blocked, !completions.contains(job.id) {
      add(job, "waits for a batch that does not exist")
    }
    guard let group = job.group else { return }
    let id = ObjectID(entity: GroupRecord.entity, number: group)
    if try rows.snapshot.get(id) == nil { add(job, "is of batch \(group), which does not exist") }
  }

  // MARK: Attempts and outputs

  mutating func checkRemains() throws {
    report.attempts = try checkJobs(of: AttemptRecord.entity, "an attempt")
    report.outputs = try checkJobs(of: OutputRecord.entity, "a page of output")
  }

  /// - Returns: The number of records.
  private mutating func checkJobs(of entity: String, _ name: String) throws -> Int {
    let layout = try rows.snapshot.layout(entity)
    let position = try layout.position(of: "job")
    var count = 0
    try rows.snapshot.eachRow(of: layout) { row in
      count += 1
      let job = row.int64(position) ?? 0
      if try rows.snapshot.row(job, of: rows.jobs) == nil {
        report.add("\(name) belongs to job \(job), which does not exist")
      }
      return true
    }
    return count
  }

  // MARK: Schedules

  mutating func checkSchedules() throws {
    let schedules = try rows.snapshot.fetch(FetchRequest(entityName: ScheduleRecord.entity))
    for record in schedules {
      report.schedules += 1
      let status = try JobScheduleStatus(record)
      if let error = status.error { report.add("schedule \(status.name): \(error)") }
    }
  }
}
