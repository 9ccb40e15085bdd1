import EntityModel
public import EntityStore
import Foundation

extension WriteTransaction {
  /// Enqueues a job. It exists if and only if this transaction commits.
  ///
  /// - Returns: The number of the job, or that of the existing job with its unique key.
  /// - Throws: `badPayload`, `invalidRequest`; `StoreError`. Nothing is written then.
  /// - Complexity: O(log *n*).
  @discardableResult
  public func enqueue(_ job: some Job) throws -> EnqueuedJob { try enqueue(JobRequest(job)) }

  /// Enqueues a job whose request was prepared before the transaction began.
  @discardableResult
  public func enqueue(_ request: JobRequest) throws -> EnqueuedJob {
    try JobTable(self).enqueue(request)
  }

  /// Enqueues jobs in the order of their requests, faster than one call for each.
  ///
  /// - Returns: The numbers of the jobs, in that order.
  /// - Throws: As for one request. The transaction holds the jobs before the refused one.
  @discardableResult
  public func enqueue(_ requests: some Sequence<JobRequest>) throws -> [EnqueuedJob] {
    let table = try JobTable(self)
    return try requests.map { try table.enqueue($0) }
  }
}

extension JobTable {
  func enqueue(
    _ request: JobRequest, in group: Int64? = nil, isBlocked: Bool = false
  ) throws -> EnqueuedJob {
    try request.check(at: now)
    if let bound = request.bound(to: transaction.machineName) {
      return try enqueue(bound, in: group, isBlocked: isBlocked)
    }
    let uniqueKey = request.uniqueKey.map { "\(request.kind):\($0)" }
    if let uniqueKey, let holder = try holder(ofUniqueKey: uniqueKey) {
      if request.onConflict == .replace { try replace(holder, by: request) }
      return EnqueuedJob(id: holder, isNew: false)
    }
    let id = try insert { job in
      job.set(request, at: now)
      if let uniqueKey {
        job.set(uniqueKey, at: JobColumn.uniqueKey.rawValue)
        job.set(request.uniqueness.rawValue, at: JobColumn.uniqueUntil.rawValue)
      }
      if let group { job.set(group, at: JobColumn.batch.rawValue) }
      job.set(request.turn(isBlocked: isBlocked, now: now))
    }
    return EnqueuedJob(id: id, isNew: true)
  }

  private func replace(_ holder: JobID, by request: JobRequest) throws {
    guard var job = try job(holder) else { return }
    switch job.state {
    case .scheduled, .ready, .held:
      job.set(.payload, request.payload)
      job.set(.priority, Int64(request.priority))
      job.runAt = request.runAt ?? now
      // The wait is counted from now on. A time in the future, from before the clock was set back,
      // would look wrong again in each pass of a schedule.
      if job.enqueuedAt > now { job.set(.enqueuedAt, now) }
      let wasHeld = job.state == .held
      job.wait(until: job.runAt, now: now)
      try update(job)
      // Other jobs after this one may be waiting for the limit.
      if !wasHeld { try releaseLimit(of: job) }
    case .blocked, .running, .succeeded, .discarded, .cancelled, .poisoned, nil: break
    }
  }
}

extension JobRequest {
  fileprivate func turn(isBlocked: Bool, now: Date) -> JobTurn {
    if isBlocked { return JobTurn(.blocked, at: now) }
    if let runAt, runAt > now { return JobTurn(.scheduled, at: runAt) }
    return JobTurn(
      .ready, at: runAt ?? now, lane: JobTurn.lane(queue, kind), rank: -Int64(priority))
  }
}

extension RowBuilder {
  fileprivate mutating func set(_ request: JobRequest, at now: Date) {
    set(request.kind.rawValue, at: JobColumn.kind.rawValue)
    set(request.queue.rawValue, at: JobColumn.queue.rawValue)
    set(now, at: JobColumn.enqueuedAt.rawValue)
    set(Int64(request.attemptsMax), at: JobColumn.attemptsMax.rawValue)
    set(Int64(request.rescuesMax), at: JobColumn.rescuesMax.rawValue)
    set(request.retention.seconds, at: JobColumn.retention.rawValue)
    request.payload.withUnsafeBytes { set($0, of: .data, at: JobColumn.payload.rawValue) }
    set(Int64(request.priority), at: JobColumn.priority.rawValue)
    set(request.runAt ?? now, at: JobColumn.runAt.rawValue)
    if let timeout = request.timeout { set(timeout.seconds, at: JobColumn.timeout.rawValue) }
    if let limit = request.limit {
      set(limit.key, at: JobColumn.limitKey.rawValue)
      set(Int64(limit.max), at: JobColumn.limitMax.rawValue)
    }
    if let schedule = request.schedule { set(schedule, at: JobColumn.schedule.rawValue) }
  }

  fileprivate mutating func set(_ turn: JobTurn) {
    set(turn.state.rawValue, at: JobColumn.state.rawValue)
    set(turn.at, at: JobColumn.at.rawValue)
    set(turn.rank, at: JobColumn.rank.rawValue)
    if let place = turn.place { set(place, at: JobColumn.place.rawValue) }
    if let lane = turn.lane { set(lane, at: JobColumn.lane.rawValue) }
  }
}

extension JobRecord {
  /// Makes the job ready, or scheduled if the time is in the future.
  mutating func wait(until date: Date, now: Date) {
    if date > now { move(to: .scheduled, at: date) } else { move(to: .ready, at: date) }
  }
}
