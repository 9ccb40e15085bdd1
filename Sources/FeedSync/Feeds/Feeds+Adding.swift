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
    /// It cannot be the URL of a feed.
    case refused(SyncError)
  }

  /// Adds a feed, or changes the settings of an existing one. A removed feed returns with its
  /// records.
  ///
  /// - Returns: True if it is new.
  /// - Throws: `invalidFeed` for a URL that is not http or https, `missingTarget` for an entity
  ///   that cannot take a feed, `YAMLError` for a mapping that does not fit the entities.
  @discardableResult
  public func add(_ url: String, _ settings: Settings = Settings()) async throws -> Bool {
    switch try await add([url], settings).first {
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
    var outcomes: [Addition] = []
    var positions: [String: Int] = [:]
    var accepted: [(url: String, position: Int)] = []
    for (position, url) in urls.enumerated() {
      if let error = Self.refusal(of: url) {
        outcomes.append(.refused(error))
      } else if let first = positions[url] {
        outcomes.append(.repeated(first))
      } else {
        positions[url] = position
        accepted.append((url, position))
        outcomes.append(.added)
      }
    }
    if accepted.isEmpty { return outcomes }
    try check(settings, of: accepted.map(\.url))
    var start = 0
    while start < accepted.count {
      let chunk = Array(accepted[start..<min(start + SyncLimits.feedsPerCommit, accepted.count)])
      let isNew = try await store.write(author: "feed") { transaction in
        try chunk.map { try Self.add($0.url, settings, in: transaction) }
      }
      for (entry, isNew) in zip(chunk, isNew) where !isNew { outcomes[entry.position] = .changed }
      start += chunk.count
    }
    return outcomes
  }

  /// - Returns: True if the feed is new.
  private static func add(
    _ url: String, _ settings: Settings, in transaction: WriteTransaction
  ) throws -> Bool {
    if let id = try transaction.objectID(Feed.entityName, by: ["url": .string(url)]) {
      try transaction.update(Feed.self, id) { feed in
        if feed.isRemoved {
          feed.forgetValidators()
          feed.reopen()
        }
        feed.isRemoved = false
        feed.apply(settings)
      }
      return false
    }
    var feed = Feed(url: url, entity: settings.entity ?? Self.entity, addedAt: transaction.now)
    feed.apply(settings)
    try transaction.insert(feed)
    return true
  }

  // MARK: Checks

  /// Checks the settings for all URLs: a mapping, the new or a stored one, must fit the entity.
  private func check(_ settings: Settings, of urls: [String]) throws {
    if let name = settings.credential, !BearerToken.isCredentialName(name) {
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
  private static func refusal(of text: String) -> SyncError? {
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
        advice: "put the secret into a file (--token-file)")
    }
    return nil
  }
}
