import EntityModel
import EntityStore
public import Foundation

/// An attempt that has failed, with its job.
public struct JobFailure: Codable, Hashable, Sendable {
  public let job: JobID
  public let kind: String
  public let queue: String
  /// The state of the job now: it may have succeeded since.
  public let state: JobState
  public let endedAt: Date
  /// `failed`, `discarded`, `cancelled`, `rescued` or `interrupted`; see ``JobAttempt``.
  public let outcome: String
  public let error: String?

  /// - Returns: `nil` if the job was removed, or its state is unknown to this program.
  init?(_ attempt: Record, _ rows: JobRows) throws {
    guard let number = try attempt["job"].int64Value,
      let job = try rows.job(JobID(rawValue: number)), let state = job.state
    else { return nil }
    self.job = job.id
    kind = job.kind.rawValue
    queue = job.queue.rawValue
    self.state = state
    endedAt = try attempt["endedAt"].dateValue ?? .distantPast
    outcome = try attempt["outcome"].stringValue ?? ""
    error = try attempt["error"].stringValue
  }
}
