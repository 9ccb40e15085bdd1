import Console
import Foundation
import StatusModel
import StoreFigures

extension Page {
  /// The slow fetches, and the indexes that can be dropped with their migrations.
  static func fetches(_ status: StoreStatus) throws -> Page {
    var page = Page("Fetches", json: try JSONText.of(status.fetches))
    let times = Times(now: status.at)
    var slow = WebTable(
      "slow", "Slow fetches",
      [
        .init("entity"), .init("slowest"), .number("count"), .number("total"), .number("at most"),
        .init("last"), .init("plan"),
      ], empty: "None was longer than the worker's setting slowFetch.")
    for fetch in status.fetches.slow {
      slow.append([
        .init(fetch.entity), .init(fetch.request, html: "<code>\(fetch.request)</code>"),
        .init(Times.count(Int(clamping: fetch.count))), .init(Times.duration(fetch.totalSeconds)),
        .init(Times.duration(fetch.maxSeconds)), times.cell(fetch.lastAt), .init(fetch.plan),
      ])
    }
    page.blocks.append(.table(slow))
    var indexes = WebTable(
      "indexes", "Indexes that can be dropped",
      [.init("entity"), .init("index"), .init("reason"), .init("migration")],
      empty: "None. An index counts as unused after a week in which a worker has recorded fetches.")
    for advice in status.fetches.droppable {
      let reason =
        advice.duplicateOf.map { "\($0) serves the same fetches" }
        ?? advice.unusedSince.map { "unused \(times.relative($0))" } ?? advice.reason.rawValue
      let lines = HTML(
        advice.migration.split(separator: "\n").map { "\(String($0))\n" as HTML })
      indexes.append([
        .init(advice.entity), .init(advice.index), .init(reason),
        .init(
          advice.migration,
          html: "<details><summary>Show</summary><pre tabindex=\"0\">\(lines)</pre></details>"),
      ])
    }
    page.blocks.append(.table(indexes))
    return page
  }
}
