import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import LoopbackHTTP
import StoreJobs
import TestSupport
import Testing

@testable import WorkerService

@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerTests {
  @Test func twoFeedsAreSyncedRepeatedly() async throws {
    let feeds = [try EpisodeFeed(), try EpisodeFeed()]
    defer { for feed in feeds { feed.stop() } }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      for feed in feeds { try await Feeds(store).add(feed.url, .init(every: .seconds(1))) }
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {
        for feed in feeds {
          let id = try Feeds(store).find(feed.url).id
          try await store.waitForRevision(3, ofFeed: id)
        }
      }
      var filter = JobFilter()
      filter.kinds = [SyncFeed.kind]
      let syncs = try JobQueue(store).list(filter)
      #expect(syncs.count { $0.state == .succeeded } >= 6)
      // The schedule asks for one of a feed at a time, and none fails.
      #expect(syncs.allSatisfy { $0.error == nil && $0.attempts <= 1 })
      #expect(worker.systemd.lines.filter { $0.hasPrefix("STATUS=") }.first == "STATUS=working")
    }
  }

  @Test func anAddedFeedIsSyncedAndAPausedOneIsNot() async throws {
    let (first, second) = (try EpisodeFeed(), try EpisodeFeed())
    defer {
      first.stop()
      second.stop()
    }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(first.url)
      let paused = try Feeds(store).find(first.url).id
      try await Feeds(store).update(paused) { $0.isPaused = true }
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {
        try await Feeds(store).add(second.url)
        try await store.waitForRevision(1, ofFeed: try Feeds(store).find(second.url).id)
      }
      #expect(first.requestCount == 0 && second.requestCount == 1)
    }
  }

  @Test func rejectedItemsAndRefusedDeletionsAreLogged() async throws {
    let server = try LoopbackServer { _, connection in
      let items = [("a", 1), ("b", -1), ("c", -1)].map { id, revision in
        #"{"id":"\#(id)","kind":"Episode","rev":\#(revision),"updatedAt":"2026-11-01T08:00:00Z","#
          + #""attrs":{"title":"t"}}"#
      }
      try connection.send(
        Response(
          text: #"{"format":"homefeed/1","mode":"full","epoch":"e","version":1,"entities":["#
            + items.joined(separator: ",") + "]}"))
    }
    defer { server.stop() }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(server.url + "/feed")
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {
        try await worker.log.wait(for: "notice b: ", "(and 1 more)", "feed=\(server.url)/feed")
        try await worker.log.wait(for: "warning the listing was incomplete")
      }
    }
  }

  // MARK: Draining

  @Test func runningJobsMayFinishAndNoOtherStarts() async throws {
    let gate = try Signal()
    let feed = try EpisodeFeed(gate: gate)
    defer { feed.stop() }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(feed.url)
      let sync = SyncFeed(feed: try Feeds(store).find(feed.url).id)
      let job = try await JobQueue(store).enqueue(sync)
      let settings = SettingsSource { $0.drainTimeout = .seconds(600) }
      let worker = try TestWorker(on: folder, try settings.live())
      var later: JobID?
      try await worker.run {
        try await store.wait(for: job.id, toBe: .running)
        await worker.stop()
        try await worker.systemd.wait(for: "STOPPING=1")
        try await worker.systemd.wait(for: "EXTEND_TIMEOUT_USEC=")
        try await worker.systemd.wait(for: "STATUS=stopping")
        // The runner says in the store that it stops.
        try await store.wait { _ in try JobQueue(store).runners().allSatisfy { $0.stoppedAt != nil }
        }
        later = try await JobQueue(store).enqueue(CheckStore()).id
        gate.fire()
      }
      #expect(try JobQueue(store).status(job.id)?.state == .succeeded)
      let waiting = try #require(try later.flatMap { try JobQueue(store).status($0) })
      #expect(waiting.state == .ready && waiting.attempts == 0)
      #expect(worker.systemd.lines.last { $0 == "READY=1" || $0 == "STOPPING=1" } == "STOPPING=1")
    }
  }

  @Test func jobsThatDoNotEndInTimeAreHandedBackAndTheAttemptIsNotCounted() async throws {
    let gate = try Signal()
    let feed = try EpisodeFeed(gate: gate)
    defer { feed.stop() }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(feed.url)
      let sync = SyncFeed(feed: try Feeds(store).find(feed.url).id)
      let job = try await JobQueue(store).enqueue(sync)
      let settings = try SettingsSource { $0.drainTimeout = .zero }.live()
      for _ in 0..<2 {
        let worker = try TestWorker(on: folder, settings)
        try await worker.run { try await store.wait(for: job.id, toBe: .running) }
        let status = try #require(try JobQueue(store).status(job.id))
        #expect(status.state == .ready && status.attempts == 0 && status.rescues == 0)
        #expect(status.error == nil && status.epoch == nil)
        #expect(try JobQueue(store).attempts(of: job.id).isEmpty)
        try await worker.log.wait(for: "a job", "kind=feed.sync", "status=requeued")
      }
      gate.fire()
      let worker = try TestWorker(on: folder, settings)
      try await worker.run { try await store.wait(for: job.id, toBe: .succeeded) }
      #expect(try JobQueue(store).status(job.id)?.attempts == 1)
    }
  }

  @Test func aWorkerStopsAtOnce() async throws {
    try await withWorkerFolder { folder in
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {}
    }
  }

  // MARK: One for each store

  @Test func aSecondWorkerIsRefusedAndTheFirstContinues() async throws {
    try await withWorkerFolder { folder in
      let settings = try SettingsSource().live()
      let first = try TestWorker(on: folder, settings)
      try await first.run {
        let second = try TestWorker(on: folder, settings)
        let error = try await #require(throws: WorkerError.self) { try await second.worker.run() }
        #expect(error.code == .busy)
        #expect(error.description.contains("process: \(getpid())"))
        #expect(!second.systemd.lines.contains("READY=1"))
        let store = try openWorkerStore(folder)
        #expect(try await JobQueue(store).enqueue(CheckStore()).value.isClean)
      }
      let third = try TestWorker(on: folder, settings)
      try await third.run {}
    }
  }
}

extension Store {
  /// Waits until the episode of an `EpisodeFeed` has a revision, or a later one.
  func waitForRevision(_ revision: Int, ofFeed feed: Int64) async throws {
    try await wait { transaction in
      let id = try transaction.objectID("Episode", by: ["id": "ep:1", "feedID": .int64(feed)])
      let title = try id.flatMap { try transaction.get(Episode.self, $0) }?.title
      return title.flatMap { Int($0.dropFirst("revision ".count)) } ?? 0 >= revision
    }
  }

  /// Looks at the store now and after each commit, until it is as it should be.
  func wait(_ isDone: @escaping @Sendable (ReadTransaction) throws -> Bool) async throws {
    let commits = try commits.observe()
    var seen = 0
    while true {
      seen = try await commits.next(after: seen)
      if try read(isDone) { return }
    }
  }
}
