import EntityModel
import EntityStore
import Foundation

/// All that is known of a job, of one moment.
public struct JobDetails: Codable, Hashable, Sendable {
  public let job: JobStatus
  /// Those that did not end well, of the last ones, oldest first.
  public let attempts: [JobAttempt]
  /// Who runs it.
  public let runner: JobRunnerStatus?
  public let isQueuePaused: Bool
  /// Whether a runner that lives knows its kind.
  public let isKindServed: Bool
}

extension JobRows {
  /// The attempts of a job that did not end well, of the last ones, oldest first.
  func attempts(of id: JobID) throws -> [JobAttempt] {
    let layout = try snapshot.layout(AttemptRecord.entity)
    let cursor = try IndexPrefixCursor(
      try layout.index(named: "byJob"), of: layout, leading: [.int64(id.rawValue)], in: snapshot)
    var attempts: [JobAttempt] = []
    while let number = try cursor.next() {
      let identity = ObjectID(entity: AttemptRecord.entity, number: number)
      guard let record = try snapshot.get(identity) else { continue }
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
