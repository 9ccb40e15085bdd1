import DurableJobs
import EntityStore
import FeedSync
import Foundation
import LoopbackHTTP
import StoreJobs
import SystemSupport
import TestSupport
import Testing

@testable import WorkerService

/// The clock is set while the worker runs. What it waits for was stored with the time of before.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClockStepTests {
  private static let step = 3 * 86_400.0

  @Test(arguments: [-step, step]) func aFeedIsSyncedAfterAStep(_ step: Double) async throws {
    let feed = try EpisodeFeed()
    defer { feed.stop() }
    try await withSteppedWorker { store, clock, _ in
      try await Feeds(store).add(feed.url, .init(every: .seconds(3_600)))
      let id = try Feeds(store).find(feed.url).id
      // A step after the commit and before the end of the run would be one during the run.
      try await store.wait { _ in Feeds(store).lastRun(of: id)?.hasEnded == true }
      clock.advance(by: step)
      try await store.wakeWorker()
      try await store.waitForRevision(2, ofFeed: id)
    }
  }

  @Test func aServersWaitIsNotLongerAfterAStepBack() async throws {
    let count = Locked(0)
    let page = """
      {"format":"homefeed/1","mode":"full","epoch":"e1","version":1,"entities":[\
      {"id":"ep:1","kind":"Episode","rev":1,"updatedAt":"2026-11-01T08:00:00Z",\
      "attrs":{"title":"revision 1"}}]}
      """
    let server = try LoopbackServer { _, connection in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      try connection.send(
        isFirst
          ? Response(status: 503, headers: [("Retry-After", "100")])
          : Response(headers: [("Content-Type", "application/json")], text: page))
    }
    defer { server.stop() }
    try await withSteppedWorker { store, clock, _ in
      try await Feeds(store).add(server.url + "/home")
      let id = try Feeds(store).find(server.url + "/home").id
      let job = try await store.job(ofFeed: id)
      try await store.wait(for: job, toBe: .scheduled) { $0.attempts == 1 }
      clock.advance(by: -Self.step)
      try await store.wakeWorker()
      let corrected = clock.now.addingTimeInterval(100)
      try await store.wait(for: job, toBe: .scheduled) { $0.runAt <= corrected }
      #expect(server.requests.count == 1)
      clock.advance(by: 100)
      try await store.wakeWorker()
      try await store.wait(for: job, toBe: .succeeded)
      #expect(server.requests.count == 2)
    }
  }

  @Test func aTurnAtAHostIsTakenAgainAfterAStepBack() async throws {
    let feed = try EpisodeFeed()
    defer { feed.stop() }
    let spacing = Duration.seconds(3_600)
    try await withSteppedWorker({ $0.hostSpacing = spacing }) { store, clock, _ in
      try await Feeds(store).add(feed.url)
      try await store.waitForRevision(1, ofFeed: try Feeds(store).find(feed.url).id)
      // It waits for its turn, and has not been claimed.
      try await Feeds(store).add(feed.url + "/second")
      let job = try await store.job(ofFeed: try Feeds(store).find(feed.url + "/second").id)
      try await store.wait(for: job, toBe: .scheduled) { $0.runAt > clock.now && $0.attempts == 0 }
      clock.advance(by: -Self.step)
      try await store.wakeWorker()
      let latest = clock.now.addingTimeInterval(2 * spacing.seconds)
      try await store.wait { _ in
        try JobQueue(store).status(job).map { $0.state != .scheduled || $0.runAt <= latest } ?? true
      }
    }
  }
}

/// Runs `body` with a worker, its store and its clock.
private func withSteppedWorker(
  _ change: (inout WorkerSettings) -> Void = { _ in },
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Store, ManualClock, TestWorker) async throws -> Void
) async throws {
  try await withWorkerFolder { folder in
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_168_800))
    let store = try openWorkerStore(folder, now: { clock.now })
    let worker = try TestWorker(on: folder, try SettingsSource(change).live()) {
      $0.open = { try openWorkerStore(folder, now: { clock.now }) }
    }
    try await worker.run { try await body(store, clock, worker) }
  }
}

extension Store {
  /// Lets the worker look at the clock, as it does by itself twice a minute.
  fileprivate func wakeWorker() async throws {
    let queue = QueueName(rawValue: "unused")
    if try await !JobQueue(self).pause(queue) { try await JobQueue(self).resume(queue) }
  }

  /// Waits until the feed has an unfinished sync.
  fileprivate func job(ofFeed feed: Int64) async throws -> JobID {
    let sync = SyncFeed(feed: feed)
    try await wait { _ in try JobQueue(self).holder(of: sync) != nil }
    return try #require(try JobQueue(self).holder(of: sync))
  }
}
