import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Glibc
import HomeFeed
import StoreJobs
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(30))) struct WorkerKillTests {
  /// Kills `mooring worker` at seeded moments and starts it again, while feeds change and jobs are
  /// enqueued. `KilledWork` describes the required results.
  @Test func aWorkerThatIsKilledRepeatedlyLosesNothingAndDoesNothingTwice() async throws {
    let kills = isThorough ? 200 : 40
    var random = SeededRandom(seed: testSeed(61))
    let feeds = [try ServedFeed(items: 150), try ServedFeed(items: 70)]
    defer { for feed in feeds { feed.stop() } }
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      let store = try openStoreOfTool(path)
      for feed in feeds { try await Feeds(store).add(feed.url, .init(every: .seconds(1))) }
      var work = try await KilledWork(store, folder)
      for kill in 0..<kills {
        for feed in feeds { feed.advance(deletes: kill.isMultiple(of: 5), &random) }
        for _ in 0..<Int.random(in: 0...2, using: &random) { try await work.enqueue(&random) }
        try await runAndKill(path, store, &random)
        if kill % 10 == 9 { try expectSound(store) }
      }
      try await work.hurry()
      try await WorkerProcess.run(store: path) { _ in
        try await store.wait { transaction in
          try work.isDone() && feeds.allSatisfy { try hasAll(of: $0, in: transaction) }
        }
      }
      print("after \(kills) kills: \(try work.summary())")
      #expect(try JobQueue(store).runners().isEmpty)
      try work.expectEndings()
      try work.expectFiles()
      try work.expectBatches()
      try expectSound(store)
      try requireWholePages(store)
      #expect(try mooring("check", store: path).status == 0)
    }
  }

  /// One run of a worker: it is killed after a number of commits, its own and those of its jobs, or
  /// after a time.
  private func runAndKill(
    _ path: String, _ store: Store, _ random: inout SeededRandom
  ) async throws {
    let commits =
      Int.random(in: 0..<3, using: &random) == 0 ? .max : Int.random(in: 1...40, using: &random)
    let milliseconds = commits == .max ? Int.random(in: 1...800, using: &random) : 2_000
    let observation = try store.commits.observe()
    let before = try await observation.next(after: 0)
    let worker = try StartedTool(
      "mooring", ["worker", "--jitter", "0", "--host-spacing", "0s"], store: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var seen = before
        while seen - before < commits { seen = try await observation.next(after: seen) }
      }
      // Without a commit the drawn moment decides: the same must hold at any. An idle worker
      // commits nothing, so the other tasks end, too.
      group.addTask { try await Task.sleep(for: .milliseconds(milliseconds)) }
      try await group.next()
      group.cancelAll()
    }
    kill(worker.pid, SIGKILL)
    let run = try worker.finish()
    #expect(run.status == -SIGKILL, "\(run.errors)")
  }

  private func expectSound(_ store: Store) throws {
    try requireClean(store)
    let report = try JobQueue(store).check()
    #expect(report.isClean, "\(report.problems)")
    #expect(try mooring("jobs", "stats", store: store.folder).status == 0)
  }

  private func hasAll(of feed: ServedFeed, in transaction: ReadTransaction) throws -> Bool {
    let id = try transaction.objectID(Feed.entityName, by: ["url": .string(feed.url)])?.number
    let episodes = try transaction.fetch(
      FetchDescriptor<Episode>(predicate: .comparison("feedID", .equal, .int64(id ?? 0))))
    return feed.titles == Dictionary(uniqueKeysWithValues: episodes.map { ($0.id, $0.title ?? "") })
  }
}
