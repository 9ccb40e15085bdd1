import EntityModel
public import EntityStore
import Foundation

/// The attributes of `_Job` by position: the order of `System/0001_jobs.yaml`.
///
/// A migration of the line may only add attributes behind these, and then to this list: so a claim
/// reads and writes rows without looking names up.
enum JobColumn: Int, CaseIterable {
  case kind, queue, priority, state
  case place, lane, rank, at
  case payload, enqueuedAt, runAt, startedAt, finishedAt
  case attempts, attemptsMax, rescues, rescuesMax, claims, epoch
  case timeout, retention, uniqueKey, uniqueUntil, limitKey, limitMax, batch, schedule
  case isCancelled, checkpoint, checkpointClaim, done, total, note, error, output

  /// Those by which a job has its place in the index of turns.
  static let ofTurn: [JobColumn] = [.state, .place, .lane, .rank, .at]

  var name: String { String(describing: self) }
}

/// The names of the entities beside `_Job`; what they hold says `System/0001_jobs.yaml`.
enum AttemptRecord { static let entity = "_JobAttempt" }
enum OutputRecord { static let entity = "_JobOutput" }
enum RunnerRecord { static let entity = "_JobRunner" }
enum QueueRecord { static let entity = "_JobQueue" }
enum BatchRecord { static let entity = "_JobBatch" }
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
  /// The system entities of the jobs. A store whose jobs are used is opened with it.
  public static let jobs = MigrationSource(embedded: [
    ("0001_jobs", PackageResources._001_jobs_yaml)
  ])
}

extension Store {
  /// Whether the migrations of the jobs were applied. Without them every call about jobs fails.
  public var hasJobs: Bool {
    get throws { try schema.entity(named: JobRecord.entity) != nil }
  }
}
