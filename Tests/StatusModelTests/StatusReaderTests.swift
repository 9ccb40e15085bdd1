import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Maintenance
import Migrations
import StatusModel
import TestSupport
import Testing

@Suite struct StatusReaderTests {
  @Test func aNewStoreNeedsNoAttention() async throws {
    try await withStatusStore { temporary in
      let status = try StatusReader(temporary.store).read()
      #expect(!status.needsAttention)
      #expect(status.problems.map(\.section) == [.backups])
      #expect(status.feeds.total == 0)
      #expect(status.jobs?.count(.ready) == 0)
    }
  }

  @Test func theStatusIsReadBackFromItsJSON() async throws {
    try await withStatusStore { temporary in
      try await addFeeds(3, to: temporary.store)
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let first = try encoder.encode(try StatusReader(temporary.store).read())
      let second = try encoder.encode(JSONDecoder().decode(StoreStatus.self, from: first))
      #expect(first == second)
    }
  }

  @Test func readingTheStatusWritesNothing() async throws {
    try await withStatusStore { temporary in
      try await addFeeds(2, to: temporary.store)
      let before = try temporary.store.statistics().lastTransaction
      _ = try StatusReader(temporary.store).read()
      #expect(try temporary.store.statistics().lastTransaction == before)
    }
  }

  // MARK: Feeds

  @Test func theWorstFeedsComeFirst() async throws {
    try await withStatusStore { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      try await addFeeds(6, to: store)
      let feeds = Feeds(store)
      try await feeds.update(2) { $0.isPaused = true }
      try await feeds.update(3) { [now = clock.now] in
        $0.goneAt = now
        $0.isPaused = true
      }
      try await feeds.update(4) { $0.errors = 2 }
      try await feeds.update(5) { [now = clock.now] in $0.waitUntil = now.addingTimeInterval(60) }
      try await feeds.update(6) { $0.isRemoved = true }
      let status = try StatusReader(store).read()
      #expect(status.feeds.worst.map(\.id) == [3, 4, 5, 1, 2])
      #expect(
        status.feeds.worst.map(\.condition) == [.gone, .failing, .waiting, .new, .paused])
      #expect(status.feeds.total == 5)
      #expect(status.problems.map(\.severity) == [.warning, .warning, .note, .note])
      #expect(status.needsAttention)
    }
  }

  @Test func aFeedThatIsNotRequestedInTimeIsLate() async throws {
    try await withStatusStore { temporary in
      try await addFeeds(1, to: temporary.store)
      #expect(try StatusReader(temporary.store).read().feeds.count(.new) == 1)
      temporary.clock.advance(by: 2 * 900 + 1)
      let status = try StatusReader(temporary.store).read()
      #expect(status.feeds.count(.late) == 1)
      #expect(status.problems.first?.advice.contains("worker") == true)
    }
  }

  @Test func aFeedWhoseHostHasAskedToWaitIsNotLate() async throws {
    try await withStatusStore { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      try await addFeeds(2, to: store)
      clock.advance(by: 2 * 900 + 1)
      try await store.write { [until = clock.now.addingTimeInterval(60)] transaction in
        _ = try transaction.upsert(
          "_Host", ["name": .string("host1.example"), "waitUntil": .date(until)], by: ["name"])
      }
      #expect(try StatusReader(store).read().feeds.worst.map(\.condition) == [.late, .waiting])
      #expect(try StatusReader(store).feed(1)?.condition == .waiting)
      clock.advance(by: 61)
      #expect(try StatusReader(store).read().feeds.worst.map(\.condition) == [.late, .late])
    }
  }

  @Test func theErrorOfAFailingFeedIsInTheProblem() async throws {
    try await withStatusStore { temporary in
      try await addFeeds(1, to: temporary.store)
      try await Feeds(temporary.store).update(1) { feed in
        feed.errors = 1
        feed.lastError = "the server cannot be reached: connection refused (try again)"
      }
      let problem = try #require(try StatusReader(temporary.store).read().problems.first)
      #expect(problem.summary.hasSuffix("the server cannot be reached"))
      #expect(problem.advice == "`mooring feed show 1`")
    }
  }

  @Test func thousandsOfFeedsAreListedInPages() async throws {
    try await withStatusStore { temporary in
      try await addFeeds(120, to: temporary.store)
      try await Feeds(temporary.store).update(77) { $0.errors = 1 }
      var reader = StatusReader(temporary.store)
      reader.listed = 50
      let status = try reader.read()
      #expect(status.feeds.total == 120)
      #expect(status.feeds.worst.count == 50)
      #expect(status.feeds.worst.first?.id == 77)
      let last = try reader.feeds(from: 100)
      #expect(last.worst.count == 20)
    }
  }

  // MARK: Jobs

  @Test(arguments: [UInt64(1), 2, 3]) func countsAreThoseOfTheJobs(seed: UInt64) async throws {
    try await withStatusStore(seed: seed) { temporary in
      var random = temporary.random
      let later = temporary.clock.now.addingTimeInterval(3_600)
      var expected: [String: Int] = [:]
      let numbers = (0..<Int.random(in: 100...700, using: &random)).map { _ in
        (Int.random(in: 0..<3, using: &random), Bool.random(using: &random))
      }
      for (_, isLater) in numbers { expected[isLater ? "scheduled" : "ready", default: 0] += 1 }
      try await temporary.store.write { transaction in
        for (kind, isLater) in numbers {
          var request = JobRequest(
            kind: JobKind(rawValue: "test.\(kind)"), payload: Data("{}".utf8))
          if isLater { request.runAt = later }
          try transaction.enqueue(request)
        }
      }
      let jobs = try #require(try StatusReader(temporary.store).read().jobs)
      #expect(jobs.statistics.counts.filter { $0.value > 0 } == expected)
      let ready = jobs.statistics.lanes.map(\.ready).reduce(0, +)
      #expect(ready == expected["ready"])
      #expect(jobs.statistics.areLanesComplete == (expected["scheduled", default: 0] <= 500))
    }
  }

  @Test func aPoisonedJobIsAProblemWithItsCommand() async throws {
    try await withStatusStore { temporary in
      let store = temporary.store
      let request = JobRequest(kind: "test.poison", payload: Data("{}".utf8))
      let job = try await JobQueue(store).enqueue(request).id
      let now = temporary.clock.now
      try await store.write { transaction in
        try transaction.update(ObjectID(entity: "_Job", number: job.rawValue)) { record in
          try record.set("state", to: .string("poisoned"))
          try record.set("lane", to: .null)
          try record.set("at", to: .date(now))
          try record.set("finishedAt", to: .date(now))
        }
      }
      let problems = try StatusReader(store).read().problems
      let problem = try #require(problems.first)
      #expect(problem.section == .jobs)
      #expect(problem.advice.contains("mooring jobs retry \(job)"))
    }
  }

  @Test func jobsWithoutAWorkerAreCritical() async throws {
    try await withStatusStore { temporary in
      let request = JobRequest(kind: "test", payload: Data("{}".utf8))
      try await JobQueue(temporary.store).enqueue(request)
      let problem = try #require(try StatusReader(temporary.store).read().problems.first)
      #expect(problem.severity == .critical)
      #expect(problem.section == .workers)
    }
  }

  // MARK: The store

  @Test func aFullDiskIsTheWorstProblem() async throws {
    try await withStatusStore { temporary in
      var reader = StatusReader(temporary.store)
      reader.reserveBytes = .max
      let problem = try #require(try reader.read().problems.first)
      #expect(problem.severity == .critical)
      #expect(problem.summary.hasPrefix("the disk is full"))
    }
  }

  @Test func aBackupAndItsLaterCheckAreKnown() async throws {
    try await withStatusStore { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      let path = temporary.folder.path("backup")
      store.record(try store.backUp(to: path))
      var backup = try #require(try StatusReader(store).read().backups.first)
      #expect(backup.path == path)
      #expect(backup.exists && backup.isSound)
      clock.advance(by: 3_600)
      RecordedCheck.record(try Store.check(at: path), at: clock.now, inStore: path)
      backup = try #require(try StatusReader(store).read().backups.first)
      #expect(backup.verifiedAt.timeIntervalSince(backup.madeAt) >= 3_599)
      #expect(try StatusReader(store).read().problems.isEmpty)
      clock.advance(by: 9 * 86_400)
      #expect(try StatusReader(store).read().problems.map(\.section) == [.backups])
      try FileManager.default.removeItem(atPath: path)
      #expect(try StatusReader(store).read().backups.first?.exists == false)
    }
  }

  @Test func aNoteThatCannotBeReadCountsAsNone() async throws {
    try await withStatusStore { temporary in
      let folder = temporary.store.folder
      for text in ["", "{", #"[{"path":7}]"#, String(repeating: "[", count: 70_000)] {
        for name in ["backups.json", "check.json"] {
          try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let status = try StatusReader(temporary.store).read()
        #expect(status.backups.isEmpty)
        #expect(status.check == nil)
      }
    }
  }

  @Test func theConsumersOfTheHistoryAreListed() async throws {
    try await withStatusStore { temporary in
      let store = temporary.store
      try await store.advance(consumer: "search", to: try store.historyToken())
      let status = try StatusReader(store).read()
      #expect(status.history.consumers.map(\.name) == ["search"])
      #expect(status.history.consumers.first?.unread == 0)
    }
  }
}

/// Runs a body with a store that has feeds and jobs.
func withStatusStore<R>(
  seed: UInt64 = 1, isolation: isolated (any Actor)? = #isolation,
  _ body: (TemporaryStore) async throws -> R
) async throws -> R {
  try await withTemporaryStore(
    seed: seed, migrations: [.feeds, .homeFeed, .jobs], isolation: isolation, body)
}

func addFeeds(_ count: Int, to store: Store) async throws {
  let urls = (1...count).map { "https://host\($0).example/feed.xml" }
  _ = try await Feeds(store).add(subscriptions: urls.map { Feeds.Subscription($0) }, .init())
}
