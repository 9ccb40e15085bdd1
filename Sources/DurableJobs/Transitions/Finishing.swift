import EntityModel
import EntityStore
import Foundation

extension JobTable {
  /// Writes the end of an attempt, if its claim is still valid.
  ///
  /// - Complexity: O(log *n*).
  func finish(_ claim: Claim, _ outcome: Outcome) throws -> FinishResult {
    guard var job = try job(held: claim) else { return .lostClaim }
    let began = job.startedAt
    job.epoch = nil
    switch outcome {
    case .succeeded(let output):
      job.set(.output, output)
      job.error = nil
      try end(&job, as: .succeeded, began: began)
    case .failed(let text, let wait):
      job.error = text
      try recordAttempt(job, claim, began: began, "failed", text)
      if job.attempts >= job.attemptsMax {
        try end(&job, as: .discarded, began: began)
      } else {
        ended.count(job, .retried, began: began, now: now)
        try reschedule(&job, at: now.addingTimeInterval(wait.seconds))
      }
    case .discarded(let text):
      job.error = text
      try recordAttempt(job, claim, began: began, "discarded", text)
      try end(&job, as: .discarded, began: began)
    case .snoozed(let wait, let text):
      job.attempts -= 1
      if let text { job.error = text }
      try reschedule(&job, at: now.addingTimeInterval(wait.seconds))
    case .cancelled:
      try recordAttempt(job, claim, began: began, "cancelled", nil)
      try end(&job, as: .cancelled, began: began)
    case .handedBack:
      job.attempts -= 1
      // `cancel` has promised that the job does not run again.
      if job.isCancelled {
        try end(&job, as: .cancelled, began: began)
      } else {
        try takeUniqueKeyAgain(&job)
        // Not `wait(until:)`, which would wait again if the clock was set back.
        job.move(to: .ready, at: job.runAt)
        try update(job)
        try releaseLimit(of: job)
      }
    }
    return .finished(job.state ?? .ready)
  }

  /// The job of a claim; `nil` if the claim is no longer valid.
  func job(held claim: Claim) throws -> JobRecord? {
    guard let job = try job(claim.job), job.isIn(.running), job.claim == claim else {
      return nil
    }
    return job
  }

  /// Ends a job that is not running.
  func end(_ job: inout JobRecord, as state: JobState, began: Date?) throws {
    job.set(.finishedAt, now)
    if job.isCancelled { job.isCancelled = false }
    job.clear(.checkpoint)
    if job.uniqueUntil != .untilRemoved { job.uniqueKey = nil }
    job.move(to: state, at: now.addingTimeInterval(job.retention))
    try update(job)
    try releaseLimit(of: job)
    if let group = job.group { try leave(group, state) }
    ended.count(job, state == .succeeded ? .succeeded : .failed, began: began, now: now)
  }

  /// Lets a job that is not running wait for its next attempt. Ends it if its cancellation was
  /// requested.
  func reschedule(_ job: inout JobRecord, at date: Date) throws {
    if job.isCancelled { return try end(&job, as: .cancelled, began: nil) }
    try takeUniqueKeyAgain(&job)
    // The wait is counted from now. If the clock was set back since the start, the next correction
    // would count it from then, and shorten it.
    if let startedAt = job.startedAt, startedAt > now { job.set(.startedAt, now) }
    job.wait(until: date, now: now)
    try update(job)
    try releaseLimit(of: job)
  }

  /// Gives a job that waits again the key that it released to run, if no other job has it.
  private func takeUniqueKeyAgain(_ job: inout JobRecord) throws {
    guard let key = job.releasedUniqueKey, try holder(ofUniqueKey: key) == nil else { return }
    job.uniqueKey = key
  }

  /// Stores an attempt that did not succeed, and removes the oldest one beyond the bound.
  func recordAttempt(
    _ job: JobRecord, _ claim: Claim, began: Date?, _ outcome: String, _ error: String?
  ) throws {
    try transaction.insert(
      AttemptRecord.entity,
      [
        "job": .int64(job.id.rawValue), "number": .int64(claim.number),
        "startedAt": began.map(Value.date) ?? .null, "endedAt": .date(now),
        "outcome": .string(outcome), "error": error.map(Value.string) ?? .null,
        "epoch": .int64(claim.epoch),
      ])
    let oldest = claim.number - Int64(Limits.attemptsKeptMax)
    guard oldest > 0 else { return }
    if let old = try transaction.objectID(
      AttemptRecord.entity, by: ["job": .int64(job.id.rawValue), "number": .int64(oldest)])
    {
      try transaction.delete(old)
    }
  }
}
