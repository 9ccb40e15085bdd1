package import Foundation

/// From when on each host may be asked again, by what has been given out so far.
package struct HostTurns: Sendable {
  /// Of the hosts that are taken.
  package private(set) var free: [String: Date]
  private var last: Date?

  package init(free: [String: Date] = [:]) { self.free = free }

  /// Forgets the turns that have passed, and all of them when the clock was set back: they would be
  /// ahead for as long.
  package mutating func pass(to now: Date) {
    // A little is the granularity of clocks, and no step.
    if let last, last.timeIntervalSince(now) > 2 { free = [:] }
    last = now
    free = free.filter { $0.value > now }
  }

  /// The next turn at the host, which is then taken.
  ///
  /// - Parameter earliest: Not before this.
  package mutating func take(_ host: String, from earliest: Date, spacing: TimeInterval) -> Date {
    let start = max(earliest, free[host] ?? earliest)
    free[host] = start.addingTimeInterval(spacing)
    return start
  }
}
