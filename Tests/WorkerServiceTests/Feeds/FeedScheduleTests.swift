import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Logging
import Migrations
import StoreFigures
import StoreJobs
import TestSupport
import Testing

@testable import WorkerService

@Suite struct FeedScheduleTests {
  /// Before the second machine has applied the commits of the first.
  @Test(arguments: [false, true])
  func aFeedThatAnotherMachineHasPausedIsNotEnqueued(isPaused: Bool) async throws {
    try await withTemporaryFolder { folder in
      let log = MemoryCommitLog()
      func open(_ name: String) throws -> Store {
        try openStore(
          at: folder.path(name), migrations: [.homeFeed, .feeds, .jobs, .figures], log: log)
      }
      let first = try open("first")
      try await Feeds(first).add("https://feeds.example/home")
      let second = try open("second")
      let id = try Feeds(first).find("https://feeds.example/home").id
      try await Feeds(first).update(id) { $0.isPaused = isPaused }
      let schedule = FeedSchedule(
        store: second,
        settings: try LiveSettings {
          EffectiveSettings(settings: WorkerSettings(), items: [], file: nil, warnings: [])
        }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        figures: FigureRecorder(now: { Date() }))
      var turns = HostTurns()
      _ = try await schedule.enqueueDue(begin: second.now(), &turns)
      let job = try JobQueue(second).holder(of: SyncFeed(feed: id))
      #expect((job == nil) == isPaused)
      for store in [first, second] {
        try store.catchUp()
        try requireClean(store)
      }
    }
  }
}
