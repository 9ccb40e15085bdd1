import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import StoreFigures
import TestSupport
import Testing

@testable import WorkerService

@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerFigureTests {
  private func open(_ folder: String, _ figures: FigureRecorder? = nil) throws -> Store {
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    options.fetchObserver = figures?.fetchObserver
    return try Store.open(
      at: folder, migrations: [.jobs, .feeds, .homeFeed, .figures], migrate: .ifEmpty,
      options: options)
  }

  @Test func aWorkerThatStopsHasWrittenItsRunsAndJobs() async throws {
    let feed = try EpisodeFeed()
    defer { feed.stop() }
    try await withWorkerFolder { folder in
      let store = try open(folder)
      try await Feeds(store).add(feed.url, .init(every: .seconds(1)))
      let id = try Feeds(store).find(feed.url).id
      let worker = try TestWorker(on: folder, try SettingsSource().live()) { configuration in
        configuration.open = { [figures = configuration.figures] in try self.open(folder, figures) }
      }
      try await worker.run { try await store.waitForRevision(3, ofFeed: id) }
      try store.read { transaction in
        let figures = StoreFigures(transaction)
        let days = try figures.slots(.day, from: .distantPast, to: .distantFuture).map(\.figures)
        let runs = days.map(\.runs).reduce(0, +)
        #expect(runs >= 3 && days.map(\.failed).reduce(0, +) == 0)
        #expect(days.map(\.newItems).reduce(0, +) == 1)
        #expect(days.map(\.jobsSucceeded).reduce(0, +) >= runs - 1)
        #expect(days.map(\.requests).reduce(0, +) >= 3 && days.map(\.bytes).reduce(0, +) > 0)
        let gauges = try #require(days.last).gauges
        #expect(gauges.feedsScheduled == 1 && gauges.feedsFailing == 0)
        #expect(try #require(gauges.storeBytes) > 0 && gauges.mapBytes == 1 << 30)
        let recorded = try #require(try figures.feed(id))
        #expect(recorded.failedSince == nil && recorded.succeededAt == recorded.askedAt)
        #expect(recorded.days.days.map(\.runs).reduce(0, +) == Int(runs))
        #expect(try figures.indexUses().contains { $0.entity == "Episode" })
      }
    }
  }

  @Test func aWorkerOnAStoreWithoutFiguresReportsThatOnce() async throws {
    let feed = try EpisodeFeed()
    defer { feed.stop() }
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      try await Feeds(store).add(feed.url, .init(every: .seconds(1)))
      let id = try Feeds(store).find(feed.url).id
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run { try await store.waitForRevision(2, ofFeed: id) }
      let remarks = worker.log.lines.filter { $0.contains("no figures are recorded") }
      #expect(remarks.count == 1 && worker.log.lines.allSatisfy { !$0.contains("could not be") })
    }
  }
}
