import EntityModel
package import EntityStore
public import Foundation

/// A run as a list shows it, with the counts that matter in it.
public struct RunSummary: Codable, Sendable, Hashable {
  /// The number of the feed.
  public let feed: Int64
  public let startedAt: Date
  /// The duration.
  public let seconds: Double
  /// A value of ``SyncReport/Outcome``.
  public let outcome: String
  public let error: String?
  public let new: Int
  public let changed: Int
  public let deleted: Int
  public let rejected: Int
  public let bytes: Int

  init(_ run: FeedRun, _ counts: RunCounts) {
    feed = run.feedID
    startedAt = run.startedAt
    seconds = run.seconds
    outcome = run.outcome
    error = run.error
    new = counts.new ?? 0
    changed = counts.changed ?? 0
    deleted = counts.deleted ?? 0
    rejected = counts.rejected ?? 0
    bytes = counts.bytes ?? 0
  }
}

/// The part of a stored report that a list needs: the whole takes four times as long to decode.
struct RunCounts: Decodable {
  let new: Int?
  let changed: Int?
  let deleted: Int?
  let rejected: Int?
  let bytes: Int?
}

extension Feeds {
  /// Returns the stored runs of all feeds, the newest first. A run without news is not stored.
  ///
  /// - Throws: `DecodingError` for a run of another version of the program.
  package static func newestRuns(
    limit: Int, in transaction: ReadTransaction
  ) throws -> [RunSummary] {
    guard transaction.schema.entity(named: FeedRun.entityName) != nil else { return [] }
    let runs = try transaction.layout(FeedRun.entityName)
    var found: [RunSummary] = []
    var next = try transaction.lastNumber(of: runs)
    while found.count < limit, let number = next {
      let id = ObjectID(entity: FeedRun.entityName, number: number)
      if let run = try transaction.get(FeedRun.self, id) {
        found.append(RunSummary(run, try run.counts))
      }
      next = try transaction.number(before: number, of: runs)
    }
    return found
  }
}
