import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Glibc
import HomeFeed
import LoopbackHTTP
import StoreJobs
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerProcessTests {
  @Test func systemdIsNotifiedFromTheStartToTheEnd() async throws {
    try await withTemporaryFolder { folder in
      let environment = ["WATCHDOG_USEC": "100000"]
      var notified: [String] = []
      try await WorkerProcess.run(store: folder.path("store"), environment: environment) { worker in
        // It serves from then on: nobody else may.
        expectFailure(
          try mooring("worker", store: folder.path("store")), 75, "another worker",
          "process: \(worker.pid)")
        var seen = 0
        for _ in 0..<5 { seen = try await worker.notified.wait(for: "WATCHDOG=1", after: seen) }
        worker.signal(SIGHUP)
        let reloading = try await worker.notified.wait(for: "RELOADING=1")
        try await worker.notified.wait(for: "MONOTONIC_USEC=", after: reloading)
        try await worker.notified.wait(for: "READY=1", after: reloading)
        notified = worker.notified.lines
      }
      #expect(notified.contains("STATUS=working"))
      #expect(!notified.contains("STOPPING=1"))
      #expect(try mooring("check", store: folder.path("store")).status == 0)
    }
  }

  /// The watchdog variables of another process do not apply to this one.
  @Test func noPingsWithoutAWatchdog() async throws {
    try await withTemporaryFolder { folder in
      let environment = ["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"]
      let worker = try WorkerProcess(store: folder.path("store"), environment: environment)
      try await worker.notified.wait(for: "READY=1")
      worker.signal(SIGTERM)
      #expect(try worker.finish().status == 0)
      #expect(!worker.notified.lines.contains("WATCHDOG=1"))
    }
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func twoFeedsAreSyncedOnScheduleUntilASignal(_ signal: Int32) async throws {
    let body = try SampleFeed.document()
    let servers = try (0..<2).map { _ in
      try LoopbackServer { _, connection in try connection.send(SampleFeed.json(body)) }
    }
    defer { for server in servers { server.stop() } }
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      for server in servers {
        let add = ["feed", "add", server.url + "/feed", "--every", "1s"]
        #expect(try run("mooring", add, store: path).status == 0)
      }
      let store = try openStoreOfTool(path)
      let worker = try WorkerProcess(store: path)
      var filter = JobFilter()
      filter.kinds = [SyncFeed.kind]
      filter.states = [.succeeded]
      try await store.wait { _ in try JobQueue(store).list(filter).count >= 6 }
      worker.signal(signal)
      #expect(try worker.finish().status == 0)
      #expect(servers.allSatisfy { $0.requests.count >= 2 })
      #expect(try store.read { try $0.count(of: "Episode") } == 2 * SampleFeed.titles.count)
      #expect(try JobQueue(store).runners().isEmpty)
      #expect(try mooring("check", store: path).status == 0)
    }
  }

  @Test func runningJobsAreHandedBackAtAStop() async throws {
    let never = try Signal()
    let server = try LoopbackServer { _, connection in
      try connection.stall(until: never)
    }
    defer { server.stop() }
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      #expect(try mooring("feed", "add", server.url + "/feed", store: path).status == 0)
      let store = try openStoreOfTool(path)
      let job = try await JobQueue(store).enqueue(SyncFeed(feed: 1))
      try await WorkerProcess.run(["--drain-timeout", "0s"], store: path) { _ in
        try await store.wait(for: job.id, toBe: .running)
      }
      let status = try #require(try JobQueue(store).status(job.id))
      #expect(status.state == .ready && status.attempts == 0 && status.rescues == 0)
      #expect(try JobQueue(store).attempts(of: job.id).isEmpty)
    }
  }

  @Test func aReloadReadsTheFileAndKeepsTheOldSettingsIfItIsWrong() async throws {
    try await withTemporaryFolder { folder in
      let (path, file) = (folder.path("store"), folder.path("worker.yaml"))
      let settings = URL(fileURLWithPath: file)
      try Data("queues:\n  maintenance: 1\n".utf8).write(to: settings)
      try await WorkerProcess.run(["--config", file], store: path) { worker in
        for text in ["concurrency: 0\n", "concurrency: 2\n"] {
          try Data(text.utf8).write(to: settings)
          let before = worker.notified.lines.count
          worker.signal(SIGHUP)
          let reloading = try await worker.notified.wait(for: "RELOADING=1", after: before)
          try await worker.notified.wait(for: "READY=1", after: reloading)
        }
        let store = try openStoreOfTool(path)
        #expect(try await JobQueue(store).enqueue(CheckStore()).value.isClean)
      }
    }
  }

  @Test func invalidSettingsPreventTheStart() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      expectFailure(
        try mooring("worker", store: path, environment: ["MOORING_WORKER_CONCURRENCY": "0"]), 78,
        "MOORING_WORKER_CONCURRENCY")
      let file = folder.path("worker.yaml")
      try Data("concurrency: many\n".utf8).write(to: URL(fileURLWithPath: file))
      let spoiled = try mooring("worker", "--config", file, store: path)
      #expect(spoiled.status == 78)
      #expect(
        spoiled.errors.hasPrefix("\(file):1:14: expected a whole number"), "\(spoiled.errors)")
      expectFailure(
        try mooring("worker", "--config", folder.path("none"), store: path), 78, "none")
      expectFailure(try mooring("worker", "--concurrency", "0", store: path), 64, "--concurrency")
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func anUnusableSocketIsReported() throws {
    try withTemporaryFolder { folder in
      let run = try mooring(
        "worker", store: folder.path("store"), environment: ["NOTIFY_SOCKET": "relative"])
      expectFailure(run, 78, "NOTIFY_SOCKET")
    }
  }

  @Test func aKilledWorkerIsFollowedByAnotherOne() async throws {
    let mayContinue = try Signal()
    let body = try SampleFeed.document()
    let server = try LoopbackServer { _, connection in
      try connection.stall(until: mayContinue)
      try connection.send(SampleFeed.json(body))
    }
    defer { server.stop() }
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      #expect(try mooring("feed", "add", server.url + "/feed", store: path).status == 0)
      let store = try openStoreOfTool(path)
      let job = try await JobQueue(store).enqueue(SyncFeed(feed: 1))
      let first = try WorkerProcess(store: path)
      try await store.wait(for: job.id, toBe: .running)
      first.signal(SIGKILL)
      #expect(try first.finish().status == -SIGKILL)
      #expect(try JobQueue(store).runners().map(\.isAlive) == [false])
      mayContinue.fire()
      try await WorkerProcess.run(store: path) { _ in
        let status = try await store.wait(for: job.id, toBe: .succeeded)
        #expect(status.attempts == 1 && status.rescues == 1)
      }
      #expect(try JobQueue(store).attempts(of: job.id).map(\.outcome) == ["rescued"])
      #expect(try JobQueue(store).runners().isEmpty)
    }
  }
}
