import EntityModel
public import EntityStore
import Foundation
public import Migrations

/// The attributes of `_Job` by position, in the order of `System/0001_jobs.yaml`.
///
/// A claim reads and writes rows by position, without looking up names. A later migration may
/// therefore only append attributes, here and in the schema.
enum JobColumn: Int, CaseIterable {
  case kind, queue, priority, state
  case place, lane, rank, at
  case payload, enqueuedAt, runAt, startedAt, finishedAt
  case attempts, attemptsMax, rescues, rescuesMax, claims, epoch
  case timeout, retention, uniqueKey, uniqueUntil, limitKey, limitMax, batch, schedule
  case isCancelled, checkpoint, checkpointClaim, done, total, note, error, output

  /// The attributes of the index `byTurn`.
  static let ofTurn: [JobColumn] = [.state, .place, .lane, .rank, .at]

  var name: String { String(describing: self) }
}

// The names of the other entities, which `System/0001_jobs.yaml` describes.
enum AttemptRecord { static let entity = "_JobAttempt" }
enum OutputRecord { static let entity = "_JobOutput" }
enum RunnerRecord { static let entity = "_JobRunner" }
enum QueueRecord { static let entity = "_JobQueue" }
/// The record of a job group, with the name under which it is stored.
enum GroupRecord { static let entity = "_JobBatch" }
enum ScheduleRecord { static let entity = "_JobSchedule" }
enum MinuteRecord { static let entity = "_JobMinute" }

extension Value {
  var int64Value: Int64? { if case .int64(let number) = self { number } else { nil } }
  var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
  var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
}

extension MigrationSource {
  /// The system entities of the jobs. Open a store with this source to use jobs.
  public static let jobs = MigrationSource(embedded: [
    ("0001_jobs", PackageResources._001_jobs_yaml)
  ])
}

extension Store {
  /// True if the migrations of the jobs were applied. Without them every call about jobs throws.
  public var hasJobs: Bool {
    get throws { try schema.entity(named: JobRecord.entity) != nil }
  }
}
