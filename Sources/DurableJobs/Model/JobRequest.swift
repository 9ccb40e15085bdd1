public import Foundation

/// A job to be enqueued. Its payload is encoded before the transaction that stores it begins.
public struct JobRequest: Sendable {
  public let kind: JobKind
  /// The job as JSON.
  public let payload: Data
  public var queue: QueueName
  public var priority: Int
  /// The time before which the job is not run; `nil` for now.
  public var runAt: Date?
  public var attemptsMax: Int
  public var rescuesMax: Int
  public var timeout: Duration?
  public var retention: Duration
  public var uniqueKey: String?
  public var uniqueness: JobUniqueness
  /// The action if a job with the unique key exists.
  public var onConflict = JobConflict.keep
  public var limit: JobLimit?
  /// True if only the machine that enqueues the job runs it (see ``JobPolicy/isBoundToMachine``).
  public var isBoundToMachine: Bool
  /// The number of the schedule that enqueues the job.
  var schedule: Int64?

  /// A request with the policy of the job's kind.
  ///
  /// - Throws: `badPayload` if the job cannot be encoded.
  public init<J: Job>(_ job: J) throws {
    self.init(kind: J.kind, payload: try Self.payload(of: job), policy: J.policy)
    uniqueKey = job.uniqueKey
    limit = job.limit
  }

  /// A request for a kind without a type in this program.
  ///
  /// - Parameter payload: A JSON value, which is not checked.
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
    isBoundToMachine = policy.isBoundToMachine
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

/// The action if a job with the unique key of a request exists.
public enum JobConflict: String, Codable, Sendable {
  /// Leaves the existing job as it is.
  case keep
  /// Gives the existing job the payload, the priority and the time of the request, unless it is
  /// running or waits for a group.
  case replace
}

/// The result of an enqueue.
public struct EnqueuedJob: Hashable, Sendable {
  public let id: JobID
  /// `false` if `id` is an existing job with the same unique key.
  public let isNew: Bool
}

extension JobRequest {
  /// - Throws: `invalidRequest` for a value that is out of its range.
  func check(at now: Date) throws {
    guard JobName.isValid(kind.rawValue), JobName.isValid(queue.shared.rawValue) else {
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
      throw refusal("the delay of a job is too long", "until", "\(runAt)", "use at most ten years")
    }
  }

  /// Returns the request as a machine of a hub stores it; `nil` if that is this request.
  ///
  /// - Parameter machine: The name of the machine; `nil` in a store that one machine has.
  func bound(to machine: String?) -> JobRequest? {
    guard isBoundToMachine, let machine, queue.machine == nil else { return nil }
    var request = self
    request.queue = QueueName(rawValue: "\(queue)@\(machine)")
    request.uniqueKey = uniqueKey.map { "\(machine):\($0)" }
    return request
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
