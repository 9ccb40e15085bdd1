import Console
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import WorkerService

/// The times and reasons of the feeds' next requests, for `mooring sync --explain`. Sends no
/// request.
struct SyncPreview {
  private struct Row: Encodable {
    let number: Int64
    let feed: String
    /// True if `mooring sync` would request it now.
    let isAsked: Bool
    /// The time of the worker's next request; nil if it has none.
    let next: Date?
    let why: String
  }

  private let rows: [Row]

  /// - Parameter names: The URLs or numbers of feeds; none for all feeds.
  /// - Throws: `SyncError` for a name that is no feed's.
  init(_ store: Store, naming names: [String]) throws {
    let feeds = Feeds(store)
    let timing = try FeedTiming.ofWorker()
    let chosen = try names.isEmpty ? feeds.list() : names.map(feeds.find)
    let now = store.now()
    rows = try chosen.map { id, feed in
      let circumstances = try feeds.circumstances(of: id, feed, now: now)
      let words = FeedWords(feed, timing, circumstances)
      return Row(
        number: id, feed: shownURL(feed.url), isAsked: words.isAsked, next: words.next?.at,
        why: words.why)
    }
  }

  func write(_ format: OutputFormat) throws {
    let titles = ["number", "feed", "now", "next", "why"]
    try StandardOutput.with { output in
      try output.write(
        rows, as: format, table: rows.isEmpty ? nil : table(titles), titles: titles
      ) { cells($0) }
    }
  }

  private func table(_ titles: [String]) -> TextTable {
    var table = TextTable(titles.map { .init($0, $0 == "number" ? .number : .text) })
    for row in rows { table.append(cells(row)) }
    return table
  }

  private func cells(_ row: Row) -> [String] {
    [
      String(row.number), row.feed, row.isAsked ? "yes" : "no",
      row.next.map { Value.date($0).text } ?? "never", row.why,
    ]
  }
}

/// The description of a feed's next run.
struct FeedWords {
  /// The worker's next request; nil if it has none.
  let next: NextRun?
  /// True if `mooring sync` would request it now.
  let isAsked: Bool
  let why: String

  init(_ feed: Feed, _ timing: FeedTiming, _ now: FeedTiming.Circumstances) {
    next = timing.next(feed, now).map { run in
      let second = run.at.timeIntervalSinceReferenceDate.rounded(.up)
      return NextRun(at: Date(timeIntervalSinceReferenceDate: second), reason: run.reason)
    }
    let promise = FeedTiming.promise(feed, now)
    isAsked = next != nil && promise == nil
    why = Self.why(feed, next, promise, now)
  }

  private static func why(
    _ feed: Feed, _ next: NextRun?, _ promise: NextRun?, _ now: FeedTiming.Circumstances
  ) -> String {
    if feed.isPaused, let goneAt = feed.goneAt {
      return "gone for good, its server said at \(Value.date(goneAt).text); `mooring feed resume`"
    }
    if feed.isPaused { return "paused; `mooring feed resume`" }
    return (promise ?? next).map { words($0, feed, now) } ?? "removed"
  }

  private static func words(
    _ run: NextRun, _ feed: Feed, _ now: FeedTiming.Circumstances
  ) -> String {
    let isDue = run.at <= now.now
    let left = Formatting.duration(.seconds(max(0, run.at.timeIntervalSince(now.now))))
    switch run.reason {
    case .new: return "never asked before"
    case .clock: return "the last run began in the future: the clock was set"
    case .interval:
      return isDue ? "its interval has passed" : "the worker's turn comes in \(left)"
    case .failing:
      let failed = "\(Formatting.count(feed.errors)) failed runs in a row"
      return isDue ? failed : "\(failed); the worker waits another \(left)"
    case .fresh: return "its last answer stays good for another \(left), as its server said"
    case .waiting: return "its server has asked to wait, for another \(left)"
    case .hostWaiting:
      return "\(feed.host) has asked to wait with all its feeds, for another \(left)"
    }
  }
}

extension FeedTiming {
  /// Returns the timing of this machine's worker, by its settings.
  static func ofWorker() throws -> FeedTiming {
    let environment = ProcessInfo.processInfo.environment
    let settings = try WorkerSettings.load(environment: environment).settings
    return FeedTiming(interval: settings.syncEvery, jitter: settings.jitter)
  }
}
