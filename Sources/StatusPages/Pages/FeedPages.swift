import Console
import FeedSync
import Foundation
import StatusModel

extension Page {
  /// The list of feeds, the worst first.
  ///
  /// - Parameter first: The place in the list at which the page begins.
  static func feeds(_ status: StoreStatus, _ feeds: FeedsStatus, from first: Int) throws -> Page {
    var page = Page("Feeds", json: try JSONText.of(feeds))
    let times = Times(now: status.at)
    let counts = FeedCondition.allCases.compactMap { condition -> HTML? in
      let count = feeds.count(condition)
      return count == 0
        ? nil
        : "<li class=\"\(condition.rawValue)\">\(Times.count(count)) \(condition.rawValue)</li>"
    }
    page.blocks.append(.html("<ul class=\"counts\">\(HTML(counts))</ul>"))
    var table = WebTable(
      "feeds", "Feeds",
      [
        .init("feed"), .init("condition"), .init("since"), .init("last error"), .init("asked"),
        .init("next"), .number("items"), .number("new in a week"), .number("unchanged"),
        .init("14 days"),
      ], empty: "There are none yet. Add one: mooring feed add URL")
    for feed in feeds.worst {
      table.append([
        .init(feed.title ?? feed.url, link: "/feeds/\(feed.id)"),
        .init(
          feed.condition.rawValue,
          html: "<span class=\"\(feed.condition.rawValue)\">\(feed.condition.rawValue)</span>"),
        times.cell(feed.since), .init(feed.lastError ?? ""),
        times.cell(feed.askedAt, otherwise: "never"),
        times.cell(feed.nextAt), .init(Times.count(Int(feed.items))),
        .init(feed.itemsPerWeek.map(Times.count) ?? ""),
        .init(feed.unchangedShare.map { "\(Int($0 * 100)) %" } ?? ""),
        .init(
          feed.itemsByDay.map(String.init).joined(separator: " "),
          html: feed.itemsByDay.isEmpty
            ? .none : Charts.sparkline(feed.itemsByDay, label: "new items of each day")),
      ])
    }
    table.footer = pages("/feeds", from: first, shown: feeds.worst.count, of: feeds.total)
    page.blocks.append(.table(table))
    return page
  }

  /// One feed with its runs.
  static func feed(
    _ feed: FeedStatus, _ runs: [RunSummary], at now: Date, actions: HTML
  ) throws -> Page {
    struct Document: Encodable {
      let feed: FeedStatus
      let runs: [RunSummary]
    }
    var page = Page(
      feed.title ?? feed.url, json: try JSONText.of(Document(feed: feed, runs: runs)))
    let times = Times(now: now)
    page.blocks.append(
      .facts(
        "Feed \(feed.id)",
        [
          ("URL", .init(feed.url)), ("condition", .init(feed.condition.rawValue)),
          ("since", times.cell(feed.since)), ("asked", times.cell(feed.askedAt)),
          ("changed", times.cell(feed.changedAt)), ("next", times.cell(feed.nextAt)),
          ("items", .init(Times.count(Int(feed.items)))),
          ("errors in a row", .init(feed.errors > 0 ? Times.count(Int(feed.errors)) : "")),
          ("last error", .init(feed.lastError ?? "")),
        ]))
    page.blocks.append(.html(actions))
    if !feed.itemsByDay.isEmpty {
      let bars = feed.itemsByDay.enumerated().map { index, count in
        Charts.Bar(title: "\(feed.itemsByDay.count - 1 - index) days ago", value: Double(count))
      }
      page.blocks.append(
        .html(Charts.bars(bars, label: "New items of each day") { Times.count(Int($0)) }))
    }
    page.blocks.append(.table(runTable(of: runs.map { ($0, "feed \(feed.id)") }, times)))
    return page
  }

  /// The last runs of all feeds.
  static func runs(_ status: StoreStatus) throws -> Page {
    var page = Page("Runs", json: try JSONText.of(status.runs))
    page.blocks.append(.html(timeline(status)))
    page.blocks.append(
      .table(runTable(of: status.runs.map { ($0.run, $0.feed) }, Times(now: status.at))))
    return page
  }

  private static func runTable(
    of runs: [(run: RunSummary, feed: String)], _ times: Times
  ) -> WebTable {
    var table = WebTable(
      "runs", "Runs with news or errors",
      [
        .init("started"), .init("feed"), .init("outcome"), .number("new"), .number("changed"),
        .number("deleted"), .number("rejected"), .number("bytes"), .number("took"),
        .init("error"),
      ], empty: "No run has brought news or an error yet.")
    for (run, feed) in runs {
      table.append(
        [
          times.cell(run.startedAt), .init(feed, link: "/feeds/\(run.feed)"),
          .init(run.outcome),
        ]
          + [run.new, run.changed, run.deleted, run.rejected].map { .init(Times.count($0)) }
          + [
            .init(Times.bytes(run.bytes)), .init(Times.duration(run.seconds)),
            .init(run.error ?? ""),
          ])
    }
    return table
  }

  /// Links to the pages before and after a part of a list.
  static func pages(
    _ path: String, query: String = "", from first: Int, shown: Int, of total: Int
  ) -> HTML {
    guard shown < total else { return .none }
    let size = 50
    func link(_ start: Int, _ text: String) -> HTML {
      "<a href=\"\(path)?from=\(start)\(query)\">\(text)</a> "
    }
    let before = first > 0 ? link(max(0, first - size), "previous") : .none
    let after = first + shown < total ? link(first + shown, "next") : .none
    return """
      <p class="pages">\(Times.count(first + 1)) to \(Times.count(first + shown)) of \
      \(Times.count(total)) \(before)\(after)</p>
      """
  }
}

extension RunSummary {
  /// The result in words: `12 new, 3 changed`, or the error.
  package var words: String {
    if let error { return error }
    let parts = [(new, "new"), (changed, "changed"), (deleted, "deleted"), (rejected, "rejected")]
      .filter { $0.0 > 0 }.map { "\(Formatting.count(Int64($0.0))) \($0.1)" }
    return parts.isEmpty ? outcome : parts.joined(separator: ", ")
  }
}
