public import FeedDocuments
import Foundation

extension Feeds {
  /// The operator's settings of a feed. What is nil stays as it is.
  public struct Settings: Sendable {
    /// A new value, or the return to the default.
    public enum Change: Sendable {
      case set(Int64)
      case reset
    }

    public var entity: String?
    public var every: Duration?
    /// The secrets to set. A token replaces a password, and the reverse.
    public var secrets: [FeedSecret]
    /// True to remove the feed's secrets before the new ones are set.
    public var removesSecrets: Bool
    /// The mapping of the feed's documents, in place of that of their format.
    public var mapping: FeedMappingText?
    /// True if the feed may have a private address after it has had a public one.
    public var allowsPrivateAddress: Bool?
    /// The largest page in decoded bytes, within ``sizeLimits``.
    public var sizeLimit: Change?
    /// The seconds of one request, within ``timeLimits``.
    public var timeLimit: Change?
    /// The facts that a check has found.
    package var found: Found?

    package struct Found: Sendable {
      /// The title of the document.
      package var title: String?
      /// True if the feed's host has a public address.
      package var isHostPublic: Bool

      package init(title: String?, isHostPublic: Bool) {
        (self.title, self.isHostPublic) = (title, isHostPublic)
      }
    }

    /// True if a feed that exists would get other settings.
    var changesFeeds: Bool {
      entity != nil || every != nil || !secrets.isEmpty || removesSecrets || mapping != nil
        || allowsPrivateAddress != nil || sizeLimit != nil || timeLimit != nil
    }

    /// The bounds of ``sizeLimit``. A page is held in memory.
    public static let sizeLimits: ClosedRange<Int64> = 1 << 10...1 << 30
    public static let timeLimits: ClosedRange<Int64> = 1...3_600

    public init(
      entity: String? = nil, every: Duration? = nil, secrets: [FeedSecret] = [],
      removesSecrets: Bool = false, mapping: FeedMappingText? = nil,
      allowsPrivateAddress: Bool? = nil, sizeLimit: Change? = nil, timeLimit: Change? = nil
    ) {
      self.entity = entity
      self.every = every
      self.secrets = secrets
      self.removesSecrets = removesSecrets
      self.mapping = mapping
      self.allowsPrivateAddress = allowsPrivateAddress
      self.sizeLimit = sizeLimit
      self.timeLimit = timeLimit
    }
  }
}

extension Feeds {
  /// A URL, and how readers show the feed. What is nil stays as it is.
  public struct Subscription: Hashable, Sendable {
    public var url: String
    /// On one line, and cut at 200 characters, as the titles of folders and the categories.
    public var title: String?
    /// The titles of the folders around the feed, the outermost first; empty for no folder.
    public var folder: [String]?
    public var categories: [String]?

    public init(
      _ url: String, title: String? = nil, folder: [String]? = nil, categories: [String]? = nil
    ) {
      self.url = url
      self.title = title
      self.folder = folder
      self.categories = categories
    }
  }
}

extension Feed {
  mutating func apply(_ subscription: Feeds.Subscription) {
    if let title = subscription.title?.shortened() {
      customTitle = title == self.title ? nil : title
    }
    func list(_ titles: [String]) -> [String]? {
      let titles = titles.compactMap { $0.shortened() }
      return titles.isEmpty ? nil : titles
    }
    if let titles = subscription.folder { folder = list(titles) }
    if let titles = subscription.categories { categories = list(titles) }
  }

  mutating func apply(_ settings: Feeds.Settings) {
    let old = settingsHash
    if let entity = settings.entity { self.entity = entity }
    if let every = settings.every { self.every = max(1, every.components.seconds) }
    if settings.removesSecrets { secrets = FeedSecrets() }
    for secret in settings.secrets { secrets.set(secret) }
    if settingsHash != old { forgetAnswers() }
    if let limit = settings.sizeLimit { sizeLimit = limit.value(within: Feeds.Settings.sizeLimits) }
    if let limit = settings.timeLimit { timeLimit = limit.value(within: Feeds.Settings.timeLimits) }
    if let allows = settings.allowsPrivateAddress { allowsPrivateAddress = allows }
    if let found = settings.found {
      title = title ?? found.title?.shortened()
      if found.isHostPublic { hasPublicAddress = true }
    }
    if let mapping = settings.mapping, mapping.text != self.mapping {
      self.mapping = mapping.text
      // Documents that have not changed are read again.
      forgetValidators()
    }
  }
}

extension Feeds.Settings.Change {
  fileprivate func value(within bounds: ClosedRange<Int64>) -> Int64? {
    switch self {
    case .set(let value): min(max(value, bounds.lowerBound), bounds.upperBound)
    case .reset: nil
    }
  }
}
