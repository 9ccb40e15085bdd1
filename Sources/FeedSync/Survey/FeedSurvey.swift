import EntityModel
package import EntityStore
package import Foundation

/// The condition of each feed, from one pass over the stored records in place.
package struct FeedSurvey {
  /// A feed with its condition.
  package struct Entry: Sendable {
    package let id: Int64
    package let condition: FeedCondition
    /// The time since which it is in this condition; nil if that is not known.
    package let since: Date?
    /// The start of its last run.
    package let askedAt: Date?
    /// The time before which it is not late.
    package let dueAt: Date?
  }

  /// The times of a feed's runs, which its record does not have.
  package struct Runs {
    /// The start of the last run.
    package var askedAt: Date?
    /// The end of the last run that did not fail, and the first failure since.
    package var succeededAt: Date?
    package var failedSince: Date?

    package init(askedAt: Date?, succeededAt: Date? = nil, failedSince: Date? = nil) {
      self.askedAt = askedAt
      self.succeededAt = succeededAt
      self.failedSince = failedSince
    }
  }

  /// The feeds, the worst first, and of one condition those first that are in it for longest.
  package private(set) var entries: [Entry] = []
  /// The number of feeds in each condition.
  package private(set) var counts: [FeedCondition: Int] = [:]

  /// Surveys the feeds of a snapshot. The store may have none, or no table of them.
  ///
  /// - Parameter timing: The worker's schedule.
  /// - Parameter runs: The runs of a feed, by its number.
  /// - Complexity: O(*n* · log *n*); a few microseconds for each feed.
  package init(
    _ transaction: ReadTransaction, _ timing: FeedTiming, now: Date, runs: (Int64) throws -> Runs?
  ) throws {
    guard transaction.schema.entity(named: Feed.entityName) != nil else { return }
    let feeds = try transaction.layout(Feed.entityName)
    let columns = try Columns(feeds)
    try transaction.eachRow(of: feeds) { row in
      let facts = try Facts(row, columns)
      if facts.isRemoved { return true }
      entries.append(Self.entry(row.id, facts, try runs(row.id), timing, now))
      return true
    }
    entries.sort { Self.key(of: $0) < Self.key(of: $1) }
    for entry in entries { counts[entry.condition, default: 0] += 1 }
  }

  /// Returns one feed with its condition; nil if there is none with this number.
  package static func entry(
    _ id: Int64, _ transaction: ReadTransaction, _ timing: FeedTiming, now: Date, runs: Runs?
  ) throws -> Entry? {
    guard transaction.schema.entity(named: Feed.entityName) != nil else { return nil }
    let feeds = try transaction.layout(Feed.entityName)
    guard let row = try transaction.row(id, of: feeds) else { return nil }
    let facts = try Facts(row, Columns(feeds))
    return facts.isRemoved ? nil : entry(id, facts, runs, timing, now)
  }

  private static func key(of entry: Entry) -> (FeedCondition, TimeInterval, Int64) {
    (entry.condition, entry.since?.timeIntervalSinceReferenceDate ?? .infinity, entry.id)
  }

  // MARK: One feed

  /// The attributes that the condition depends on.
  private struct Columns {
    let isRemoved, isPaused, errors, goneAt, every, waitUntil, freshFor, changedAt, addedAt: Int

    init(_ feeds: EntityLayout) throws {
      isRemoved = try feeds.position(of: "isRemoved")
      isPaused = try feeds.position(of: "isPaused")
      errors = try feeds.position(of: "errors")
      goneAt = try feeds.position(of: "goneAt")
      every = try feeds.position(of: "every")
      waitUntil = try feeds.position(of: "waitUntil")
      freshFor = try feeds.position(of: "freshFor")
      changedAt = try feeds.position(of: "changedAt")
      addedAt = try feeds.position(of: "addedAt")
    }
  }

  private struct Facts {
    let isRemoved: Bool
    let isPaused: Bool
    let errors: Int64
    let goneAt: Date?
    let every: Int64?
    let waitUntil: Date?
    let freshFor: Int64?
    let changedAt: Date?
    let addedAt: Date?

    init(_ row: StoredRow, _ columns: Columns) throws {
      func date(_ position: Int) throws -> Date? {
        if case .date(let date) = try row.value(position) { date } else { nil }
      }
      isRemoved = try row.value(columns.isRemoved) == .bool(true)
      isPaused = try row.value(columns.isPaused) == .bool(true)
      errors = row.int64(columns.errors) ?? 0
      goneAt = try date(columns.goneAt)
      every = row.int64(columns.every)
      waitUntil = try date(columns.waitUntil)
      freshFor = row.int64(columns.freshFor)
      changedAt = try date(columns.changedAt)
      addedAt = try date(columns.addedAt)
    }
  }

  private static func entry(
    _ id: Int64, _ facts: Facts, _ runs: Runs?, _ timing: FeedTiming, _ now: Date
  ) -> Entry {
    let dueAt = dueAt(facts, runs, timing)
    func entry(_ condition: FeedCondition, since: Date?) -> Entry {
      Entry(id: id, condition: condition, since: since, askedAt: runs?.askedAt, dueAt: dueAt)
    }
    if let goneAt = facts.goneAt { return entry(.gone, since: goneAt) }
    if facts.isPaused { return entry(.paused, since: nil) }
    if let until = facts.waitUntil, until > now,
      until.timeIntervalSince(now) <= SyncLimits.waitMax
    {
      return entry(.waiting, since: runs?.failedSince ?? runs?.askedAt)
    }
    if facts.errors > 0 { return entry(.failing, since: runs?.failedSince ?? runs?.askedAt) }
    let interval = interval(facts, timing)
    if let dueAt, now.timeIntervalSince(dueAt) > max(interval, lateMin) {
      return entry(.late, since: dueAt)
    }
    guard runs?.askedAt != nil else { return entry(.new, since: facts.addedAt) }
    if let changedAt = facts.changedAt, now.timeIntervalSince(changedAt) > silentAfter {
      return entry(.silent, since: changedAt)
    }
    return entry(.current, since: facts.changedAt)
  }

  /// Returns the latest time at which a worker would begin the next run of a feed that does not
  /// fail.
  private static func dueAt(_ facts: Facts, _ runs: Runs?, _ timing: FeedTiming) -> Date? {
    guard let askedAt = runs?.askedAt else { return facts.addedAt }
    let wait = max(interval(facts, timing), Double(facts.freshFor ?? 0))
    return max(askedAt.addingTimeInterval(wait * (1 + timing.jitter)), facts.waitUntil ?? askedAt)
  }

  private static func interval(_ facts: Facts, _ timing: FeedTiming) -> TimeInterval {
    facts.every.map(Double.init) ?? timing.interval.inSeconds
  }

  /// The seconds by which each feed may be late: a worker has many.
  private static let lateMin = 120.0
  private static let silentAfter = 90 * 86_400.0
}
