import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import StoreJobs
import TestSupport
import Testing

@testable import WorkerService

/// On devices without room, as far as this machine lets a test mount one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FullDiskTests {
  @Test func belowTheReserveNothingBeginsUntilThereIsRoom() async throws {
    try await withDevice(size: "8m") { device in
      let folder = device + "/store"
      let store = try openWorkerStore(folder)
      try fill(device, leaving: 1 << 20)
      let job = try await JobQueue(store).enqueue(CheckStore())
      let settings = try SettingsSource { $0.diskReserve = 3 << 20 }.live()
      let worker = try TestWorker(on: folder, settings) { $0.watchdogInterval = .milliseconds(20) }
      try await worker.run {
        let paused = try await worker.systemd.wait(for: "STATUS=paused: the disk is nearly full")
        try await worker.log.wait(for: "error", "paused: the disk is nearly full")
        // It is alive, and looks at the disk again and again.
        try await worker.systemd.wait(for: "WATCHDOG=1", after: paused)
        #expect(try JobQueue(store).status(job.id)?.state == .ready)
        try empty(device)
        try await worker.systemd.wait(for: "STATUS=working", after: paused)
        try await store.wait(for: job.id, toBe: .succeeded)
      }
      #expect(worker.log.lines.count { $0.contains("paused") } == 1)
    }
  }

  @Test func theWorkerWaitsWhileTheDiskIsFull() async throws {
    let feed = try EpisodeFeed()
    defer { feed.stop() }
    try await withDevice(size: "4m") { device in
      let folder = device + "/store"
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(feed.url, .init(every: .seconds(1)))
      let id = try Feeds(store).find(feed.url).id
      let settings = try SettingsSource().live()
      let worker = try TestWorker(on: folder, settings) { $0.watchdogInterval = .milliseconds(20) }
      try await worker.run {
        try await store.waitForRevision(1, ofFeed: id)
        try fill(device, leaving: 0)
        try await useUpFreePages(of: store)
        // Whether the runner's own small commits still find room is chance, and it works or says
        // that it is paused; it is alive either way.
        var seen = worker.systemd.lines.count
        for _ in 0..<5 { seen = try await worker.systemd.wait(for: "WATCHDOG=1", after: seen) }
        let before = feed.requestCount
        try empty(device)
        try await store.waitForRevision(before + 2, ofFeed: id)
      }
      // What could not be written for want of room is no fault of a job.
      var filter = JobFilter()
      filter.states = [.discarded, .poisoned]
      #expect(try JobQueue(store).list(filter).isEmpty)
    }
  }

  @Test func aWorkerThatStartsOnAFullDiskWaitsForRoom() async throws {
    try await withDevice(size: "4m") { device in
      let folder = device + "/store"
      let job: JobID
      do {
        let store = try openWorkerStore(folder)
        job = try await JobQueue(store).enqueue(CheckStore()).id
        try fill(device, leaving: 0)
        try await useUpFreePages(of: store)
      }
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run(from: "STATUS=paused: ") {
        let paused = try await worker.systemd.wait(for: "STATUS=paused: ", "no room is left")
        try empty(device)
        try await worker.systemd.wait(for: "READY=1", after: paused)
        try await worker.systemd.wait(for: "STATUS=working", after: paused)
        try await openWorkerStore(folder).wait(for: job, toBe: .succeeded)
      }
    }
  }

  /// systemd is asked for more time, so that it does not restart the worker in a loop.
  @Test func aStoreThatCannotBeOpenedYetIsRetried() async throws {
    try await withWorkerFolder { folder in
      let refusal = try await Self.busy(in: folder)
      let openings = Journal()
      let worker = try TestWorker(on: folder, try SettingsSource().live()) {
        $0.open = {
          openings.add("opening")
          if openings.lines.count == 1 { throw refusal }
          return try openWorkerStore(folder)
        }
      }
      try await worker.run {
        let paused = try await worker.systemd.wait(for: "STATUS=paused: ")
        let asked = try await worker.systemd.wait(for: "EXTEND_TIMEOUT_USEC=", after: paused)
        try await worker.systemd.wait(for: "READY=1", after: asked)
        try await worker.systemd.wait(for: "STATUS=working", after: asked)
      }
    }
  }

  @Test func aWorkerIsReadyOnceItsRunnerIsStored() async throws {
    try await withWorkerFolder { folder in
      var options = Store.Options()
      options.mapSize = 1 << 30
      options.writerDeadline = .milliseconds(50)
      let store = try Store.open(
        at: folder, migrations: [.jobs, .feeds, .homeFeed], migrate: .ifEmpty, options: options)
      let other = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-hold-writer", folder])
      defer { other.kill() }
      try #require(other.readLine() != nil)
      let worker = try TestWorker(on: folder, try SettingsSource().live()) { $0.open = { store } }
      try await worker.run(from: "STATUS=paused: ") {
        try #require(!worker.systemd.lines.contains("READY=1"))
        let asked = try await worker.systemd.wait(for: "EXTEND_TIMEOUT_USEC=")
        other.kill()
        try await worker.systemd.wait(for: "READY=1", after: asked)
        #expect(try JobQueue(store).runners().map(\.isAlive) == [true])
      }
    }
  }

  /// An error that passes.
  private static func busy(in folder: String) async throws -> StoreError {
    var options = Store.Options()
    options.writerDeadline = .milliseconds(50)
    let store = try Store.open(
      at: folder, migrations: [.jobs, .feeds, .homeFeed], migrate: .ifEmpty, options: options)
    let child = try ChildProcess(
      childExecutable(named: "store-child"), ["lmdb-hold-writer", folder])
    defer { child.kill() }
    try #require(child.readLine() != nil)
    return try await #require(throws: StoreError.self) { try await store.write { _ in } }
  }

  // MARK: The device

  private func withDevice(size: String, _ body: (String) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: size) else { return }
      defer { unmountDevice(device) }
      try await body(device)
      let store = try openWorkerStore(device + "/store")
      try requireClean(store)
      try requireWholePages(store)
    }
  }

  private func fill(_ device: String, leaving bytes: Int) throws {
    let path = device + "/filler"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    let block = [UInt8](repeating: 1, count: 4_096)
    while write(file.fileDescriptor, block, block.count) == block.count {}
    try #require(errno == ENOSPC)
    try file.truncate(atOffset: UInt64(max(0, Int(try file.offset()) - bytes)))
    try file.close()
  }

  private func empty(_ device: String) throws {
    try FileManager.default.removeItem(atPath: device + "/filler")
  }

  /// Fills the free pages of the store, which would otherwise serve small commits for long.
  private func useUpFreePages(of store: Store) async throws {
    for (bytes, count) in [(200_000, 1), (20_000, 1), (2_000, 1), (10, 20), (10, 1)] {
      let text = Value.string(String(repeating: "x", count: bytes))
      await #expect(throws: StoreError.self) {
        while true {
          try await store.write { transaction in
            for _ in 0..<count {
              try transaction.insert(
                "Episode", ["id": .string(UUID().uuidString), "summary": text])
            }
          }
        }
      }
    }
  }
}
