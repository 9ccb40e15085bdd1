import EntityModel
import EntityStore
public import Foundation

/// The stored values of a schedule, also of one that is not valid.
public struct JobScheduleStatus: Codable, Hashable, Sendable {
  public let name: String
  public let expression: String
  public let zone: String
  /// The treatment of missed times: `skip`, `once`, `all:64`.
  public let missed: String
  public let jitterSeconds: Double
  public let overlaps: Bool
  public let kind: String
  public let isPaused: Bool
  /// The reason for which no runner can enqueue its jobs.
  public let error: String?
  /// `nil` if there is no next time.
  public let nextAt: Date?
  public let lastAt: Date?
  public let lastJob: JobID?

  init(_ record: Record) throws {
    let text = { (name: String) in try record[name].stringValue ?? "" }
    name = try text("name")
    expression = try text("expression")
    zone = try text("zone")
    missed = try text("missed")
    jitterSeconds = try record["jitter"].doubleValue ?? 0
    overlaps = try record["overlaps"] == .bool(true)
    kind = try text("kind")
    isPaused = try record["isPaused"] == .bool(true)
    error = try record["error"].stringValue ?? Self.reason(record)
    nextAt = try record["nextAt"].dateValue
    lastAt = try record["lastAt"].dateValue
    lastJob = try record["lastJob"].int64Value.map(JobID.init)
  }

  private static func reason(_ record: Record) throws -> String? {
    do {
      _ = try JobSchedule(record)
      return nil
    } catch let error as JobError {
      return error.description
    }
  }
}
