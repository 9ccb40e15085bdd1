import EntityModel
import EntityStore
import FeedSync
public import Foundation

/// The figures of one feed. All its runs count, also those without news.
public struct FeedFigures: Codable, Equatable, Sendable {
  /// The figures of a feed without its days.
  public struct Brief: Codable, Equatable, Sendable {
    /// The number of the feed in the store.
    public let id: Int64
    /// The start of the last run.
    public let askedAt: Date
    /// The start of the last run that did not fail.
    public let succeededAt: Date?
    /// The start of the first run of those that have failed since; `nil` if the last one has not.
    public let failedSince: Date?
  }

  public let id: Int64
  /// The start of the last run.
  public internal(set) var askedAt: Date
  /// The start of the last run that did not fail.
  public internal(set) var succeededAt: Date?
  /// The start of the first run of those that have failed since; `nil` if the last one has not.
  public internal(set) var failedSince: Date?
  public internal(set) var days = FeedDays()

  /// Creates the figures of one run.
  init(_ report: SyncReport, of feed: Int64, startedAt: Date, endedAt: Date) {
    id = feed
    askedAt = startedAt
    let hasFailed = report.outcome == .failed
    if hasFailed { failedSince = startedAt } else { succeededAt = startedAt }
    let isUnchanged = report.outcome == .notModified || report.outcome == .fresh
    days.add(
      [1, isUnchanged ? 1 : 0, hasFailed ? 1 : 0, report.new, report.changed],
      day: FigureResolution.day.slot(at: endedAt))
  }

  /// Adds runs that came after these.
  mutating func add(_ later: FeedFigures) {
    askedAt = later.askedAt
    if later.failedSince == nil || later.succeededAt != nil {
      failedSince = later.failedSince
    } else {
      failedSince = failedSince ?? later.failedSince
    }
    succeededAt = later.succeededAt ?? succeededAt
    days.add(later.days)
  }
}

extension FeedFigures {
  init(_ record: Record) throws {
    id = try record["feed"].int64Value ?? 0
    askedAt = try record["askedAt"].dateValue ?? .distantPast
    succeededAt = try record["succeededAt"].dateValue
    failedSince = try record["failedSince"].dateValue
    days = try record["days"].dataValue.flatMap(FeedDays.init) ?? FeedDays()
  }

  var values: [String: Value] {
    [
      "feed": .int64(id), "askedAt": .date(askedAt),
      "succeededAt": succeededAt.map(Value.date) ?? .null,
      "failedSince": failedSince.map(Value.date) ?? .null, "days": .data(days.data),
    ]
  }
}
