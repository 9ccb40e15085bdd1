import EntityModel
import EntityStore
import Foundation

// Operations on jobs from outside of their runners.
extension JobTable {
  /// Cancels a job: ends it at once if it waits, or requests its cancellation if it is running.
  ///
  /// - Returns: The new state.
  /// - Throws: `unknownJob`; `wrongState` if it has ended.
  func cancel(_ id: JobID) throws -> JobState {
    var job = try known(id)
    switch job.state {
    case .scheduled, .ready, .held, .blocked:
      try end(&job, as: .cancelled, began: nil)
      return .cancelled
    case .running:
      job.isCancelled = true
      try update(job)
      return .running
    case .succeeded, .discarded, .cancelled, .poisoned, nil:
      throw ended(job, "a job that has ended cannot be cancelled")
    }
  }

  /// Makes a job ready that waits for its time or has ended without success, with all of its
  /// attempts.
  ///
  /// The job does not take its unique key again. A completion job that was cancelled before its
  /// group has ended waits for the group again.
  ///
  /// - Returns: The new state.
  /// - Throws: `unknownJob`; `wrongState`.
  /// - Complexity: O(log *n*), and O(*g*) for *g* groups if the job was never claimed.
  func retry(_ id: JobID) throws -> JobState {
    var job = try known(id)
    switch job.state {
    case .scheduled: job.runAt = now
    case .discarded, .cancelled, .poisoned:
      job.attempts = 0
      job.rescues = 0
      job.clear(.finishedAt)
      job.runAt = now
      if let group = job.group { try rejoin(group) }
    case .ready, .held, .blocked, .running, .succeeded, nil:
      throw ended(job, "only a job that waits for its time, or has failed, can be tried again")
    }
    let state: JobState = try mustWaitForGroup(job) ? .blocked : .ready
    job.move(to: state, at: now)
    try update(job)
    return state
  }

  /// Pauses or resumes a queue.
  ///
  /// - Returns: `false` if the queue was in that state.
  /// - Throws: `unknownQueue` for a name that is not valid.
  func setPaused(_ isPaused: Bool, _ queue: QueueName) throws -> Bool {
    guard JobName.isValid(queue.rawValue) else {
      throw JobError(
        .unknownQueue, "a queue has no such name", [("queue", queue.rawValue)],
        advice: "use 1 to 64 letters, digits, dots, dashes and underscores")
    }
    let before = try transaction.get(QueueRecord.entity, by: ["name": .string(queue.rawValue)])
    let wasPaused = try before.map { try $0["isPaused"] == .bool(true) } ?? false
    guard wasPaused != isPaused else { return false }
    try transaction.upsert(
      QueueRecord.entity,
      [
        "name": .string(queue.rawValue), "isPaused": .bool(isPaused), "changedAt": .date(now),
      ], by: ["name"])
    return true
  }

  func known(_ id: JobID) throws -> JobRecord {
    guard let job = try job(id) else { throw JobError.unknown(id) }
    return job
  }

  private func ended(_ job: JobRecord, _ summary: StaticString) -> JobError {
    JobError(
      .wrongState, summary,
      [("job", job.id.description), ("state", job.state?.rawValue ?? "unknown")],
      advice: "see `mooring jobs show \(job.id)`")
  }
}

extension JobError {
  static func unknown(_ id: JobID) -> JobError {
    JobError(
      .unknownJob, "there is no such job", [("job", id.description)],
      advice: "see `mooring jobs list`; jobs are removed at the end of their retention")
  }
}
