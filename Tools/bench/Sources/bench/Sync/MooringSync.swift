import Foundation
import Mooring
import Synchronization

/// Mooring's sync as `mooring sync` runs it: with the schema of the home feed, libcurl, and commits
/// of the default size.
final class MooringSync: SyncCandidate {
  let name = CandidateName.mooring
  private let transport: () throws -> any HTTPTransport
  private let commitDuration: Duration
  private var store: Store?
  private var feed: Int64 = 0

  /// - Parameters:
  ///   - commitDuration: As in the store's options.
  ///   - transport: Returns the transport of a sync.
  init(
    commitDuration: Duration = Store.Options().commitDuration,
    transport: @escaping () throws -> any HTTPTransport = { try CurlTransport() }
  ) {
    self.commitDuration = commitDuration
    self.transport = transport
  }

  func open(in folder: URL, feed: String) async throws {
    var options = Store.Options()
    options.mapSize = 8 << 30
    options.commitDuration = commitDuration
    let store = try Store.open(
      at: folder.path, migrations: [.homeFeed, .feeds], migrate: .ifEmpty,
      requiring: [HomeFeed.Episode.self], options: options)
    try await Feeds(store).add(feed)
    self.feed = try Feeds(store).find(feed).id
    self.store = store
  }

  func close() throws {
    store?.close()
    store = nil
  }

  func sync(_ turn: SyncTurn) async throws -> SyncOutcome {
    let engine = SyncEngine(store: try opened(), transport: try transport())
    var options = SyncEngine.Options()
    options.isFull = turn.isFull
    // The last run was a moment ago, so the feed is not due yet.
    options.ignoresWait = true
    let commits = Mutex(0)
    let report = try await engine.sync(feed, options: options) { _ in
      commits.withLock { $0 += 1 }
    }
    guard report.rejected == 0, report.dropped == 0, report.skipped == 0 else {
      throw BenchError(.mismatch, "\(name): the sync did not store all items: \(report)")
    }
    if report.outcome == .notModified { return .notModified }
    // Progress is not reported for the last commit.
    return .synced(rows: report.items, commits: commits.withLock { $0 } + 1)
  }

  /// Stores episodes of the user's own, which no feed lists, for the puts of another process.
  func insertOwnEpisodes(_ count: Int) async throws {
    _ = try await opened().write { transaction in
      for number in 1...count {
        try transaction.insert(HomeFeed.Episode(id: "own:\(number)", title: "Own \(number)"))
      }
    }
  }

  var copy: any EpisodeReader {
    get throws { HomeFeedCopy(store: try opened(), feedID: feed) }
  }

  private func opened() throws -> Store {
    guard let store else { throw BenchError(.candidate, "\(name): used before it was opened") }
    return store
  }
}

/// The episodes that a sync stored, for the cross-check.
private final class HomeFeedCopy: EpisodeReader {
  let name = CandidateName.mooring
  private let store: Store
  private let feedID: Int64

  init(store: Store, feedID: Int64) {
    self.store = store
    self.feedID = feedID
  }

  func episode(id: String) throws -> Episode? {
    let request = FetchDescriptor<HomeFeed.Episode>(
      predicate: .comparison("id", .equal, .string(id))
        && .comparison("feedID", .equal, .int64(feedID)))
    return try store.fetch(request).first.map { Episode($0) }
  }

  func sumOfDurations() throws -> Int {
    var request = FetchRequest(entityName: HomeFeed.Episode.entityName)
    request.propertiesToFetch = [.sum("duration", as: "sum")]
    return try numbers(request).first ?? 0
  }

  func countsByType() throws -> [Int] {
    var request = FetchRequest(entityName: HomeFeed.Episode.entityName)
    request.propertiesToGroupBy = ["type"]
    request.propertiesToFetch = [.count(as: "count")]
    return try numbers(request)
  }

  private func numbers(_ request: FetchRequest) throws -> [Int] {
    try store.read { transaction in
      try transaction.fetchRows(request).compactMap { row in
        if case .int64(let number)? = row.values.last { Int(number) } else { nil }
      }
    }
  }
}
