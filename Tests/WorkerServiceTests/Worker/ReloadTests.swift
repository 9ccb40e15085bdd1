import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Logging
import LoopbackHTTP
import StoreJobs
import TestSupport
import Testing

@testable import WorkerService

@Suite(.serialized, .timeLimit(.minutes(5))) struct ReloadTests {
  @Test func theNumberOfConcurrentJobsIsReloaded() async throws {
    let gate = try Signal()
    let feeds = [try EpisodeFeed(gate: gate), try EpisodeFeed(gate: gate)]
    defer { for feed in feeds { feed.stop() } }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      var jobs: [JobID] = []
      for feed in feeds {
        try await Feeds(store).add(feed.url)
        let sync = SyncFeed(feed: try Feeds(store).find(feed.url).id)
        jobs.append(try await JobQueue(store).enqueue(sync).id)
      }
      let settings = SettingsSource { $0.concurrency = 1 }
      let worker = try TestWorker(on: folder, try settings.live())
      try await worker.run {
        try await store.wait(for: jobs[0], toBe: .running)
        #expect(try JobQueue(store).status(jobs[1])?.state == .ready)
        settings.change { $0.concurrency = 2 }
        await worker.worker.reload()
        try await store.wait(for: jobs[1], toBe: .running)
        try await worker.log.wait(for: "new settings", "live=concurrency")
        gate.fire()
        for job in jobs { try await store.wait(for: job, toBe: .succeeded) }
      }
    }
  }

  @Test func theLimitOfAQueueIsReloaded() async throws {
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      let settings = SettingsSource { $0.queues = [QueueLimit(queue: "maintenance", limit: 0)] }
      let worker = try TestWorker(on: folder, try settings.live())
      try await worker.run {
        let held = try await JobQueue(store).enqueue(CheckStore())
        let other = try await JobQueue(store).enqueue(PruneStore()) { $0.queue = "other" }
        try await store.wait(for: other.id, toBe: .succeeded)
        #expect(try JobQueue(store).status(held.id)?.state == .ready)
        settings.change { $0.queues = [] }
        await worker.worker.reload()
        try await store.wait(for: held.id, toBe: .succeeded)
      }
    }
  }

  @Test func theIntervalOfTheFeedsIsReloaded() async throws {
    let feed = try EpisodeFeed()
    defer { feed.stop() }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(feed.url)
      let id = try Feeds(store).find(feed.url).id
      let settings = SettingsSource { $0.syncEvery = .seconds(86_400) }
      let worker = try TestWorker(on: folder, try settings.live())
      try await worker.run {
        try await store.waitForRevision(1, ofFeed: id)
        settings.change { $0.syncEvery = .seconds(1) }
        await worker.worker.reload()
        // A commit of anybody, so that the schedule need not be waited for.
        try await Feeds(store).update(id) { $0.title = "news" }
        try await store.waitForRevision(3, ofFeed: id)
      }
    }
  }

  @Test func levelAndFormatOfTheLogAreReloaded() async throws {
    try await withWorkerFolder { folder in
      let output = LogOutput(level: .info, format: .text, environment: [:])
      let settings = SettingsSource()
      let worker = try TestWorker(on: folder, try settings.live()) { $0.logOutput = output }
      try await worker.run {
        settings.change { $0.logLevel = .debug }
        await worker.worker.reload()
        #expect(output.level == .debug)
        try await worker.log.wait(for: "new settings", "live=logLevel")
        await worker.worker.reload()
        try await worker.log.wait(for: "the settings are as they were")
      }
    }
  }

  @Test func systemdIsNotifiedOfAReloadAndOfItsEnd() async throws {
    try await withWorkerFolder { folder in
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {
        let started = try await worker.systemd.wait(for: "READY=1")
        await worker.worker.reload()
        let reloading = try await worker.systemd.wait(for: "RELOADING=1", after: started)
        try await worker.systemd.wait(for: "MONOTONIC_USEC=", after: reloading)
        try await worker.systemd.wait(for: "READY=1", after: reloading)
      }
    }
  }

  @Test func invalidSettingsLeaveTheOldOnes() async throws {
    try await withWorkerFolder { folder in
      let settings = SettingsSource { $0.concurrency = 3 }
      let live = try settings.live()
      let worker = try TestWorker(on: folder, live)
      try await worker.run {
        settings.spoil()
        await worker.worker.reload()
        let line = "the settings stay as they were"
        try await worker.log.wait(for: "error", line, "error=the file is spoiled")
        #expect(live.current.concurrency == 3)
        let store = try openWorkerStore(folder)
        let check = try await JobQueue(store).enqueue(CheckStore())
        try await store.wait(for: check.id, toBe: .succeeded)
      }
    }
  }
}
