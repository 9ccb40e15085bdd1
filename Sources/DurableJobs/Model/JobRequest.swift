public import Foundation

/// A job that is to be enqueued: encoded and checked outside of the transaction that stores it.
public struct JobRequest: Sendable {
  public let kind: JobKind
  /// JSON.
  public let payload: Data
  public var queue: QueueName
  public var priority: Int
  /// Not before this time; by default at once.
  public var runAt: Date?
  public var attemptsMax: Int
  public var rescuesMax: Int
  public var timeout: Duration?
  public var retention: Duration
  public var uniqueKey: String?
  public var uniqueness: JobUniqueness
  /// What becomes of the request when a job with its unique key is there.
  public var onConflict = JobConflict.keep
  public var limit: JobLimit?
  /// The schedule that makes the job.
  var schedule: Int64?

  /// - Throws: `badPayload` if the job cannot be encoded.
  public init<J: Job>(_ job: J) throws {
    self.init(kind: J.kind, payload: try Self.payload(of: job), policy: J.policy)
    uniqueKey = job.uniqueKey
    limit = job.limit
  }

  /// A job of a kind that this program has no type for, or of one that it was told by name.
  ///
  /// - Parameter payload: A JSON value.
  public init(kind: JobKind, payload: Data, policy: JobPolicy = JobPolicy()) {
    self.kind = kind
    self.payload = payload
    queue = policy.queue
    priority = policy.priority
    attemptsMax = policy.attemptsMax
    rescuesMax = policy.rescuesMax
    timeout = policy.timeout
    retention = policy.retention
    uniqueness = policy.uniqueness
  }

  private static func payload<J: Job>(of job: J) throws -> Data {
    do {
      return try JobJSON.encoder.encode(job)
    } catch {
      throw JobError(
        .badPayload, "a job cannot be written as JSON",
        [("kind", J.kind.rawValue), ("reason", "\(error)")],
        advice: "look at the type's encode(to:)")
    }
  }
}

/// What becomes of a request when a job with its unique key is there already.
public enum JobConflict: String, Codable, Sendable {
  /// The job that is there stays as it is.
  case keep
  /// Unless it runs or waits for a batch, it gets the payload, the priority and the time of the
  /// request.
  case replace
}

/// What became of a request.
public struct EnqueuedJob: Hashable, Sendable {
  public let id: JobID
  /// `false` if another job has its unique key: that is the one then.
  public let isNew: Bool
}

extension JobRequest {
  func check(at now: Date) throws {
    guard JobName.isValid(kind.rawValue), JobName.isValid(queue.rawValue) else {
      throw refusal(
        "a kind or a queue has a name that is not allowed", "queue", queue.rawValue,
        "use 1 to 64 letters, digits, dots, dashes and underscores")
    }
    guard payload.count <= Limits.payloadBytesMax else {
      throw refusal(
        "a job is too large", "bytes", String(payload.count),
        "keep it under \(Limits.payloadBytesMax) bytes: put the data into a record")
    }
    if let uniqueKey { try check(key: uniqueKey) }
    if let limit { try check(key: limit.key) }
    guard limit.map({ $0.max >= 1 }) ?? true, attemptsMax >= 1, rescuesMax >= 0,
      retention >= .zero, timeout.map({ $0 > .zero }) ?? true
    else {
      throw refusal(
        "a number of a job is out of its range", "attempts", String(attemptsMax),
        "use at least one attempt, a limit of at least 1, and times that are not negative")
    }
    guard let runAt else { return }
    guard runAt.timeIntervalSince(now) <= Limits.delayMax else {
      throw refusal("a job is put off too far", "until", "\(runAt)", "use at most ten years")
    }
  }

  private func check(key: String) throws {
    guard !key.isEmpty, key.utf8.count <= Limits.keyBytesMax, !key.utf8.contains(0) else {
      throw refusal(
        "a key of a job is empty or too long", "key", String(key.prefix(80)),
        "use 1 to \(Limits.keyBytesMax) bytes")
    }
  }

  private func refusal(
    _ summary: StaticString, _ name: String, _ value: String, _ advice: String
  ) -> JobError {
    JobError(.invalidRequest, summary, [("kind", kind.rawValue), (name, value)], advice: advice)
  }
}
