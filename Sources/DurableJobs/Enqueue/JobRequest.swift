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
