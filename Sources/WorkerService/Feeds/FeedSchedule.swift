import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Logging
import StoreFigures
import StoreJobs

/// Enqueues the syncs of the feeds when they are due.
///
/// The due feeds are read from the store after commits and at the next time of a feed. A feed with
/// an unfinished sync is skipped.
struct FeedSchedule: Sendable {
  let store: Store
  let settings: LiveSettings
  let logger: Logger
  let figures: FigureRecorder

  /// The longest pause: clocks are set, and a commit may be missed.
  private static let pauseMax = Duration.seconds(30)
  /// The shortest pause, which many commits share.
  private static let pauseMin = Duration.seconds(1)

  /// Runs until the task is cancelled.
  func run() async throws {
    var begin = store.now()
    var turns = HostTurns()
    let commits = try store.commits.observe()
    var seen = 0
    while true {
      // After the clock was set back, feeds would be spread from a time in the future on.
      begin = min(begin, store.now())
      let next = try await enqueueDue(begin: begin, &turns)
      let earliest = ContinuousClock.now + Self.pauseMin
      var pause = ContinuousClock.now.duration(to: ChoreTimes.next(every: Self.pauseMax))
      if let next {
        pause = min(pause, .stored(seconds: max(0, next.timeIntervalSince(store.now()))))
      }
      seen = try await commits.next(after: seen, within: pause)
      if ContinuousClock.now < earliest {
        try await Task.sleep(until: earliest, clock: .continuous)
      }
    }
  }

  /// Enqueues the syncs of the feeds that are due now.
  ///
  /// - Returns: The time of the next feed.
  func enqueueDue(begin: Date, _ turns: inout HostTurns) async throws -> Date? {
    let settings = settings.current
    let plan = FeedPlan(
      interval: settings.syncEvery, jitter: settings.jitter, hostSpacing: settings.hostSpacing)
    let now = store.now()
    let queue = JobQueue(store)
    var due: [FeedPlan.Entry] = []
    var records: [Int64: Feed] = [:]
    var wronglyTimed: Set<Int64> = []
    var next: Date?
    let feeds = Feeds(store)
    var gauges = FigureGauges()
    (gauges.feedsScheduled, gauges.feedsLate, gauges.feedsFailing) = (0, 0, 0)
    for (id, feed) in try feeds.list() {
      let circumstances = try feeds.circumstances(of: id, feed, now: now)
      guard let entry = plan.entry(id, feed, circumstances, begin: begin) else { continue }
      let isLate = plan.timing.isLate(dueAt: entry.dueAt, every: feed.every, now: now)
      gauges.count(feed, isLate: isLate)
      guard entry.dueAt <= now else {
        next = min(next ?? entry.dueAt, entry.dueAt)
        continue
      }
      if let holder = try queue.holder(of: SyncFeed(feed: id)) {
        guard try queue.waitsForWrongTime(holder, now: now) else { continue }
        wronglyTimed.insert(id)
      }
      due.append(entry)
      records[id] = feed
    }
    figures.set(gauges)
    for (entry, start) in plan.starts(of: due, now: now, turns: &turns) {
      var request = try JobRequest(
        SyncFeed(feed: entry.feed, isScheduled: true, host: entry.host))
      request.runAt = start
      if wronglyTimed.contains(entry.feed) { request.onConflict = .replace }
      request.retention = settings.keepFinished
      guard let job = try await enqueue(request, ifUnchanged: records[entry.feed], entry.feed)
      else { continue }
      logger.debug("a feed is due", metadata: ["feed": "\(entry.feed)", "job": "\(job)"])
    }
    return next
  }

  /// Enqueues the sync of a feed, unless it was synced or changed since it was read: with a hub,
  /// this machine may not have had the commits of the others. The commit wakes the schedule again.
  private func enqueue(
    _ request: JobRequest, ifUnchanged feed: Feed?, _ number: Int64
  ) async throws -> JobID? {
    try await store.write(author: "jobs", isRepeatable: true) { transaction in
      let id = ObjectID(entity: Feed.entityName, number: number)
      guard try transaction.get(Feed.self, id) == feed else { return nil }
      return try transaction.enqueue(request).id
    }
  }
}

extension FigureGauges {
  fileprivate mutating func count(_ feed: Feed, isLate: Bool) {
    feedsScheduled = (feedsScheduled ?? 0) + 1
    feedsLate = (feedsLate ?? 0) + (isLate ? 1 : 0)
    feedsFailing = (feedsFailing ?? 0) + (feed.errors > 0 ? 1 : 0)
  }
}

extension JobQueue {
  /// Returns true if the job waits for its turn at a time that was computed before the clock was
  /// set back. The runner corrects the wait of a job that was claimed before.
  fileprivate func waitsForWrongTime(_ id: JobID, now: Date) throws -> Bool {
    guard let job = try status(id), job.state == .scheduled, job.startedAt == nil else {
      return false
    }
    // A small difference is that between two readings of the clock.
    return job.enqueuedAt.timeIntervalSince(now) > 2
  }
}
