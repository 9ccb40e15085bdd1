import Console
import DurableJobs
import FeedSync
import Foundation
import StatusModel
import StatusPages

extension TopTable {
  /// The table of a view.
  init(_ view: TopView, of status: StoreStatus) {
    switch view {
    case .feeds: self.init(feedsOf: status)
    case .jobs: self.init(jobsOf: status)
    case .runs: self.init(runsOf: status)
    case .workers: self.init(workersOf: status)
    case .problems: self.init(problemsOf: status)
    }
  }

  private init(feedsOf status: StoreStatus) {
    columns = [
      Column("condition", rank: 0), Column("since", rank: 2, .number),
      Column("asked", rank: 5, .number), Column("next", rank: 6, .number),
      Column("errors", rank: 4, .number), Column("title", rank: 1), Column("last error", rank: 3),
    ]
    whenEmpty = "no feeds; add one with `mooring feed add URL`"
    rows = status.feeds.worst.map { feed in
      Row(
        key: "feed \(feed.id)", style: feed.condition.style,
        cells: [
          Cell(feed.condition.rawValue), status.age(feed.since), status.age(feed.askedAt),
          status.next(feed.nextAt),
          Cell(feed.errors == 0 ? "" : "\(feed.errors)", Double(feed.errors)),
          Cell(feed.title ?? feed.url), Cell(feed.lastError),
        ],
        details: [
          ("feed", "\(feed.id)"), ("title", feed.title), ("url", feed.url),
          ("condition", feed.condition.rawValue), ("since", status.time(feed.since)),
          ("asked", status.time(feed.askedAt)), ("changed", status.time(feed.changedAt)),
          ("next", status.time(feed.nextAt)), ("errors", "\(feed.errors) in a row"),
          ("last error", feed.lastError), ("items", Formatting.count(feed.items)),
          ("items a week", feed.itemsPerWeek.map { Formatting.count(Int64($0)) }),
          ("command", "mooring feed show \(feed.id)"),
        ])
    }
  }

  private init(jobsOf status: StoreStatus) {
    columns = [
      Column("state", rank: 0), Column("job", rank: 1, .number), Column("kind", rank: 2),
      Column("queue", rank: 5), Column("since", rank: 3, .number),
      Column("tries", rank: 6, .number), Column("error or progress", rank: 4),
    ]
    whenEmpty = "no job runs, has failed or is poisoned"
    guard let jobs = status.jobs else { return }
    rows = jobs.poisoned.map { Row($0, .critical, status) }
    rows += jobs.failures.map { Row($0, status) }
    rows += jobs.running.map { Row($0, .plain, status) }
  }

  private init(runsOf status: StoreStatus) {
    columns = [
      Column("started", rank: 1, .number), Column("feed", rank: 0), Column("outcome", rank: 2),
      Column("new", rank: 4, .number), Column("changed", rank: 5, .number),
      Column("deleted", rank: 6, .number), Column("rejected", rank: 7, .number),
      Column("bytes", rank: 9, .number), Column("took", rank: 8, .number), Column("error", rank: 3),
    ]
    whenEmpty = "no run has brought news yet"
    rows = status.runs.map { run in
      let summary = run.run
      let took = Formatting.duration(.seconds(summary.seconds))
      let bytes = Formatting.bytes(Int64(summary.bytes))
      return Row(
        key: "run \(summary.feed) \(summary.startedAt.timeIntervalSince1970)",
        style: summary.error == nil ? .plain : .warning,
        cells: [
          status.age(summary.startedAt), Cell(run.feed), Cell(summary.outcome), Cell(summary.new),
          Cell(summary.changed), Cell(summary.deleted), Cell(summary.rejected),
          Cell(bytes, Double(summary.bytes)), Cell(took, summary.seconds), Cell(summary.error),
        ],
        details: [
          ("feed", "\(summary.feed)"), ("title", run.feed),
          ("started", status.time(summary.startedAt)), ("took", took),
          ("outcome", summary.outcome), ("result", summary.words), ("error", summary.error),
          ("bytes", bytes), ("command", "mooring feed show \(summary.feed)"),
        ])
    }
  }

  private init(workersOf status: StoreStatus) {
    columns = [
      Column("kind", rank: 2), Column("name", rank: 0), Column("state", rank: 1),
      Column("since/next", rank: 3, .number), Column("about", rank: 4),
    ]
    whenEmpty = "no worker runs, and there are no schedules"
    rows = status.workers.map { Row($0, status) }
    rows += (status.jobs?.schedules ?? []).map { Row($0, status) }
  }

  private init(problemsOf status: StoreStatus) {
    columns = [
      Column("severity", rank: 1), Column("since", rank: 3, .number), Column("section", rank: 4),
      Column("problem", rank: 0), Column("advice", rank: 2),
    ]
    whenEmpty = "all is good"
    var seen: [String: Int] = [:]
    rows = status.problems.map { problem in
      // The summary has numbers that change.
      let name = "\(problem.section) \(problem.advice)"
      seen[name, default: 0] += 1
      let rank = Problem.Severity.allCases.firstIndex(of: problem.severity).map(Double.init)
      return Row(
        key: "\(name) \(seen[name] ?? 0)", style: problem.severity.style,
        cells: [
          Cell(problem.severity.rawValue, rank), status.age(problem.since),
          Cell(problem.section.rawValue), Cell(problem.summary), Cell(problem.advice),
        ],
        details: [
          ("problem", problem.summary), ("severity", problem.severity.rawValue),
          ("section", problem.section.rawValue), ("since", status.time(problem.since)),
          ("advice", problem.advice),
        ])
    }
  }
}
