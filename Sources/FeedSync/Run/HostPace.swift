import EntityStore
import Foundation
import Synchronization

/// Keeps the starts of runs at one host apart: those of this process by what it has started, those of
/// others by when the feeds of that host were last asked.
final class HostPace: Sendable {
  private let turns = Mutex(HostTurns())

  /// The time from which the run may start, which is then taken.
  ///
  /// - Parameter others: When other feeds of the host were last asked.
  func reserve(_ host: String, spacing: Duration, others: [Date], now: Date) -> Date {
    let spacing = spacing.inSeconds
    // What is ahead comes from a clock that was set.
    let last = others.filter { $0 <= now }.max()?.addingTimeInterval(spacing)
    return turns.withLock { turns in
      turns.pass(to: now)
      return turns.take(host, from: max(now, last ?? now), spacing: spacing)
    }
  }
}

extension SyncEngine {
  /// Waits until a run at the feed's host may start. The operator's own hosts are asked at once.
  ///
  /// - Returns: When it did.
  func waitForTurn(_ id: Int64, _ feed: Feed) async throws -> Date {
    let (host, spacing, now) = (feed.host, hostSpacing(), clock())
    guard spacing > .zero, !Hosts.isPrivate(host) else { return now }
    let others = try Feeds(store).list().compactMap { other in
      other.id != id && other.feed.host == host
        ? SyncLease.lastRun(feedID: other.id, folder: store.folder)?.at : nil
    }
    let start = pace.reserve(host, spacing: spacing, others: others, now: now)
    let wait = start.timeIntervalSince(now)
    guard wait > 0 else { return now }
    try await sleep(.seconds(wait))
    return clock()
  }
}
