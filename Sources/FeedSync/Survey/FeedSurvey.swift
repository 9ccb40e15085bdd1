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

    package init(askedAt: Date? = nil, succeededAt: Date? = nil, failedSince: Date? = nil) {
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
  /// - Parameter recorded: The runs that a worker has recorded, by the number of the feed. For the
  ///   feeds without them, and those that would be late, the files of the leases are asked, too: a
  ///   sync that no worker has started is recorded nowhere else.
  /// - Complexity: O(*n* · log *n*); a few microseconds for each feed.
  package init(
    _ transaction: ReadTransaction, of store: Store, _ timing: FeedTiming, now: Date,
    recorded: [Int64: Runs]
  ) throws {
    guard transaction.schema.entity(named: Feed.entityName) != nil else { return }
    let feeds = try transaction.layout(Feed.entityName)
    let columns = try Columns(feeds)
    lazy var lastRuns = LastRuns(store)
    let hostsWait = try Hosts.haveWaits(in: transaction)
    entries.reserveCapacity(recorded.count)
    try transaction.eachRow(of: feeds) { row in
      let facts = Facts(row, columns)
      if facts.isRemoved { return true }
      var runs = recorded[row.id]
      var entry = Self.entry(row.id, facts, runs, timing, now)
      if runs == nil || entry.condition == .late, let start = lastRuns.start(of: row.id),
        start > entry.askedAt ?? .distantPast
      {
        runs = runs ?? Runs()
        runs?.askedAt = start
        entry = Self.entry(row.id, facts, runs, timing, now)
      }
      // Only for a feed that would be late, because its whole record is read.
      if entry.condition == .late, hostsWait {
        let waiting = try facts.withHostWait(of: row.id, transaction, now)
        entry = Self.entry(row.id, waiting, runs, timing, now)
      }
      entries.append(entry)
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
    let facts = Facts(row, try Columns(feeds))
    if facts.isRemoved { return nil }
    let entry = Self.entry(id, facts, runs, timing, now)
    guard entry.condition == .late, try Hosts.haveWaits(in: transaction) else { return entry }
    let waiting = try facts.withHostWait(of: id, transaction, now)
    return Self.entry(id, waiting, runs, timing, now)
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
    var waitUntil: Date?
    let freshFor: Int64?
    let changedAt: Date?
    let addedAt: Date?

    init(_ row: StoredRow, _ columns: Columns) {
      isRemoved = row.bool(columns.isRemoved) ?? false
      isPaused = row.bool(columns.isPaused) ?? false
      errors = row.int64(columns.errors) ?? 0
      goneAt = row.date(columns.goneAt)
      every = row.int64(columns.every)
      waitUntil = row.date(columns.waitUntil)
      freshFor = row.int64(columns.freshFor)
      changedAt = row.date(columns.changedAt)
      addedAt = row.date(columns.addedAt)
    }

    /// Returns the facts with the wait that the feed's host has requested for all its feeds.
    func withHostWait(of id: Int64, _ transaction: ReadTransaction, _ now: Date) throws -> Facts {
      guard let feed = try transaction.get(Feed.self, Feed.objectID(id)),
        let until = try Hosts.wait(for: feed.host, in: transaction),
        until.timeIntervalSince(now) <= SyncLimits.waitMax
      else { return self }
      var facts = self
      facts.waitUntil = max(waitUntil ?? until, until)
      return facts
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
    if let dueAt, timing.isLate(dueAt: dueAt, every: facts.every, now: now) {
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
    let interval = facts.every.map(Double.init) ?? timing.interval.inSeconds
    let wait = max(interval, Double(facts.freshFor ?? 0))
    return max(askedAt.addingTimeInterval(wait * (1 + timing.jitter)), facts.waitUntil ?? askedAt)
  }

  private static let silentAfter = 90 * 86_400.0
}

/// The starts of the last runs of many feeds, from the files of their leases (see `SyncLease`).
///
/// The folder is listed once, so that a feed without a file costs no system call.
private struct LastRuns {
  private let store: Store
  private let feeds: Set<Int64>

  init(_ store: Store) {
    self.store = store
    feeds = SyncLease.feedsWithFile(in: store.folder)
  }

  /// Returns the start of the feed's last run, in any process; nil if there was none.
  func start(of feed: Int64) -> Date? {
    SyncLease.lastStart(feedID: feed, in: store, hasFile: feeds.contains(feed))
  }
}
