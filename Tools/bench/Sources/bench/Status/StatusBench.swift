import ArgumentParser
import Foundation
import Mooring
import StatusModel

/// Measures how long the status of a large store takes.
struct StatusBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Measures reading the status of a store with many feeds and jobs.")

  @Option(help: "Episodes in the store.") var rows = 100_000
  @Option(help: "Feeds.") var feeds = 10_000
  @Option(help: "Jobs, half of them ready.") var jobs = 1_000_000
  @Option(help: "Reads; the median is shown.") var runs = 50
  @Option(help: "Create the store in this folder, and leave it there.") var keep: String?
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func measure() async throws -> [Section] {
    let (feeds, jobs) = setting.quick ? (200, 2_000) : (feeds, jobs)
    let (rows, runs) = setting.quick ? (1_000, 5) : (rows, runs)
    let scratch = try setting.scratch(needing: rows * 1_500 + jobs * 1_000 + feeds * 2_000)
    defer { scratch.remove() }
    let folder = try keep.map { URL(filePath: $0) } ?? scratch.emptyFolder("status")
    let store = try Store.open(
      at: folder.path, migrations: [.feeds, .homeFeed, .jobs, .figures], migrate: .ifEmpty)
    defer { store.close() }
    let filling = StatusStore(store: store)
    if try Feeds(store).list().isEmpty {
      try await filling.addFeeds(feeds)
      try await filling.addRuns(of: feeds)
      try await filling.addJobs(jobs)
      try await filling.addEpisodes(try Workload(rows: rows, seed: 42))
    }
    var measurement = Measurement(Operation("status", "ms"))
    let reader = StatusReader(store)
    for run in 0...runs {
      let begin = ContinuousClock.now
      let status = try reader.read()
      let took = ContinuousClock.now - begin
      guard status.feeds.total == feeds else {
        throw BenchError(.mismatch, "the status has \(status.feeds.total) feeds")
      }
      if run > 0 { measurement.add(took / .milliseconds(1), of: .mooring) }
    }
    let scope =
      "\(counted(feeds, "feeds")), \(counted(jobs, "jobs")), \(counted(rows, "episodes")), warm, "
      + counted(runs, "runs")
    return [Section(title: "status", scope: scope, rows: rows, measurements: [measurement])]
  }
}

/// Fills the store whose status is read.
struct StatusStore {
  let store: Store

  private static let chunk = 5_000

  func addFeeds(_ count: Int) async throws {
    let urls = (1...count).map { "https://host\($0 % 500).example/feed\($0).xml" }
    _ = try await Feeds(store).add(subscriptions: urls.map { Feeds.Subscription($0) }, .init())
    for number in stride(from: 1, through: count, by: 97) {
      try await Feeds(store).update(Int64(number)) { feed in
        feed.errors = 3
        feed.lastError = "the server cannot be reached: connection refused"
      }
    }
  }

  /// Records a run of each feed, as a worker does.
  func addRuns(of count: Int) async throws {
    let recorder = FigureRecorder()
    let report = SyncReport(feed: "https://host.example/")
    for number in 1...count {
      recorder.record(run: report, feed: Int64(number), startedAt: Date(), seconds: 0.1)
    }
    try await recorder.flush(to: store)
  }

  /// Adds jobs of which half are ready and half wait for their time.
  func addJobs(_ count: Int) async throws {
    let later = Date(timeIntervalSinceNow: 86_400)
    for start in stride(from: 0, to: count, by: Self.chunk) {
      let numbers = start..<min(count, start + Self.chunk)
      try await store.write { transaction in
        for number in numbers {
          var request = JobRequest(
            kind: JobKind(rawValue: "bench.\(number % 5)"), payload: Data("{}".utf8))
          if number % 2 == 1 { request.runAt = later }
          try transaction.enqueue(request)
        }
      }
    }
  }

  func addEpisodes(_ workload: Workload) async throws {
    for first in stride(from: 0, to: workload.count, by: Self.chunk) {
      let part = workload.rows(first..<min(first + Self.chunk, workload.count)).episodes
      try await store.write { transaction in
        for episode in part { try transaction.insert(HomeFeed.Episode(episode, feedID: 1)) }
      }
    }
  }
}
