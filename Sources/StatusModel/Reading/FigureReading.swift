import EntityStore
import FeedSync
import Foundation
import StoreFigures

extension StatusReader {
  private static let day = 86_400.0

  func trend(_ transaction: ReadTransaction, _ now: Date) throws -> TrendStatus {
    let figures = StoreFigures(transaction)
    return TrendStatus(
      hours: try figures.slots(.hour, from: now - 2 * Self.day, to: now),
      days: try figures.slots(.day, from: now - 90 * Self.day, to: now))
  }

  func fetches(_ transaction: ReadTransaction, _ now: Date) throws -> FetchesStatus {
    let figures = StoreFigures(transaction)
    return FetchesStatus(
      slow: Array(try figures.slowFetches().prefix(listed)),
      droppable: try figures.indexAdvice(now: now))
  }

  /// Returns the bytes that were in use some days ago; nil if they were not recorded.
  func usedBytes(daysAgo days: Double, _ transaction: ReadTransaction, _ now: Date) throws -> Int? {
    let then = now - days * Self.day
    return try StoreFigures(transaction).slots(.hour, from: then, to: then + 7_200)
      .lazy.compactMap(\.figures.gauges.storeBytes).first.map { Int(clamping: $0) }
  }

  /// Returns the times of the feeds' last runs, as a worker has recorded them.
  func recordedRuns(_ transaction: ReadTransaction) throws -> [Int64: FeedSurvey.Runs] {
    let figures = StoreFigures(transaction)
    var runs: [Int64: FeedSurvey.Runs] = [:]
    runs.reserveCapacity(try figures.feedCount)
    try figures.eachFeed { feed in
      runs[feed.id] = FeedSurvey.Runs(
        askedAt: feed.askedAt, succeededAt: feed.succeededAt, failedSince: feed.failedSince)
    }
    return runs
  }
}
