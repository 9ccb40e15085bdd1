public import Foundation

/// The current values of a job.
public struct JobStatus: Codable, Hashable, Sendable {
  public let id: JobID
  public let kind: String
  public let queue: String
  public let priority: Int64
  public let state: JobState
  /// True if the cancellation was requested and the attempt has not ended yet.
  public let isCancelled: Bool
  public let enqueuedAt: Date
  /// The time at which the job becomes ready, while it is scheduled; otherwise the time at which it
  /// became ready.
  public let runAt: Date
  /// The beginning of the last attempt.
  public let startedAt: Date?
  public let finishedAt: Date?
  public let removedAfter: Date?
  public let attempts: Int64
  public let attemptsMax: Int64
  public let rescues: Int64
  public let rescuesMax: Int64
  /// The epoch of the runner, while the job is running.
  public let epoch: Int64?
  public let timeout: Double?
  public let progress: JobProgress
  /// The error of the last attempt that failed.
  public let error: String?
  public let uniqueKey: String?
  public let limitKey: String?
  /// The group of jobs that it belongs to; in JSON `batch`.
  public let group: Int64?
  public let schedule: Int64?
  /// The payload as JSON.
  public let payload: String
  /// The output as JSON.
  public let output: String?

  private enum CodingKeys: String, CodingKey {
    case id, kind, queue, priority, state, isCancelled, enqueuedAt, runAt, startedAt, finishedAt
    case removedAfter, attempts, attemptsMax, rescues, rescuesMax, epoch, timeout, progress, error
    case uniqueKey, limitKey, group = "batch", schedule, payload, output
  }

  init(_ job: JobRecord) throws {
    guard let state = job.state else {
      throw JobError(
        .wrongState, "a job is in a state that is unknown to this program",
        [("job", job.id.description), ("state", job.string(.state) ?? "")],
        advice: "use the newer program that wrote it")
    }
    id = job.id
    kind = job.kind.rawValue
    queue = job.queue.rawValue
    priority = job.priority
    self.state = state
    isCancelled = job.isCancelled
    enqueuedAt = job.enqueuedAt
    runAt = state == .scheduled ? job.at : job.runAt
    startedAt = job.startedAt
    finishedAt = job.finishedAt
    removedAfter = state.isFinished ? job.at : nil
    attempts = job.attempts
    attemptsMax = job.attemptsMax
    rescues = job.rescues
    rescuesMax = job.rescuesMax
    epoch = job.epoch
    timeout = job.timeout
    progress = JobProgress(done: job.done, total: job.total, note: job.note)
    error = job.error
    uniqueKey = job.uniqueKey
    limitKey = job.limitKey
    group = job.group
    schedule = job.schedule
    payload = String(decoding: job.payload, as: UTF8.self)
    output = job.output.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// An attempt that did not succeed.
public struct JobAttempt: Codable, Hashable, Sendable {
  /// The number of the claim, counted over all claims of the job.
  public let number: Int64
  public let startedAt: Date?
  public let endedAt: Date
  /// `failed`, `discarded`, `cancelled`, `rescued` (its runner died) or `interrupted` (its runner
  /// died, which does not count).
  public let outcome: String
  public let error: String?
  public let epoch: Int64?
}

/// A registered runner.
public struct JobRunnerStatus: Codable, Hashable, Sendable {
  public let epoch: Int64
  public let process: Int64
  public let host: String
  public let command: String
  public let startedAt: Date
  public let stoppedAt: Date?
  public let kinds: [String]
  /// True if its process lives. The jobs of a dead runner are taken over by the next runner.
  public let isAlive: Bool
}
