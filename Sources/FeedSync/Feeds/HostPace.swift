import EntityStore
package import Foundation
import SystemSupport

/// Spaces the starts of runs at one host. Counts the runs of this process, and those of other
/// processes by the time of the host's last requests.
final class HostPace: Sendable {
  private let turns = Locked(HostTurns())

  /// Reserves a start, and returns its time.
  ///
  /// - Parameter others: The times of the last requests to other feeds of the host.
  func reserve(_ host: String, spacing: Duration, others: [Date], now: Date) -> Date {
    let spacing = spacing.inSeconds
    // A time in the future comes from a clock that was set.
    let last = others.filter { $0 <= now }.max()?.addingTimeInterval(spacing)
    return turns.withLock { turns in
      turns.pass(to: now)
      return turns.take(host, from: max(now, last ?? now), spacing: spacing)
    }
  }
}

/// The feeds of each host. They are read again after a minute and when the number of feeds has
/// changed, because reading them for each run would take quadratic time.
final class HostFeeds: Sendable {
  private struct Listing {
    let readAt: Date
    let count: Int
    let feeds: [String: [Int64]]
  }

  private static let ageMax: TimeInterval = 60
  private let listing = Locked<Listing?>(nil)

  /// Returns the numbers of the host's feeds.
  func feeds(of host: String, in store: Store, now: Date) throws -> [Int64] {
    let count = try store.read { try $0.count(of: Feed.entityName) }
    return try listing.withLock { listing in
      if let listing, listing.count == count,
        abs(now.timeIntervalSince(listing.readAt)) < Self.ageMax
      {
        return listing.feeds[host] ?? []
      }
      let feeds = try Dictionary(grouping: Feeds(store).list()) { $0.feed.host }
        .mapValues { $0.map(\.id) }
      listing = Listing(readAt: now, count: count, feeds: feeds)
      return feeds[host] ?? []
    }
  }
}

/// The time from which each host may be requested again, by the turns that were taken.
package struct HostTurns: Sendable {
  /// The next free turn of each host.
  package private(set) var free: [String: Date]
  private var last: Date?

  package init(free: [String: Date] = [:]) { self.free = free }

  /// Removes the turns that have passed, or all turns if the clock was set back: they would block
  /// the hosts for that long.
  package mutating func pass(to now: Date) {
    // A small difference is the clock's granularity.
    if let last, last.timeIntervalSince(now) > 2 { free = [:] }
    last = now
    free = free.filter { $0.value > now }
  }

  /// Takes the next turn at the host, and returns its time.
  ///
  /// - Parameter earliest: The earliest allowed time.
  package mutating func take(_ host: String, from earliest: Date, spacing: TimeInterval) -> Date {
    let start = max(earliest, free[host] ?? earliest)
    free[host] = start.addingTimeInterval(spacing)
    return start
  }
}
