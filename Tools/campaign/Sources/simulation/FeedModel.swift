import Foundation

/// The requests that a feed and its host may expect of the program, kept by the network from its
/// own answers. Knows neither the store nor the types of the sync.
struct FeedModel {
  let number: Int64
  let url: String
  let host: String
  /// The seconds between two runs.
  let every: Int
  var isPaused = false
  var isGone = false
  var errors = 0
  /// The status of the last failure.
  var lastStatus: Int?
  var lastStart: Moment?
  /// The wait that the server has asked for with its last answer.
  var wait: Promise?
  var fresh: Promise?
  /// The seconds that the last page, and the last answer, have promised.
  var promisedFor: Int?
  var freshFor: Int?
  /// The machines that have a request under way: more than one only if the lease of the others has
  /// ended.
  var askers: Set<Int> = []
  var isAsked: Bool { !askers.isEmpty }
  /// True if the last run ended with an answer that the program could store.
  var isCertain = true
  /// True if the last run was cut by a kill, or could not be stored: its job runs again.
  var wasCut = false
  /// The time from which on the feed was active.
  var activeSince: Moment

  var isActive: Bool { !isPaused && !isGone }
}

/// A moment in both clocks.
struct Moment {
  let elapsed: Int
  var wall: Date
}

/// A time before which something must not happen, by the wall clock of the program.
struct Promise {
  let until: Date
  /// The sum of all steps of the clock backward until then, in milliseconds.
  let setBack: Int
}

/// The feeds and hosts of a simulation.
struct FeedModels {
  var feeds: [FeedModel] = []
  var hostWaits: [String: Promise] = [:]
  var hostStarts: [String: Moment] = [:]
  /// The sum of all steps backward, and the moment of the last step in either direction.
  var setBack = 0
  var lastStep = -1_000_000_000

  /// The milliseconds by which clocks may be set back before promises mean nothing any more.
  private static let voidAfter = 3_600_000
  private static let spacing = 2_000

  func index(of url: String) -> Int? { feeds.firstIndex { $0.url == url } }
  func index(number: Int64) -> Int? { feeds.firstIndex { $0.number == number } }

  func promise(for seconds: Int, from now: Moment) -> Promise {
    Promise(until: now.wall.addingTimeInterval(Double(seconds)), setBack: setBack)
  }

  // MARK: Requests

  /// Checks that a request may be sent now, and records it.
  ///
  /// - Parameter hasLease: False if the machine was cut off since it began the run, and another one
  ///   has taken the feed over. It cannot know, and may ask once more.
  mutating func ask(
    _ index: Int, from machine: Int, hasLease: Bool, at now: Moment
  ) throws {
    let feed = feeds[index]
    guard hasLease else { return }
    func refuse(_ reason: String) -> Violation {
      Violation("feed \(feed.number) of \(feed.host) was requested \(reason)")
    }
    if feed.askers.contains(machine) { throw refuse("twice at the same time") }
    if feed.isGone { throw refuse("though it is gone") }
    if let left = left(of: feed.wait, now) { throw refuse("\(left) s before its wait ends") }
    if let left = left(of: hostWaits[feed.host], now) {
      // Known (see README): to this feed the wait is one of before the clock was set back.
      let isKnown = left > 3_600 && (feed.lastStart?.wall.timeIntervalSince(now.wall) ?? 0) > 3_600
      guard isKnown else { throw refuse("\(left) s before the wait of its host ends") }
      hostWaits[feed.host] = nil
    }
    if let fresh = feed.fresh, fresh.setBack == setBack, feed.errors == 0, !feed.wasCut,
      let left = left(of: fresh, now)
    {
      throw refuse("\(left) s before its answer is stale")
    }
    // A server that has named a wait expects the next request at its end.
    if let last = feed.lastStart, last.elapsed > lastStep, !feed.wasCut, feed.wait == nil {
      let gap = feed.errors > 0 ? 60_000 : feed.every * 1_000
      if now.elapsed - last.elapsed < gap - 10 {
        throw refuse("\(now.elapsed - last.elapsed) ms after its last request, not \(gap)")
      }
    }
    if let last = hostStarts[feed.host], last.elapsed > lastStep,
      now.elapsed - last.elapsed < Self.spacing - 10
    {
      throw refuse("\(now.elapsed - last.elapsed) ms after another feed of the host")
    }
    if feeds.count(where: { $0.askers.contains(machine) && $0.host == feed.host }) >= 2 {
      throw refuse("while two others of the host are")
    }
    hostStarts[feed.host] = now
    feeds[index].lastStart = now
    feeds[index].askers.insert(machine)
    feeds[index].wasCut = true
    feeds[index].isCertain = false
  }

  /// The seconds until a promise ends; nil if it does not count.
  private func left(of promise: Promise?, _ now: Moment) -> Int? {
    guard let promise, setBack - promise.setBack < Self.voidAfter else { return nil }
    let left = promise.until.timeIntervalSince(now.wall)
    return left > 0.01 ? Int(left.rounded(.up)) : nil
  }

  // MARK: Times

  /// The seconds by which a feed is overdue in any case; nil if it is not active.
  ///
  /// - Parameter calmSince: The elapsed time since which a worker lives, the disk has room and the
  ///   clock was not set.
  func overdue(_ feed: FeedModel, at now: Moment, calmSince: Int) -> Int? {
    guard feed.isActive, !feed.isAsked else { return nil }
    var due = feed.activeSince.wall
    if let last = feed.lastStart {
      let wait = feed.errors > 0 ? Self.failureWait(feed) : Double(feed.every) * 1.1
      due = max(due, last.wall.addingTimeInterval(wait))
      if let fresh = feed.fresh, feed.errors == 0 {
        due = max(due, last.wall.addingTimeInterval(fresh.until.timeIntervalSince(last.wall) * 1.1))
      }
    }
    for promise in [feed.wait, hostWaits[feed.host]].compactMap({ $0 }) {
      due = max(due, promise.until)
    }
    // After a step of the clock a time that it has moved away is ignored, or an hour ahead at most.
    let late = min(now.wall.timeIntervalSince(due), Double(now.elapsed - calmSince) / 1_000)
    return Int(late)
  }

  private static func failureWait(_ feed: FeedModel) -> Double {
    let most = feed.lastStatus == 404 ? 7 * 86_400.0 : 86_400.0
    return min(60 * pow(2, Double(min(feed.errors - 1, 20))), most)
  }
}
