import DurableJobs
import FeedSync
import Foundation

/// The figures since the last flush. Bounded, however long no flush succeeds.
struct PendingFigures {
  /// The figures by minute.
  private(set) var minutes: [Int64: SlotFigures] = [:]
  private(set) var feeds: [Int64: FeedFigures] = [:]
  private(set) var slowFetches: [Int64: SlowFetch] = [:]
  /// The uses by the number of the index, and the time by which they were made.
  private(set) var uses: [Int: (count: Int, at: Date)] = [:]
  /// The gauges whose change is worth a flush.
  private(set) var hasNewGauges = false

  var isEmpty: Bool {
    minutes.isEmpty && feeds.isEmpty && slowFetches.isEmpty && uses.isEmpty && !hasNewGauges
  }

  // MARK: Recording

  mutating func count(_ report: SyncReport, seconds: Double, at time: Date) {
    change(at: time) { $0.count(report, seconds: seconds) }
  }

  mutating func count(_ attempt: EndedAttempt, at time: Date) {
    switch attempt.state {
    case .succeeded: change(at: time) { $0.jobsSucceeded += 1 }
    case .discarded, .poisoned: change(at: time) { $0.jobsFailed += 1 }
    case .scheduled, .ready, .held, .blocked, .running:
      // Without an error it was interrupted, or waits as it has asked to.
      if attempt.error != nil { change(at: time) { $0.jobsRetried += 1 } }
    case .cancelled, nil: break
    }
  }

  mutating func add(_ figures: SlotFigures, at time: Date) {
    change(at: time) { $0.add(figures) }
  }

  mutating func add(_ run: FeedFigures) {
    if feeds[run.id] == nil, feeds.count >= Limits.feedsMax { return }
    feeds[run.id]?.add(run) ?? (feeds[run.id] = run)
  }

  mutating func add(_ fetch: SlowFetch) {
    if slowFetches[fetch.shape] == nil, slowFetches.count >= Limits.slowFetchesMax,
      let oldest = slowFetches.values.min(by: { $0.lastAt < $1.lastAt })
    {
      slowFetches[oldest.shape] = nil
    }
    slowFetches[fetch.shape]?.add(fetch) ?? (slowFetches[fetch.shape] = fetch)
  }

  mutating func add(_ uses: [Int: Int], at time: Date) {
    for (index, count) in uses {
      let known = self.uses[index]
      self.uses[index] = (count: (known?.count ?? 0) + count, at: time)
    }
  }

  /// Sets the gauges of the minute.
  mutating func set(_ gauges: FigureGauges, at time: Date, isNew: Bool) {
    hasNewGauges = hasNewGauges || isNew
    change(at: time) { $0.gauges.update(gauges) }
  }

  /// Adds what was recorded later than this.
  mutating func add(_ later: PendingFigures) {
    for (minute, figures) in later.minutes { change(minute) { $0.add(figures) } }
    for run in later.feeds.values { add(run) }
    for fetch in later.slowFetches.values { add(fetch) }
    for (index, use) in later.uses { add([index: use.count], at: use.at) }
    hasNewGauges = hasNewGauges || later.hasNewGauges
  }

  private mutating func change(at time: Date, _ change: (inout SlotFigures) -> Void) {
    self.change(FigureResolution.minute.slot(at: time), change)
  }

  /// Beyond the bound, the two oldest minutes become one.
  private mutating func change(_ minute: Int64, _ change: (inout SlotFigures) -> Void) {
    change(&minutes[minute, default: SlotFigures()])
    guard minutes.count > Limits.pendingMinutesMax else { return }
    let oldest = minutes.keys.sorted().prefix(2)
    if let first = oldest.first, let second = oldest.last, let earlier = minutes[first],
      let later = minutes[second]
    {
      var sum = earlier
      sum.add(later)
      minutes[first] = nil
      minutes[second] = sum
    }
  }
}
