import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import StatusModel
import StoreFigures
import TestSupport
import Testing

@Suite struct FigureReadingTests {
  @Test func whatAWorkerRecordsIsInTheStatus() async throws {
    try await withTemporaryStore(migrations: [.feeds, .homeFeed, .jobs, .figures, .actions]) {
      temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      try await addFeeds(2, to: store)
      let recorder = FigureRecorder(now: { clock.now })
      var report = SyncReport(feed: "https://host1.example/feed.xml")
      report.new = 7
      recorder.record(run: report, feed: 1, startedAt: clock.now, seconds: 2)
      report.new = 0
      report.outcome = .notModified
      recorder.record(run: report, feed: 1, startedAt: clock.now, seconds: 1)
      var gauges = FigureGauges()
      gauges.storeBytes = 123_456
      recorder.set(gauges)
      _ = try await recorder.flush(to: store)
      clock.advance(by: 86_400)
      let status = try StatusReader(store).read()
      let feed = try #require(status.feeds.worst.first { $0.id == 1 })
      #expect(feed.itemsPerWeek == 7)
      #expect(feed.unchangedShare == 0.5)
      #expect(feed.condition == .late)
      #expect(status.trend.days.map(\.figures.newItems) == [7])
      #expect(status.trend.hours.map(\.figures.runs) == [2])
      #expect(status.file.usedBytesADayAgo == 123_456)
      #expect(status.file.usedBytesAWeekAgo == nil)
    }
  }

  @Test func aSyncThatNoWorkerHasStartedCountsAfterTheRecordedOnes() async throws {
    try await withTemporaryStore(migrations: [.feeds, .homeFeed, .jobs, .figures, .actions]) {
      temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      try await addFeeds(3, to: store)
      let recorder = FigureRecorder(now: { clock.now })
      for feed in [Int64(1), 2] {
        recorder.record(
          run: SyncReport(feed: "https://host\(feed).example/feed.xml"), feed: feed,
          startedAt: clock.now, seconds: 1)
      }
      _ = try await recorder.flush(to: store)
      clock.advance(by: 86_400)
      // Another process has taken the lease of feed 1, and one is about to with that of feed 3.
      try leaveLease(of: 1, "123 ended\n", at: clock.now, in: store)
      try leaveLease(of: 3, "", at: clock.now, in: store)
      let status = try StatusReader(store).read()
      let conditions = status.feeds.worst.sorted { $0.id < $1.id }.map(\.condition)
      #expect(conditions == [.current, .late, .late])
      #expect(status.feeds.worst.first { $0.id == 1 }?.askedAt == clock.now)
    }
  }

  private func leaveLease(of feed: Int64, _ text: String, at date: Date, in store: Store) throws {
    let path = store.folder + "/sync-\(feed).lock"
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
  }

  @Test func aStoreWithoutTheirMigrationHasNone() async throws {
    try await withStatusStore { temporary in
      try await addFeeds(1, to: temporary.store)
      let status = try StatusReader(temporary.store).read()
      #expect(status.trend.hours.isEmpty && status.trend.days.isEmpty)
      #expect(status.fetches.slow.isEmpty && status.actions.isEmpty)
      #expect(status.feeds.worst.first?.itemsPerWeek == nil)
    }
  }
}
