public import Foundation

/// A job as it is just now.
public struct JobStatus: Codable, Hashable, Sendable {
  public let id: JobID
  public let kind: String
  public let queue: String
  public let priority: Int64
  public let state: JobState
  /// Its end was asked for, and its runner has not come to it yet.
  public let isCancelled: Bool
  public let enqueuedAt: Date
  /// While it is scheduled, when its time comes; while it runs and after that, since when it was ready.
  public let runAt: Date
  /// Of the last attempt.
  public let startedAt: Date?
  public let finishedAt: Date?
  public let removedAfter: Date?
  public let attempts: Int64
  public let attemptsMax: Int64
  public let rescues: Int64
  public let rescuesMax: Int64
  /// Of the runner, while it runs.
  public let epoch: Int64?
  public let timeout: Double?
  public let progress: JobProgress
  /// Of the last attempt that failed.
  public let error: String?
  public let uniqueKey: String?
  public let limitKey: String?
  public let batch: Int64?
  public let schedule: Int64?
  /// JSON.
  public let payload: String
  /// JSON.
  public let output: String?

  init(_ job: JobRecord) throws {
    guard let state = job.state else {
      throw JobError(
        .wrongState, "a job is in a state that this program does not know",
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
    batch = job.batch
    schedule = job.schedule
    payload = String(decoding: job.payload, as: UTF8.self)
    output = job.output.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// An attempt that did not end well.
public struct JobAttempt: Codable, Hashable, Sendable {
  /// Among all claims of the job.
  public let number: Int64
  public let startedAt: Date?
  public let endedAt: Date
  /// `failed`, `discarded`, `cancelled`, `rescued` (its runner died), `interrupted` (its runner died and
  /// that does not count).
  public let outcome: String
  public let error: String?
  public let epoch: Int64?
}

/// A runner that the store knows.
public struct JobRunnerStatus: Codable, Hashable, Sendable {
  public let epoch: Int64
  public let process: Int64
  public let host: String
  public let command: String
  public let startedAt: Date
  public let stoppedAt: Date?
  public let kinds: [String]
  /// Whether its process lives; the jobs of one that does not are taken over by the next runner.
  public let isAlive: Bool
}
