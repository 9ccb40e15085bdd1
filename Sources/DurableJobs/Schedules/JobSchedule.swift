import EntityModel
import EntityStore
public import Foundation

/// A request that is enqueued at recurring times.
public struct JobSchedule: Sendable {
  /// The unique name: 1 to 64 letters, digits, dots, dashes and underscores.
  public let name: String
  public var recurrence: Recurrence
  /// The job that is enqueued each time. Its `runAt` is set to the time of the run.
  public var request: JobRequest
  /// True if a job may be enqueued before the last one has ended. Otherwise such a time is skipped.
  public var overlaps: Bool
  public var isPaused = false
  /// The reason for which a runner has paused the schedule: its record cannot be read.
  public internal(set) var error: String?
  /// The time of the next job; `nil` if there is none.
  public internal(set) var nextAt: Date?
  public internal(set) var lastAt: Date?
  public internal(set) var lastJob: JobID?

  public init(
    _ name: String, _ recurrence: Recurrence, _ request: JobRequest, overlaps: Bool = false
  ) {
    self.name = name
    self.recurrence = recurrence
    self.request = request
    self.overlaps = overlaps
  }
}

// The form of a schedule in `_JobSchedule`.
extension JobSchedule {
  /// - Throws: `invalidSchedule`, `badPayload` if the record cannot be read, as when its zone no
  ///   longer exists.
  init(_ record: Record) throws {
    let text = { (name: String) in try record[name].stringValue ?? "" }
    let jitter = try record["jitter"].doubleValue ?? 0
    self.init(
      try text("name"),
      try Recurrence(
        CronExpression(try text("expression")), in: Recurrence.zone(named: try text("zone")),
        missed: MissedRuns(try text("missed")), jitter: .stored(seconds: jitter)),
      try JobRequest(stored: try record["request"].dataValue ?? Data()),
      overlaps: try record["overlaps"] == .bool(true))
    isPaused = try record["isPaused"] == .bool(true)
    error = try record["error"].stringValue
    nextAt = try record["nextAt"].dateValue
    lastAt = try record["lastAt"].dateValue
    lastJob = try record["lastJob"].int64Value.map(JobID.init)
  }

  func values() throws -> [String: Value] {
    [
      "name": .string(name), "expression": .string(recurrence.expression.description),
      "zone": .string(recurrence.zone.name), "missed": .string("\(recurrence.missed)"),
      "jitter": .double(recurrence.jitter.seconds), "overlaps": .bool(overlaps),
      "isPaused": .bool(isPaused), "kind": .string(request.kind.rawValue),
      "request": .data(try request.stored()), "error": error.map(Value.string) ?? .null,
      "nextAt": nextAt.map(Value.date) ?? .null, "lastAt": lastAt.map(Value.date) ?? .null,
      "lastJob": lastJob.map { .int64($0.rawValue) } ?? .null,
    ]
  }
}

extension TimeZone {
  /// The name as it was given. Foundation changes UTC to GMT.
  fileprivate var name: String { identifier == "GMT" ? "UTC" : identifier }
}

/// The stored form of a schedule's request.
private struct StoredRequest: Codable {
  var kind: String
  var payload: Data
  var queue: String
  var priority: Int
  var attemptsMax: Int
  var rescuesMax: Int
  var timeout: Double?
  var retention: Double
  var limitKey: String?
  var limitMax: Int?
}

extension JobRequest {
  fileprivate init(stored data: Data) throws {
    let stored: StoredRequest
    do {
      stored = try JSONDecoder().decode(StoredRequest.self, from: data)
    } catch {
      throw JobError(
        .badPayload, "the request of a schedule cannot be read", [("reason", "\(error)")],
        advice: "set the schedule again")
    }
    self.init(
      kind: JobKind(rawValue: stored.kind), payload: stored.payload,
      policy: JobPolicy(
        queue: QueueName(rawValue: stored.queue), priority: stored.priority,
        attemptsMax: stored.attemptsMax, rescuesMax: stored.rescuesMax,
        timeout: stored.timeout.map(Duration.stored),
        retention: .stored(seconds: stored.retention)))
    if let key = stored.limitKey { limit = JobLimit(key, max: stored.limitMax ?? 1) }
  }

  fileprivate func stored() throws -> Data {
    try JSONEncoder().encode(
      StoredRequest(
        kind: kind.rawValue, payload: payload, queue: queue.rawValue, priority: priority,
        attemptsMax: attemptsMax, rescuesMax: rescuesMax, timeout: timeout?.seconds,
        retention: retention.seconds, limitKey: limit?.key, limitMax: limit?.max))
  }
}
