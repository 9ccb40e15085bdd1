import DurableJobs
import FeedSync
import Foundation

/// When which feed is to be asked next, one after the other at each host. When a single feed is due is
/// for ``FeedTiming`` to say; nothing of it has to be kept.
struct FeedPlan {
  struct Entry: Equatable {
    let feed: Int64
    let host: String
    let dueAt: Date
  }

  var timing: FeedTiming
  /// Between the starts of two feeds of one host.
  var hostSpacing: Duration

  init(interval: Duration, jitter: Double, hostSpacing: Duration) {
    timing = FeedTiming(interval: interval, jitter: jitter)
    self.hostSpacing = hostSpacing
  }

  /// - Parameter begin: When the schedule began: what had become due before is spread from then on.
  /// - Returns: `nil` for a feed that is not to be asked by itself.
  func entry(
    _ id: Int64, _ feed: Feed, _ now: FeedTiming.Circumstances, begin: Date? = nil
  ) -> Entry? {
    guard let next = timing.next(feed, now) else { return nil }
    var dueAt = next.at
    if let begin, dueAt < begin, next.reason != .new {
      dueAt = begin.addingTimeInterval(timing.startDelay(feed).seconds)
    }
    return Entry(feed: id, host: feed.host, dueAt: dueAt)
  }

  /// Spreads the feeds of one host, the one that is due first first.
  ///
  /// - Parameter turns: Those of feeds that were started before; brought up to date.
  func starts(
    of due: [Entry], now: Date, turns: inout HostTurns
  ) -> [(entry: Entry, at: Date)] {
    turns.pass(to: now)
    return due.sorted { ($0.dueAt, $0.feed) < ($1.dueAt, $1.feed) }.map { entry in
      (entry, turns.take(entry.host, from: now, spacing: hostSpacing.seconds))
    }
  }
}
