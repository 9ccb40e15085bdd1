import EntityModel
import EntityStore
import Foundation
import HomeFeed
import Maintenance
import Migrations
import TestSupport
import Testing

@testable import FeedSync

/// A store with one feed, a scripted network and a fixed clock.
struct SyncFixture: Sendable {
  static let url = "https://feed.example/v1/home"

  let folder: TemporaryFolder
  let store: Store
  /// 2026-11-20T10:00:00Z
  let clock = ManualClock(Date(timeIntervalSince1970: 1_795_168_800))
  let transport = ScriptedTransport()
  let feedID: Int64

  fileprivate init(folder: TemporaryFolder, migrations: [MigrationSource]) async throws {
    self.folder = folder
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    options.now = { [clock] in clock.now }
    store = try Store.open(
      at: folder.path("store"), migrations: [.homeFeed, .feeds] + migrations,
      migrate: .ifEmpty, options: options)
    try await Feeds(store).add(Self.url)
    feedID = try Feeds(store).find(Self.url).id
  }

  /// Returns a new engine for each run, as in a new process.
  var engine: SyncEngine {
    makeEngine(of: store)
  }

  /// Returns an engine that advances the clock in place of waiting.
  func makeEngine(of store: Store) -> SyncEngine {
    var engine = SyncEngine(store: store, transport: transport, now: { [clock] in clock.now })
    engine.sleep = { [clock] wait in clock.advance(by: wait / .seconds(1)) }
    return engine
  }

  @discardableResult
  func sync(
    _ id: Int64? = nil, isFull: Bool = false, allowsDeletions: Bool = false,
    ignoresWait: Bool = false
  ) async throws -> SyncReport {
    var options = SyncEngine.Options()
    options.isFull = isFull
    options.allowsDeletions = allowsDeletions
    options.ignoresWait = ignoresWait
    return try await engine.sync(id ?? feedID, options: options)
  }

  /// Syncs, and expects the error that is returned. Its text is one line.
  func syncError(
    isFull: Bool = false, _ sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> SyncError {
    let error = try await #require(throws: SyncError.self, sourceLocation: sourceLocation) {
      try await sync(isFull: isFull)
    }
    #expect(
      !error.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f },
      "\(error.description.debugDescription)", sourceLocation: sourceLocation)
    return error
  }

  var feed: Feed {
    get throws { try Feeds(store).find(Self.url).feed }
  }

  /// Answers the feed's URL.
  func serve(_ answers: ScriptedTransport.Answer...) {
    for answer in answers { transport.script(Self.url, answer) }
  }

  func serve(_ pages: [(url: String, text: String)]) {
    for page in pages { transport.script(page.url, .page(page.text)) }
  }

  func episode(_ id: String, feedID: Int64? = nil) throws -> Episode? {
    let feed = feedID ?? self.feedID
    return try store.read { transaction in
      try transaction.objectID("Episode", by: ["id": .string(id), "feedID": .int64(feed)])
        .flatMap { try transaction.get(Episode.self, $0) }
    }
  }

  /// Changes an episode as its user does.
  func edit(_ id: String, _ change: @escaping @Sendable (inout Episode) -> Void) async throws {
    let feedID = feedID
    try await store.write { transaction in
      let found = try transaction.objectID(
        "Episode", by: ["id": .string(id), "feedID": .int64(feedID)])
      try transaction.update(Episode.self, try #require(found), change)
    }
  }
}

/// Runs `body` with a new store, and expects that the store is sound at the end.
///
/// - Parameter migrations: Beyond those of the home feed and of feeds.
func withSync(
  isolation: isolated (any Actor)? = #isolation, migrations: [MigrationSource] = [],
  _ body: (SyncFixture) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let fixture = try await SyncFixture(folder: folder, migrations: migrations)
    try await body(fixture)
    let report = try fixture.store.checkIntegrity()
    #expect(report.isClean, "\(report.problems)")
  }
}
