public import Foundation

/// The time of a feed's next request, with the reason.
public struct NextRun: Sendable, Equatable {
  /// The reason for the time of the next run.
  public enum Reason: String, Sendable, Codable {
    /// It has not been requested yet.
    case new
    /// Its interval ends then.
    case interval
    /// Its last answer stays fresh until then.
    case fresh
    /// It has failed; the wait grows with each failure.
    case failing
    /// The server has asked to wait with this feed.
    case waiting
    /// The host has asked to wait with all its feeds.
    case hostWaiting
    /// The last run began in the future, because the clock was set.
    case clock
  }

  public var at: Date
  public var reason: Reason

  public init(at: Date, reason: Reason) {
    self.at = at
    self.reason = reason
  }
}

/// Computes when feeds are requested: for the worker's schedule, for the runs, and for
/// explanations.
///
/// A pure value. The waits that servers request apply to every run. Intervals, jitter and the waits
/// after failures apply to the schedule only, not to a sync that the operator starts.
public struct FeedTiming: Sendable {
  /// The time between two runs of a feed that has none of its own.
  public var interval: Duration
  /// The share of an interval that may be added to it, from 0 to 1.
  public var jitter: Double

  public init(interval: Duration = .seconds(900), jitter: Double = 0.1) {
    self.interval = interval
    self.jitter = jitter
  }

  /// The facts about a feed that are not in its record.
  public struct Circumstances: Sendable {
    public var lastRun: LastRun?
    /// The end of the wait that its host has requested.
    public var hostWait: Date?
    public var now: Date

    public init(lastRun: LastRun?, hostWait: Date? = nil, now: Date) {
      self.lastRun = lastRun
      self.hostWait = hostWait
      self.now = now
    }
  }

  // MARK: Promises

  /// Returns the time before which the feed must not be requested: the latest that its server, its
  /// host and its last answer name. Nil if it may be requested now.
  ///
  /// A time beyond the allowed wait comes from a wrong clock and is ignored. If the clock was set
  /// back since the last run by more than `clockErrorMax`, so is a time that is further ahead than
  /// that.
  public static func promise(_ feed: Feed, _ now: Circumstances) -> NextRun? {
    let limit = wasSetBack(since: now.lastRun, now: now.now) ? SyncLimits.clockErrorMax : .infinity
    let promises: [(Date?, NextRun.Reason, max: Double)] = [
      (feed.waitUntil, .waiting, SyncLimits.waitMax),
      (now.hostWait, .hostWaiting, SyncLimits.waitMax),
      (freshUntil(feed, now), .fresh, Double(SyncLimits.freshMax)),
    ]
    return promises.compactMap { until, reason, most in
      guard let until, until > now.now, until.timeIntervalSince(now.now) <= min(most, limit)
      else { return nil }
      return NextRun(at: until, reason: reason)
    }.max { $0.at < $1.at }
  }

  /// Returns true if the clock was set back so far since the feed's last run that the times which
  /// were stored then mean nothing.
  static func wasSetBack(since lastRun: LastRun?, now: Date) -> Bool {
    lastRun.map { $0.at.timeIntervalSince(now) > SyncLimits.clockErrorMax } ?? false
  }

  /// Returns the end of the last answer's freshness. Only a run that has ended has such an answer.
  private static func freshUntil(_ feed: Feed, _ now: Circumstances) -> Date? {
    guard let freshFor = feed.freshFor, feed.errors <= 0, let last = now.lastRun, last.hasEnded,
      !isAhead(last.at, of: now.now)
    else { return nil }
    return last.at.addingTimeInterval(Double(freshFor))
  }

  // MARK: The schedule

  /// Returns the feed's next scheduled run; nil if it is paused or removed.
  public func next(_ feed: Feed, _ now: Circumstances) -> NextRun? {
    guard !feed.isPaused, !feed.isRemoved else { return nil }
    let usual = usual(feed, now)
    guard var promise = Self.promise(feed, now), promise.at > usual.at else { return usual }
    if promise.reason == .fresh, let last = now.lastRun, let freshFor = feed.freshFor {
      // Spreads feeds whose freshness ends at the same time.
      promise.at += Double(freshFor) * jitter * Self.share(of: feed.url, last.at)
    }
    return promise
  }

  private func usual(_ feed: Feed, _ now: Circumstances) -> NextRun {
    guard let last = now.lastRun else {
      return NextRun(at: min(feed.addedAt, now.now), reason: .new)
    }
    if Self.isAhead(last.at, of: now.now) { return NextRun(at: now.now, reason: .clock) }
    let share = Self.share(of: feed.url, last.at)
    if feed.errors > 0 {
      let wait = max(SyncLimits.failureWaitMin, Self.failureWaitMax(feed) * share)
      return NextRun(at: last.at + wait, reason: .failing)
    }
    let usual = feed.every.map { Duration.seconds($0) } ?? interval
    return NextRun(at: last.at + usual.inSeconds * (1 + jitter * share), reason: .interval)
  }

  /// Returns the upper bound of the wait after a failure.
  private static func failureWaitMax(_ feed: Feed) -> Double {
    let cap = feed.lastStatus == 404 ? SyncLimits.missingWaitMax : SyncLimits.failureWaitMax
    let doublings = min(max(feed.errors, 1) - 1, 20)
    return min(SyncLimits.failureWaitMin * Double(1 << doublings), cap)
  }

  /// Returns the delay of an overdue feed after the start of the schedule. Feeds are spread over an
  /// interval, so that a restart does not request all at once.
  public func startDelay(_ feed: Feed) -> Duration {
    let usual = feed.every.map { Duration.seconds($0) } ?? interval
    return min(usual, .seconds(SyncLimits.freshMin)) * Self.share(of: feed.url, nil)
  }

  /// Returns true if a run that was due at a time, and has not begun, is late: by more than the
  /// interval of its feed, and by more than two minutes, because a worker has many feeds.
  ///
  /// - Parameter every: The seconds between two runs of the feed, if it has an interval of its own.
  package func isLate(dueAt: Date, every: Int64?, now: Date) -> Bool {
    now.timeIntervalSince(dueAt) > max(every.map(Double.init) ?? interval.inSeconds, 120)
  }

  // MARK: Parts

  /// Returns true if the date is in the future by more than the clock's granularity.
  private static func isAhead(_ date: Date, of now: Date) -> Bool {
    date.timeIntervalSince(now) > 2
  }

  /// Returns a number in 0 ..< 1 that depends on the feed and its last run.
  private static func share(of url: String, _ date: Date?) -> Double {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(url) \(date.map { Int64($0.timeIntervalSince1970) } ?? 0)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    hash ^= hash >> 32
    return Double(hash & 0xffff_ffff) / 4_294_967_296
  }
}

extension Duration {
  var inSeconds: Double { self / .seconds(1) }
}
