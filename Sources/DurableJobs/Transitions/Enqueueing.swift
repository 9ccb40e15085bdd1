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
}

extension JobTable {
  func enqueue(
    _ request: JobRequest, in group: Int64? = nil, isBlocked: Bool = false
  ) throws -> EnqueuedJob {
    try request.check(at: now)
    let request = request.bound(to: transaction.machineName)
    let uniqueKey = request.uniqueKey.map { "\(request.kind):\($0)" }
    if let uniqueKey, let holder = try holder(ofUniqueKey: uniqueKey) {
      if request.onConflict == .replace { try replace(holder, by: request) }
      return EnqueuedJob(id: holder, isNew: false)
    }
    var job = JobRecord(newIn: jobs)
    job.set(.kind, request.kind.rawValue)
    job.set(.queue, request.queue.rawValue)
    job.set(.enqueuedAt, now)
    job.set(.attemptsMax, Int64(request.attemptsMax))
    job.set(.rescuesMax, Int64(request.rescuesMax))
    job.set(.retention, .double(request.retention.seconds))
    job.set(.payload, request.payload)
    job.set(.priority, Int64(request.priority))
    if let timeout = request.timeout { job.set(.timeout, .double(timeout.seconds)) }
    if let limit = request.limit {
      job.set(.limitKey, limit.key)
      job.set(.limitMax, Int64(limit.max))
    }
    if let uniqueKey {
      job.uniqueKey = uniqueKey
      job.set(.uniqueUntil, request.uniqueness.rawValue)
    }
    if let group { job.set(.batch, group) }
    if let schedule = request.schedule { job.set(.schedule, schedule) }
    job.runAt = request.runAt ?? now
    if isBlocked {
      job.move(to: .blocked, at: now)
    } else {
      job.wait(until: job.runAt, now: now)
    }
    return EnqueuedJob(id: try insert(job), isNew: true)
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

extension JobRecord {
  /// Makes the job ready, or scheduled if the time is in the future.
  mutating func wait(until date: Date, now: Date) {
    if date > now { move(to: .scheduled, at: date) } else { move(to: .ready, at: date) }
  }
}
