import DurableJobs
import FeedSync
import Foundation

/// Plans the next requests of feeds, so that the requests to one host are spaced out.
/// ``FeedTiming`` decides when a single feed is due. The plan has no state of its own.
struct FeedPlan {
  struct Entry: Equatable {
    let feed: Int64
    let host: String
    let dueAt: Date
  }

  var timing: FeedTiming
  /// The time between the starts of two feeds of one host.
  var hostSpacing: Duration

  init(interval: Duration, jitter: Double, hostSpacing: Duration) {
    timing = FeedTiming(interval: interval, jitter: jitter)
    self.hostSpacing = hostSpacing
  }

  /// Returns the next time of a feed, or `nil` for a feed that is not synced on schedule.
  ///
  /// - Parameter begin: The start of the schedule. Feeds that were due before are spread from then
  ///   on.
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

  /// Returns the start times of due feeds in the order in which they became due, with space between
  /// those of one host.
  ///
  /// - Parameter turns: The starts of earlier feeds, which is updated.
  func starts(
    of due: [Entry], now: Date, turns: inout HostTurns
  ) -> [(entry: Entry, at: Date)] {
    turns.pass(to: now)
    return due.sorted { ($0.dueAt, $0.feed) < ($1.dueAt, $1.feed) }.map { entry in
      (entry, turns.take(entry.host, from: now, spacing: hostSpacing.seconds))
    }
  }
}
