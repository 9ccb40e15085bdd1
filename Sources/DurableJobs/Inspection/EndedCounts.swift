import EntityModel
import EntityStore
import Foundation

/// The sum of the aggregates of several minutes.
struct EndedCounts {
  private var succeeded: Int64 = 0
  private var retried: Int64 = 0
  private var failed: Int64 = 0
  private var waits = DurationHistogram()
  private var runs = DurationHistogram()

  mutating func add(_ record: Record) throws {
    succeeded += try record["succeeded"].int64Value ?? 0
    retried += try record["retried"].int64Value ?? 0
    failed += try record["failed"].int64Value ?? 0
    waits.add(DurationHistogram(try record["waits"].dataValue ?? Data()))
    runs.add(DurationHistogram(try record["runs"].dataValue ?? Data()))
  }

  func ended(in minutes: Double) -> JobStatistics.Ended {
    JobStatistics.Ended(
      succeeded: succeeded, retried: retried, failed: failed,
      succeededPerMinute: Double(succeeded) / minutes,
      retriedPerMinute: Double(retried) / minutes, failedPerMinute: Double(failed) / minutes,
      wait: JobStatistics.Spread(waits), run: JobStatistics.Spread(runs))
  }
}

extension JobStatistics.Spread {
  fileprivate init?(_ histogram: DurationHistogram) {
    guard let p50 = histogram.percentile(0.5), let p99 = histogram.percentile(0.99) else {
      return nil
    }
    self.init(count: histogram.count, p50Seconds: p50.seconds, p99Seconds: p99.seconds)
  }
}
