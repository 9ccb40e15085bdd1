import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

extension Feeds {
  /// The outcome for one of several URLs.
  public enum Addition: Sendable {
    case added
    /// It was a feed, and has the new settings.
    case changed
    /// It is the same URL as an earlier one, whose position this is.
    case repeated(Int)
    /// It cannot be the URL of a feed, or a check found none there.
    case refused(any Error)
  }

  /// Adds a feed, or changes the settings of an existing one. A removed feed returns with its
  /// records.
  ///
  /// - Returns: True if it was no feed, or a removed one.
  /// - Throws: `invalidFeed` for a URL that is not http or https, `missingTarget` for an entity
  ///   that cannot take a feed, `YAMLError` for a mapping that does not fit the entities.
  @discardableResult
  public func add(_ url: String, _ settings: Settings = Settings()) async throws -> Bool {
    try await add(Subscription(url), settings)
  }

  /// Adds a feed as `add` of a URL does, with its title and its folder.
  @discardableResult
  public func add(
    _ subscription: Subscription, _ settings: Settings = Settings()
  ) async throws -> Bool {
    switch try await add(subscriptions: [subscription], settings).first {
    case .refused(let error): throw error
    case .added: return true
    default: return false
    }
  }

  /// Adds feeds, or changes the settings of existing ones, in commits of a few hundred.
  ///
  /// - Returns: What became of each URL. One that is refused does not affect the others.
  /// - Throws: The errors of the settings, before anything is changed, and those of the store,
  ///   after which the feeds of earlier commits stay.
  public func add(_ urls: [String], _ settings: Settings = Settings()) async throws -> [Addition] {
    try await add(subscriptions: urls.map { Subscription($0) }, settings)
  }

  /// Adds feeds as `add` of URLs does, each with its title and its folder.
  public func add(
    subscriptions: [Subscription], _ settings: Settings = Settings()
  ) async throws -> [Addition] {
    var outcomes: [Addition] = []
    var positions: [String: Int] = [:]
    var accepted: [(subscription: Subscription, position: Int)] = []
    for (position, subscription) in subscriptions.enumerated() {
      let url = subscription.url
      if let error = Self.refusal(of: url) {
        outcomes.append(.refused(error))
      } else if let first = positions[url] {
        outcomes.append(.repeated(first))
      } else {
        positions[url] = position
        accepted.append((subscription, position))
        outcomes.append(.added)
      }
    }
    if accepted.isEmpty { return outcomes }
    try check(settings, of: accepted.map(\.subscription.url))
    var start = 0
    while start < accepted.count {
      let chunk = Array(accepted[start..<min(start + SyncLimits.feedsPerCommit, accepted.count)])
      let isNew = try await store.write(author: "feed") { transaction in
        try chunk.map { try Self.add($0.subscription, settings, in: transaction) }
      }
      for (entry, isNew) in zip(chunk, isNew) where !isNew { outcomes[entry.position] = .changed }
      start += chunk.count
    }
    return outcomes
  }

  /// - Returns: True if it was no feed.
  private static func add(
    _ subscription: Subscription, _ settings: Settings, in transaction: WriteTransaction
  ) throws -> Bool {
    let url = subscription.url
    if let id = try transaction.objectID(Feed.entityName, by: ["url": .string(url)]) {
      var wasRemoved = false
      try transaction.update(Feed.self, id) { feed in
        wasRemoved = feed.isRemoved
        if feed.isRemoved {
          feed.forgetValidators()
          feed.restore(at: transaction.now)
        }
        feed.apply(settings)
        feed.apply(subscription)
      }
      return wasRemoved
    }
    var feed = Feed(url: url, entity: settings.entity ?? Self.entity, addedAt: transaction.now)
    feed.apply(settings)
    feed.apply(subscription)
    try transaction.insert(feed)
    return true
  }

  /// Returns a URL that is to become a feed if it turns out to be one: the number and the record
  /// of a removed feed. A run with ``SyncEngine/Options/candidateAddedAt`` makes it a feed again.
  ///
  /// - Throws: `invalidFeed`.
  public func candidate(_ url: String) async throws -> (id: Int64, feed: Feed) {
    if let error = Self.refusal(of: url) { throw error }
    return try await store.write(author: "feed") { transaction in
      if let id = try transaction.objectID(Feed.entityName, by: ["url": .string(url)]),
        let known = try transaction.get(Feed.self, id)
      {
        return (id.number, known)
      }
      var feed = Feed(url: url, entity: Self.entity, addedAt: Feed.neverAdded)
      feed.isRemoved = true
      return (try transaction.insert(feed).number, feed)
    }
  }

  /// Deletes a URL that has not become a feed, with its runs. Does nothing if it has ever been a
  /// feed, if its server has requested a wait, or while a run uses it.
  public func forgetCandidate(_ id: Int64) async throws {
    do {
      try await forget(id, under: try SyncLease(feedID: id, in: store))
    } catch let error as SyncError where error.code == .busy {
      return
    }
  }

  private func forget(_ id: Int64, under lease: borrowing SyncLease) async throws {
    try await store.write(author: "feed") { transaction in
      guard let feed = try transaction.get(Feed.self, Feed.objectID(id)), feed.isRemoved,
        feed.addedAt == Feed.neverAdded, feed.waitUntil == nil
      else { return }
      for run in try transaction.fetchIdentifiers(FeedRun.request(id)) {
        try transaction.delete(run)
      }
      try transaction.delete(Feed.objectID(id))
    }
  }

  // MARK: Checks

  /// Returns true if the secrets of the settings would be sent unencrypted to another machine.
  public static func sendsUnencrypted(_ settings: Settings, to url: String) -> Bool {
    guard !settings.secrets.isEmpty, let host = WebURL.host(of: url),
      url.lowercased().hasPrefix("http:")
    else { return false }
    return !Hosts.isLoopback(host)
  }

  /// Checks the settings for all URLs: a mapping, the new or a stored one, must fit the entity.
  ///
  /// - Throws: `invalidFeed`, `missingTarget`, `YAMLError`.
  public func check(_ settings: Settings, of urls: [String]) throws {
    for case .credential(let name) in settings.secrets.map(\.source)
    where !FeedSecret.Source.isCredentialName(name) {
      throw SyncError(
        .invalidFeed, "a credential is named as a file is, without a path",
        [("credential", name.filter { $0 >= " " })],
        advice: "give the name that LoadCredential= of the unit has")
    }
    try store.read { transaction in
      if let entity = settings.entity { _ = try FeedTarget(try transaction.layout(entity)) }
      guard settings.entity != nil || settings.mapping != nil else { return }
      var checked: Set<[String]> = []
      for url in urls {
        let known = try transaction.objectID(Feed.entityName, by: ["url": .string(url)])
          .flatMap { try transaction.get(Feed.self, $0) }
        guard let mapping = settings.mapping ?? known?.mappingText else { continue }
        let entity = settings.entity ?? known?.entity ?? Self.entity
        guard checked.insert([mapping.text, entity]).inserted else { continue }
        try mapping.check(schema: transaction.schema, entity: entity)
      }
    }
  }

  /// Returns the reason why the text cannot be the URL of a feed; nil if it can.
  static func refusal(of text: String) -> SyncError? {
    let url = URL(string: text)
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }),
      let url, ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
    else {
      return SyncError(
        .invalidFeed, "a feed has an http or https URL",
        [("url", shownURL(text).filter { $0 >= " " })],
        advice: "give one such as https://example.org/feed.json")
    }
    guard url.user == nil else {
      // Not repeated: what is in there is a secret.
      return SyncError(
        .invalidFeed, "a feed's URL has no user name or password", [("host", url.host ?? "")],
        advice: "put the secret into a file (--password-file, --token-file)")
    }
    return nil
  }
}
