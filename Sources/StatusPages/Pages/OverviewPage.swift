import Console
import DurableJobs
import FeedSync
import Foundation
import StatusModel
import StoreFigures

extension Page {
  /// The first page: what needs attention, then a tile for each section.
  static func overview(_ status: StoreStatus) throws -> Page {
    var page = Page("Overview", json: try JSONText.of(status))
    let times = Times(now: status.at)
    page.blocks.append(.html(problems(status, times)))
    page.blocks.append(.html("<section class=\"tiles\">\(HTML(tiles(status, times)))</section>"))
    page.blocks.append(.html(timeline(status)))
    page.blocks.append(.html(trend(status)))
    return page
  }

  /// The problems, the worst first.
  static func problems(_ status: StoreStatus, _ times: Times) -> HTML {
    if status.problems.isEmpty {
      return "<section><p class=\"good\">Nothing needs attention.</p></section>"
    }
    let items = status.problems.map { problem -> HTML in
      let since: HTML =
        problem.since.map { " <span class=\"muted\">\(times.cell($0).html)</span>" } ?? .none
      return """
        <li class="\(problem.severity.rawValue)"><b>\(problem.severity.rawValue)</b> \
        <a href="\(path(of: problem.section))">\(problem.section.rawValue)</a>: \
        \(problem.summary)\(since)<br/><span class="advice">\(advice(problem.advice))</span></li>
        """
    }
    let title = status.needsAttention ? "Needs attention" : "Worth knowing"
    return "<section><h2>\(title)</h2><ul class=\"problems\">\(HTML(items))</ul></section>"
  }

  /// Shows what stands between backquotes as code.
  private static func advice(_ text: String) -> HTML {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    return HTML(
      parts.enumerated().map { index, part in
        index.isMultiple(of: 2) ? "\(String(part))" : "<code>\(String(part))</code>"
      })
  }

  private static func path(of section: Problem.Section) -> String {
    switch section {
    case .feeds: "/feeds"
    case .jobs, .workers: "/jobs"
    case .store, .history, .migrations, .backups, .hub: "/store"
    }
  }

  // MARK: Tiles

  private static func tiles(_ status: StoreStatus, _ times: Times) -> [HTML] {
    let feeds = status.feeds
    let bad = feeds.count(.gone) + feeds.count(.failing) + feeds.count(.late)
    var tiles = [
      tile(
        "/feeds", "Feeds", Times.count(feeds.total),
        bad == 0 ? "all on schedule" : "\(Times.count(bad)) need attention", isBad: bad > 0)
    ]
    if let jobs = status.jobs {
      let dead = jobs.count(.poisoned) + jobs.count(.discarded)
      tiles.append(
        tile(
          "/jobs", "Jobs", "\(Times.count(jobs.count(.ready))) ready",
          "\(Times.count(jobs.count(.running))) running, \(Times.count(dead)) failed",
          isBad: dead > 0))
    }
    let alive = status.workers.filter(\.runner.isAlive).count
    tiles.append(
      tile("/jobs#workers", "Workers", Times.count(alive), alive == 0 ? "none runs" : "alive"))
    tiles.append(
      tile(
        "/store", "Store", Times.bytes(status.file.bytes),
        "\(Times.bytes(status.file.usedBytes)) used"))
    let records = status.file.entities.map(\.records).reduce(0, +)
    tiles.append(
      tile("/records", "Records", Times.count(records), "\(status.file.entities.count) entities"))
    let backup = status.backups.first { $0.exists }
    tiles.append(
      tile(
        "/store#backups", "Backup", backup.map { times.relative($0.madeAt) } ?? "none",
        backup.map { "verified \(times.relative($0.verifiedAt))" } ?? "make one"))
    return tiles
  }

  private static func tile(
    _ path: String, _ title: String, _ value: String, _ note: String, isBad: Bool = false
  ) -> HTML {
    """
    <a class="tile\(isBad ? " bad" : "")" href="\(path)"><span>\(title)</span> <b>\(value)</b> \
    <span class="muted">\(note)</span></a>
    """
  }

  // MARK: Charts

  static func timeline(_ status: StoreStatus) -> HTML {
    let marks = status.runs.map { run in
      Charts.Mark(
        at: run.run.startedAt, seconds: run.run.seconds,
        title: "\(run.feed), \(Times.exact(run.run.startedAt)): \(run.run.words)",
        isBad: run.run.error != nil)
    }
    let start = status.at.addingTimeInterval(-86_400)
    return Charts.timeline(marks, from: start, to: status.at, label: "Runs of the last day")
  }

  /// The figures by hours and days. An hour in which nothing happened has no figures.
  static func trend(_ status: StoreStatus) -> HTML {
    let (hours, days) = (status.trend.hours, status.trend.days)
    func bars(
      _ slots: [FigureSlot], _ label: String, style: String = "",
      _ value: (SlotFigures) -> Int64?
    ) -> HTML {
      let bars = slots.compactMap { slot in
        value(slot.figures).map {
          Charts.Bar(title: Times.exact(slot.start), value: Double($0), style: style)
        }
      }
      return Charts.bars(bars, label: label) { Times.count(Int($0)) }
    }
    return bars(hours, "New items by hour") { $0.newItems }
      + bars(hours, "Failed runs by hour", style: "bad") { $0.failed }
      + bars(hours, "Feeds that are late or fail, by hour", style: "bad") {
        ($0.gauges.feedsLate ?? 0) + ($0.gauges.feedsFailing ?? 0)
      }
      + bars(hours, "Jobs by hour") { $0.jobsSucceeded + $0.jobsRetried + $0.jobsFailed }
      + runTimes(days.suffix(2)) + bars(days, "New items by day") { $0.newItems }
      + bars(days, "Bytes of the store by day") { $0.gauges.storeBytes }
      + errors(days.suffix(2))
  }

  /// The times that runs took, as a histogram.
  private static func runTimes(_ days: some Sequence<FigureSlot>) -> HTML {
    var times = DurationHistogram()
    for day in days { times.add(day.figures.runTimes) }
    let bars = times.buckets.map { upper, count in
      Charts.Bar(title: "under \(Times.duration(upper))", value: Double(count))
    }
    return Charts.bars(bars, label: "Runs of today and yesterday by the time that they took") {
      Times.count(Int($0))
    }
  }

  private static func errors(_ days: some Sequence<FigureSlot>) -> HTML {
    var counts: [String: Int64] = [:]
    for day in days { counts.merge(day.figures.errors, uniquingKeysWith: +) }
    if counts.isEmpty { return .none }
    let facts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { kind, count in
      "<div><dt>\(kind)</dt><dd>\(Times.count(Int(count)))</dd></div>" as HTML
    }
    return "<section><h2>Errors of today and yesterday</h2><dl>\(HTML(facts))</dl></section>"
  }
}
