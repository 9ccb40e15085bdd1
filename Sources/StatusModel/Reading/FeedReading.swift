import EntityModel
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import StoreFigures

extension StatusReader {
  /// Returns the feeds, with a page of the list that begins with the worst.
  ///
  /// - Parameter first: The place in the list at which the page begins.
  func feeds(from first: Int, _ transaction: ReadTransaction, _ now: Date) throws -> FeedsStatus {
    let survey = try FeedSurvey(
      transaction, of: store, timing, now: now, recorded: recordedRuns(transaction))
    var counts: [String: Int] = [:]
    for (condition, count) in survey.counts { counts[condition.rawValue] = count }
    return FeedsStatus(
      total: survey.entries.count, counts: counts,
      worst: try survey.entries.dropFirst(first).prefix(listed).compactMap { entry in
        try feed(entry, transaction, now)
      })
  }

  /// Returns one feed; nil if there is none.
  func feed(_ number: Int64, _ transaction: ReadTransaction, _ now: Date) throws -> FeedStatus? {
    let runs = Feeds(store).lastRun(of: number).map { FeedSurvey.Runs(askedAt: $0.at) }
    return try FeedSurvey.entry(number, transaction, timing, now: now, runs: runs)
      .flatMap { try feed($0, transaction, now) }
  }

  private func feed(
    _ entry: FeedSurvey.Entry, _ transaction: ReadTransaction, _ now: Date
  ) throws -> FeedStatus? {
    let id = ObjectID(entity: Feed.entityName, number: entry.id)
    guard let feed = try transaction.get(Feed.self, id) else { return nil }
    let lastRun = entry.askedAt.map { LastRun(at: $0, hasEnded: feed.errors == 0) }
    let days = try StoreFigures(transaction).feed(entry.id)?.days.days
    let next = lastRun.flatMap {
      timing.next(feed, FeedTiming.Circumstances(lastRun: $0, now: now))
    }
    return FeedStatus(
      id: entry.id, url: shownURL(feed.url), title: feed.shownTitle, condition: entry.condition,
      since: entry.since, askedAt: entry.askedAt, changedAt: feed.changedAt, nextAt: next?.at,
      errors: feed.errors, lastError: feed.lastError, items: feed.lastItems,
      itemsPerWeek: days.map { $0.suffix(7).map(\.newItems).reduce(0, +) },
      unchangedShare: days.flatMap(Self.unchangedShare),
      itemsByDay: days.map { $0.map(\.newItems) } ?? [])
  }

  private static func unchangedShare(of days: [FeedDays.Day]) -> Double? {
    let runs = days.map(\.runs).reduce(0, +)
    return runs > 0 ? Double(days.map(\.unchangedRuns).reduce(0, +)) / Double(runs) : nil
  }

  /// Returns the last runs of all feeds.
  func runs(_ transaction: ReadTransaction) throws -> [RunStatus] {
    var names: [Int64: String] = [:]
    return try Feeds.newestRuns(limit: listed, in: transaction).map { run in
      let name = try names[run.feed] ?? self.name(ofFeed: run.feed, transaction)
      names[run.feed] = name
      return RunStatus(run: run, feed: name)
    }
  }

  private func name(ofFeed number: Int64, _ transaction: ReadTransaction) throws -> String {
    let id = ObjectID(entity: Feed.entityName, number: number)
    guard let feed = try transaction.get(Feed.self, id) else { return "feed \(number)" }
    return feed.shownTitle ?? shownURL(feed.url)
  }
}
