public import FeedSync
public import Foundation

/// The feeds of a store.
public struct FeedsStatus: Codable, Sendable {
  /// The number of feeds.
  public let total: Int
  /// The number of feeds in each condition.
  public let counts: [String: Int]
  /// The feeds, the worst first; at most as many as were asked for.
  public let worst: [FeedStatus]

  public func count(_ condition: FeedCondition) -> Int { counts[condition.rawValue] ?? 0 }
}

/// One feed.
public struct FeedStatus: Codable, Sendable, Identifiable {
  public let id: Int64
  /// The URL without secrets.
  public let url: String
  public let title: String?
  public let condition: FeedCondition
  /// The time since which it is in this condition; nil if that is not known.
  public let since: Date?
  /// The start of the last run, also of one without news.
  public let askedAt: Date?
  /// The time of the last run that changed something.
  public let changedAt: Date?
  /// The worker's next request; nil if it has none, or no run is known.
  public let nextAt: Date?
  /// The number of failed runs in a row.
  public let errors: Int64
  public let lastError: String?
  public let items: Int64
  /// The new items of the last seven days; nil if they were not counted.
  public let itemsPerWeek: Int?
  /// The part of the last fortnight's runs that found nothing new, from 0 to 1.
  public let unchangedShare: Double?
  /// The new items of each of the last days, the oldest first; empty if they were not counted.
  public let itemsByDay: [Int]
}

/// One run of a feed.
public struct RunStatus: Codable, Sendable {
  public let run: RunSummary
  /// The title of the feed, or its URL without secrets.
  public let feed: String
}
