import DurableJobs
import FeedSync
import Foundation

/// When which feed is to be asked next: computed from what the store says of the feeds, so that nothing
/// of it has to be kept.
struct FeedPlan {
  struct Entry: Equatable {
    let feed: Int64
    let host: String
    let dueAt: Date
  }

  /// The time between two runs of a feed that has none of its own.
  var interval: Duration
  /// How much of an interval may be added to it, from 0 to 1.
  var jitter: Double
  /// Between the starts of two feeds of one host.
  var hostSpacing: Duration

  /// A feed that fails again and again is asked less often, up to this.
  static let intervalMax: Duration = .seconds(86_400)

  /// - Returns: `nil` for a feed that is not to be asked by itself.
  func entry(_ id: Int64, _ feed: Feed, lastRun: Date?, now: Date) -> Entry? {
    guard !feed.isPaused, !feed.isRemoved else { return nil }
    return Entry(
      feed: id, host: URL(string: feed.url)?.host?.lowercased() ?? "",
      dueAt: dueAt(feed, lastRun: lastRun, now: now))
  }

  private func dueAt(_ feed: Feed, lastRun: Date?, now: Date) -> Date {
    let earliest = feed.waitUntil ?? .distantPast
    guard let lastRun else { return max(feed.addedAt, earliest) }
    // A clock that was set back must not put the feed off for as long as it was wrong.
    let last = min(lastRun, now)
    let usual = feed.every.map { Duration.seconds($0) } ?? interval
    var wait = usual
    for _ in 0..<min(max(0, feed.errors - 1), 16) where wait < Self.intervalMax { wait *= 2 }
    wait = max(usual, min(wait, Self.intervalMax))
    let spread = wait * (jitter * Self.share(of: feed.url, last))
    return max(last.addingTimeInterval((wait + spread).seconds), earliest)
  }

  /// In 0 ..< 1, from the feed and its last run: the same until it has run again.
  private static func share(of url: String, _ date: Date) -> Double {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(url) \(Int64(date.timeIntervalSince1970))".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    hash ^= hash >> 32
    return Double(hash & 0xffff_ffff) / 4_294_967_296
  }

  /// Spreads the feeds of one host, the one that is due first first.
  ///
  /// - Parameter taken: Until when each host is taken by feeds that were started before; brought up to
  ///   date.
  func starts(
    of due: [Entry], now: Date, taken: inout [String: Date]
  ) -> [(entry: Entry, at: Date)] {
    taken = taken.filter { $0.value > now }
    return due.sorted { ($0.dueAt, $0.feed) < ($1.dueAt, $1.feed) }.map { entry in
      let start = max(now, taken[entry.host] ?? now)
      taken[entry.host] = start.addingTimeInterval(hostSpacing.seconds)
      return (entry, start)
    }
  }
}
