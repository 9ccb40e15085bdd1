import EntityModel
import EntityStore
import Foundation

/// A job with its attempts and its runner, as of one snapshot.
public struct JobDetails: Codable, Hashable, Sendable {
  public let job: JobStatus
  /// The last attempts, without those that succeeded, oldest first.
  public let attempts: [JobAttempt]
  /// The runner that has claimed the job, while it is running.
  public let runner: JobRunnerStatus?
  public let isQueuePaused: Bool
  /// True if a live runner has a handler for its kind.
  public let isKindServed: Bool
}

extension JobRows {
  /// The last attempts of a job, without those that succeeded, oldest first.
  func attempts(of id: JobID) throws -> [JobAttempt] {
    var attempts: [JobAttempt] = []
    try eachRecord(
      of: AttemptRecord.entity, by: "byJob", leading: [.int64(id.rawValue)]
    ) { record in
      attempts.append(
        JobAttempt(
          number: try record["number"].int64Value ?? 0,
          startedAt: try record["startedAt"].dateValue,
          endedAt: try record["endedAt"].dateValue ?? .distantPast,
          outcome: try record["outcome"].stringValue ?? "",
          error: try record["error"].stringValue, epoch: try record["epoch"].int64Value))
    }
    return attempts
  }
}
