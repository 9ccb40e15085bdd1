import EntityModel
public import EntityStore
public import Foundation

/// The result of one run of a feed, as it is stored.
///
/// The last 20 runs of a feed are stored. A run without news writes nothing;
/// ``Feeds/lastRun(of:)`` returns its time.
public struct FeedRun: Entity, Sendable {
  public static let entityName = "_FeedRun"

  public var feedID: Int64
  public var startedAt: Date
  /// The duration.
  public var seconds: Double
  /// A value of `SyncReport.Outcome`.
  public var outcome: String
  /// The error in one line.
  public var error: String?
  /// The counts with the first remark, as JSON.
  private var reportText: Data

  public static let attributes: [EntityAttribute<FeedRun>] = [
    .init("feedID", \.feedID), .init("startedAt", \.startedAt), .init("seconds", \.seconds),
    .init("outcome", \.outcome), .init("error", \.error), .init("report", \.reportText),
  ]

  public init(from record: inout RecordReader) throws {
    feedID = try record["feedID"]
    startedAt = try record["startedAt"]
    seconds = try record["seconds"]
    outcome = try record["outcome"]
    error = try record["error"]
    reportText = try record["report"]
  }

  init(feedID: Int64, startedAt: Date, endedAt: Date, _ report: SyncReport) throws {
    self.feedID = feedID
    // The clock may be set back during a run.
    self.startedAt = min(startedAt, endedAt)
    seconds = endedAt.timeIntervalSince(self.startedAt)
    outcome = report.outcome.rawValue
    error = report.error
    var report = report
    report.rejections = Array(report.rejections.prefix(1))
    report.error = nil
    reportText = try JSONEncoder().encode(report)
  }

  /// The counts, with the first remark.
  ///
  /// - Throws: `DecodingError` for a record of another version of the program.
  public var report: SyncReport {
    get throws { try JSONDecoder().decode(SyncReport.self, from: reportText) }
  }

  /// The run as a list shows it.
  package var summary: RunSummary { get throws { RunSummary(self, try counts) } }

  /// The counts that a list shows.
  var counts: RunCounts {
    get throws { try JSONDecoder().decode(RunCounts.self, from: reportText) }
  }
}

extension FeedRun {
  /// Adds a run, and removes runs beyond ``SyncLimits/runsKept``.
  static func add(_ run: FeedRun, in transaction: WriteTransaction) throws {
    try transaction.insert(run)
    for id in try transaction.fetchIdentifiers(request(run.feedID)).dropFirst(SyncLimits.runsKept) {
      try transaction.delete(id)
    }
  }

  /// Returns a request for the runs of a feed, the newest first.
  static func request(_ feedID: Int64) -> FetchRequest {
    FetchRequest(
      entityName: entityName, predicate: .comparison("feedID", .equal, .int64(feedID)),
      sortBy: [SortKey("startedAt", descending: true)])
  }
}
