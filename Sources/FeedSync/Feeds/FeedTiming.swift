public import Foundation

/// When a feed is asked, and why then.
public struct NextRun: Sendable, Equatable {
  public enum Reason: String, Sendable, Codable {
    /// It has never been asked.
    case new
    /// Its interval has passed, or passes then.
    case interval
    /// Its answer stays good until then, as the server or the document has said.
    case fresh
    /// It has failed, and is asked less often the more often it does.
    case failing
    /// The server has asked to wait with this feed.
    case waiting
    /// The host has asked to wait with all its feeds.
    case hostWaiting
    /// The last run began in the future: the clock was set.
    case clock
  }

  public var at: Date
  public var reason: Reason

  public init(at: Date, reason: Reason) {
    self.at = at
    self.reason = reason
  }
}

/// Computes when feeds are asked. The one place where that is decided: the worker's schedule, the
/// runs themselves and what explains them all ask here.
///
/// A pure value. What is promised to servers holds for everybody; intervals, jitter and the waits
/// after failures are the schedule's, so that whoever asks for a sync himself gets one.
public struct FeedTiming: Sendable {
  /// The time between two runs of a feed that has none of its own.
  public var interval: Duration
  /// How much of an interval may be added to it, from 0 to 1.
  public var jitter: Double

  public init(interval: Duration = .seconds(900), jitter: Double = 0.1) {
    self.interval = interval
    self.jitter = jitter
  }

  /// What is known of a feed besides its record.
  public struct Circumstances: Sendable {
    public var lastRun: LastRun?
    /// Until when its host has asked to wait.
    public var hostWait: Date?
    public var now: Date

    public init(lastRun: LastRun?, hostWait: Date? = nil, now: Date) {
      self.lastRun = lastRun
      self.hostWait = hostWait
      self.now = now
    }
  }

  // MARK: Promises

  /// Until when the feed may not be asked: the last of what its server, its host and its last answer
  /// say. Nil when it may be asked now.
  ///
  /// A time further ahead than anybody can ask for comes from a clock that was wrong, and counts for
  /// nothing.
  public static func promise(_ feed: Feed, _ now: Circumstances) -> NextRun? {
    let promises: [(Date?, NextRun.Reason, max: Double)] = [
      (feed.waitUntil, .waiting, Limits.waitMax), (now.hostWait, .hostWaiting, Limits.waitMax),
      (freshUntil(feed, now), .fresh, Double(Limits.freshMax)),
    ]
    return promises.compactMap { until, reason, most in
      guard let until, until > now.now, until.timeIntervalSince(now.now) <= most else { return nil }
      return NextRun(at: until, reason: reason)
    }.max { $0.at < $1.at }
  }

  /// Only a run that came to its end has an answer that can be good.
  private static func freshUntil(_ feed: Feed, _ now: Circumstances) -> Date? {
    guard let freshFor = feed.freshFor, feed.errors <= 0, let last = now.lastRun, last.hasEnded,
      !isAhead(last.at, of: now.now)
    else { return nil }
    return last.at.addingTimeInterval(Double(freshFor))
  }

  // MARK: The schedule

  /// - Returns: When the schedule asks the feed; nil for one that it leaves alone.
  public func next(_ feed: Feed, _ now: Circumstances) -> NextRun? {
    guard !feed.isPaused, !feed.isRemoved else { return nil }
    let usual = usual(feed, now)
    guard var promise = Self.promise(feed, now), promise.at > usual.at else { return usual }
    if promise.reason == .fresh, let last = now.lastRun, let freshFor = feed.freshFor {
      // Those that were promised the same at once do not come back at once.
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
      let wait = max(Limits.failureWaitMin, Self.failureWaitMax(feed) * share)
      return NextRun(at: last.at + wait, reason: .failing)
    }
    let usual = feed.every.map { Duration.seconds($0) } ?? interval
    return NextRun(at: last.at + usual.inSeconds * (1 + jitter * share), reason: .interval)
  }

  /// The bound within which the wait after a failure is drawn.
  private static func failureWaitMax(_ feed: Feed) -> Double {
    let cap = feed.lastStatus == 404 ? Limits.missingWaitMax : Limits.failureWaitMax
    let doublings = min(max(feed.errors, 1) - 1, 20)
    return min(Limits.failureWaitMin * Double(1 << doublings), cap)
  }

  /// How long after a start of the schedule a feed begins that has become due before: they are spread
  /// over an interval, each at its own place, so that a restart is no storm.
  public func startDelay(_ feed: Feed) -> Duration {
    let usual = feed.every.map { Duration.seconds($0) } ?? interval
    return min(usual, .seconds(Limits.freshMin)) * Self.share(of: feed.url, nil)
  }

  // MARK: Parts

  /// A little ahead is the granularity of clocks, and no step.
  private static func isAhead(_ date: Date, of now: Date) -> Bool {
    date.timeIntervalSince(now) > 2
  }

  /// In 0 ..< 1, from the feed and its last run: the same until it has run again.
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
