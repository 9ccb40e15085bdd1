import EntityModel
public import EntityStore
public import Foundation

/// The feeds of a store.
public struct Feeds: Sendable {
  private let store: Store

  public init(_ store: Store) { self.store = store }

  /// What the operator may say of a feed.
  public struct Settings: Sendable {
    public var entity: String?
    public var every: Duration?
    public var tokenFile: String?

    public init(entity: String? = nil, every: Duration? = nil, tokenFile: String? = nil) {
      self.entity = entity
      self.every = every
      self.tokenFile = tokenFile
    }
  }

  /// Adds a feed, or changes the settings of one that is there; a removed one comes back with its
  /// records.
  ///
  /// - Returns: Whether it is new.
  /// - Throws: `invalidFeed` for a URL that is not http or https, or a target entity that cannot
  ///   take a feed.
  @discardableResult
  public func add(_ url: String, _ settings: Settings = Settings()) async throws -> Bool {
    try Feeds.check(url)
    if let entity = settings.entity {
      try store.read { _ = try FeedTarget(try $0.layout(entity)) }
    }
    return try await store.write(author: "feed") { transaction in
      if let id = try transaction.objectID(Feed.entityName, by: ["url": .string(url)]) {
        try transaction.update(Feed.self, id) { feed in
          if feed.isRemoved { feed.forgetValidators() }
          feed.isRemoved = false
          feed.apply(settings)
        }
        return false
      }
      var feed = Feed(url: url, entity: settings.entity ?? "Episode", addedAt: transaction.now)
      feed.apply(settings)
      try transaction.insert(feed)
      return true
    }
  }

  /// All feeds that are not removed, in the order in which they were added.
  public func list() throws -> [(id: Int64, feed: Feed)] {
    try store.read { transaction in
      try transaction.fetchIdentifiers(FetchRequest(entityName: Feed.entityName)).compactMap { id in
        guard let feed = try transaction.get(Feed.self, id), !feed.isRemoved else { return nil }
        return (id.number, feed)
      }
    }
  }

  /// The feed with this URL, or with this number.
  ///
  /// - Throws: `unknownFeed`.
  public func find(_ name: String) throws -> (id: Int64, feed: Feed) {
    let all = try list()
    if let found = all.first(where: { $0.feed.url == name || String($0.id) == name }) {
      return found
    }
    throw SyncError(
      .unknownFeed, "no such feed", [("feed", name)],
      advice: all.isEmpty ? "add one with `mooring feed add URL`" : "see `mooring feed list`")
  }

  /// Changes what is stored of a feed.
  public func update(
    _ id: Int64, _ change: @escaping @Sendable (inout Feed) throws -> Void
  ) async throws {
    try await store.write(author: "feed") { transaction in
      try transaction.update(Feed.self, ObjectID(entity: Feed.entityName, number: id), change)
    }
  }

  /// When a run of the feed last began, in any process; `nil` if there was none.
  public static func lastRun(of id: Int64, in store: Store) -> Date? {
    SyncLease.lastRun(feedID: id, folder: store.folder)
  }

  private static func check(_ text: String) throws {
    let url = URL(string: text)
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }),
      let url, ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
    else {
      throw SyncError(
        .invalidFeed, "a feed has an http or https URL", [("url", text.filter { $0 >= " " })],
        advice: "give one such as https://example.org/feed.json")
    }
    guard url.user == nil else {
      // Not repeated: what is in there is a secret.
      throw SyncError(
        .invalidFeed, "a feed's URL has no user name or password", [("host", url.host ?? "")],
        advice: "put the secret into a file (--token-file)")
    }
  }
}

extension Feed {
  fileprivate mutating func apply(_ settings: Feeds.Settings) {
    if let entity = settings.entity { self.entity = entity }
    if let every = settings.every { self.every = max(1, every.components.seconds) }
    if let tokenFile = settings.tokenFile { self.tokenFile = tokenFile }
  }
}

extension MigrationSource {
  /// The system entities of the sync. A store that is synced is opened with it.
  public static let feeds = MigrationSource(embedded: [
    ("0001_feeds", PackageResources._001_feeds_yaml)
  ])
}
