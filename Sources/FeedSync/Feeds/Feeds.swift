import EntityModel
public import EntityStore
import FeedDocuments
public import Foundation
import HTTPClient
public import Migrations

/// The feeds of a store.
public struct Feeds: Sendable {
  let store: Store

  public init(_ store: Store) { self.store = store }

  /// The default entity of items.
  static let entity = "Episode"

  /// Returns the feeds that are not removed, in the order in which they were added.
  public func list() throws -> [(id: Int64, feed: Feed)] {
    try store.read { transaction in
      try transaction.fetchIdentifiers(FetchRequest(entityName: Feed.entityName)).compactMap { id in
        guard let feed = try transaction.get(Feed.self, id), !feed.isRemoved else { return nil }
        return (id.number, feed)
      }
    }
  }

  /// Returns the feed with this URL or number.
  ///
  /// - Throws: `unknownFeed`.
  public func find(_ name: String) throws -> (id: Int64, feed: Feed) {
    if let found = try feed(named: name) { return found }
    throw SyncError(
      .unknownFeed, "no such feed", [("feed", shownURL(name))],
      advice: try list().isEmpty
        ? "add one with `mooring feed add URL`" : "see `mooring feed list`")
  }

  /// Returns the feed with this URL or number; `nil` if there is none.
  ///
  /// - Complexity: O(log *n*).
  public func feed(named name: String) throws -> (id: Int64, feed: Feed)? {
    try store.read { transaction in
      let id =
        try transaction.objectID(Feed.entityName, by: ["url": .string(name)])
        ?? Int64(name).map { Feed.objectID($0) }
      guard let id, let feed = try transaction.get(Feed.self, id), !feed.isRemoved else {
        return nil
      }
      return (id.number, feed)
    }
  }

  /// Changes the record of a feed.
  public func update(
    _ id: Int64, _ change: @escaping @Sendable (inout Feed) throws -> Void
  ) async throws {
    try await store.write(author: "feed") { transaction in
      try transaction.update(Feed.self, Feed.objectID(id), change)
    }
  }

  /// Returns the last run of the feed, in any process; nil if there was none.
  public func lastRun(of id: Int64) -> LastRun? {
    SyncLease.lastRun(feedID: id, in: store)
  }

  /// Returns the facts about a feed that ``FeedTiming`` needs besides its record.
  public func circumstances(of id: Int64, _ feed: Feed, now: Date) throws
    -> FeedTiming.Circumstances
  {
    FeedTiming.Circumstances(
      lastRun: lastRun(of: id), hostWait: try store.read { try Hosts.wait(for: feed.host, in: $0) },
      now: now)
  }

  /// Returns the stored runs of a feed, the newest first.
  public func runs(of id: Int64) throws -> [FeedRun] {
    try store.read { transaction in
      try transaction.fetchIdentifiers(FeedRun.request(id)).compactMap {
        try transaction.get(FeedRun.self, $0)
      }
    }
  }

  /// Resumes a feed that was paused or is gone. A wait that its server has requested still applies.
  public func resume(_ id: Int64) async throws {
    try await update(id) { $0.reopen() }
  }
}

extension Feed {
  /// Returns the identity of the record with that number.
  static func objectID(_ number: Int64) -> ObjectID {
    ObjectID(entity: entityName, number: number)
  }

  mutating func reopen() {
    isPaused = false
    goneAt = nil
  }

  /// Makes a removed feed active. A wait that its server has requested still applies.
  mutating func restore(at now: Date) {
    let wait = waitUntil
    forgetErrors()
    waitUntil = wait
    reopen()
    isRemoved = false
    addedAt = now
  }

  /// Makes a candidate a feed. Does nothing if it is one, or was one since it was chosen.
  ///
  /// - Parameter addedAt: The time of its addition when it was chosen; nil for a feed.
  mutating func restore(fromCandidate addedAt: Date?, at now: Date) {
    if isRemoved, self.addedAt == addedAt { restore(at: now) }
  }
}

extension MigrationSource {
  /// The migrations of the sync's system entities. A store that is synced is opened with it.
  public static let feeds = MigrationSource(embedded: [
    ("0001_feeds", PackageResources._001_feeds_yaml),
    ("0002_feed_manners", PackageResources._002_feed_manners_yaml),
    ("0003_feed_mappings", PackageResources._003_feed_mappings_yaml),
    ("0004_feed_addresses", PackageResources._004_feed_addresses_yaml),
    ("0005_feed_settings", PackageResources._005_feed_settings_yaml),
    ("0006_feed_folders", PackageResources._006_feed_folders_yaml),
  ])
}
