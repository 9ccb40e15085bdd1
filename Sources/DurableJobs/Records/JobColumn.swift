import EntityModel
import EntityStore

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
