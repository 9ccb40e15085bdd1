import EntityModel
import EntityStore
import Foundation
import HTTPClient
import Maintenance
import Migrations
import Synchronization
import TestSupport
import Testing

@testable import FeedSync
@testable import HomeFeed

/// Items that were stored before their entity was migrated.
@Suite(.serialized) struct MigratedEntityTests {
  @Test func anAttributeOfTheFeedThatIsAddedGetsItsValuesUnderTheSameRevisions() async throws {
    try await withSync { sync async throws in
      sync.serve(Self.page)
      #expect(try await sync.sync().new == 2)
      try await sync.after(adding: "{ name: subtitle, type: string, optional: true }") { engine in
        _ = sync.transport.takeRequests()
        let report = try await engine.sync(sync.feedID)
        #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
        #expect(report.changed == 1 && report.unchanged == 1 && report.revisionClashes == 0)
        #expect(try sync.value("subtitle", of: "a") == .string("x"))
        #expect(try await engine.sync(sync.feedID).changed == 0)
        #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == ["\"1\""])
      }
    }
  }

  @Test func anAttributeOfTheUserThatIsAddedChangesNothing() async throws {
    try await withSync { sync async throws in
      sync.serve(Self.page)
      try await sync.sync()
      try await sync.after(
        adding: "{ name: mark, type: int64, default: 3, owner: local }"
      ) { engine in
        _ = sync.transport.takeRequests()
        var options = SyncEngine.Options()
        options.isFull = true
        let report = try await engine.sync(sync.feedID, options: options)
        #expect(report.unchanged == 2 && report.changed == 0 && report.revisionClashes == 0)
      }
    }
  }

  @Test func unknownMembersOfHomefeedAreKeptOnceTheEntityHasAnAttributeForThem() async throws {
    try await withSync { sync async throws in
      sync.serve(Self.page)
      try await sync.sync()
      try await sync.after(adding: "{ name: extra, type: string, optional: true }") { engine in
        var options = SyncEngine.Options()
        options.isFull = true
        let report = try await engine.sync(sync.feedID, options: options)
        #expect(report.unchanged == 2 && report.revisionClashes == 0)
        #expect(try sync.value("extra", of: "a") == .string(#"{"subtitle":"x"}"#))
        #expect(try sync.value("extra", of: "b") == .null)
      }
    }
  }

  /// A store of an earlier version is synced as before, and fills the content once it is migrated.
  @Test(arguments: [nil, "{ to: Episode, name: image, type: string, optional: true }"])
  func episodesWithoutContentAreReadAgainAfterTheMigration(_ own: String?) async throws {
    let text = """
      <rss version="2.0"><channel><title>T</title><item><guid>a</guid><title>A</title>
      <author>Jo</author><enclosure url="https://e.org/a.mp3" length="7" type="audio/mpeg"/></item>
      </channel></rss>
      """
    let transport = ScriptedTransport()
    transport.script(SyncFixture.url, .page(text, ("ETag", "\"1\"")))
    try await withTemporaryFolder { folder async throws in
      func open(_ homeFeed: MigrationSource) throws -> (Store, SyncEngine) {
        var options = Store.Options()
        options.mapSize = 1 << 30
        options.flushesCommits = false
        let step = own.map { "line: local\nsummary: own\nsteps:\n  - addAttribute: \($0)\n" }
        let local = MigrationSource(
          embedded: step.map { [("0001_own", Array($0.utf8))] } ?? [])
        let store = try Store.open(
          at: folder.path("store"), migrations: [homeFeed, .feeds, local], migrate: .pending,
          options: options)
        return (store, SyncEngine(store: store, transport: transport))
      }
      do {
        let (store, engine) = try open(
          MigrationSource(embedded: Array(HomeFeedMigrations.files.prefix(2))))
        defer { store.close() }
        try await Feeds(store).add(SyncFixture.url)
        #expect(try await engine.sync(1).new == 1)
        let episode = try #require(try ContentStore(store).loadRecentUpdates(count: 1).first)
        #expect(episode.title == "A")
        #expect(throws: StoreError.self) { try ContentStore(store).loadContent(of: episode) }
      }
      _ = transport.takeRequests()
      let (store, engine) = try open(.homeFeed)
      defer { store.close() }
      #expect(try await engine.sync(1).changed == 1)
      #expect(transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
      let record = try store.read { transaction in
        try transaction.get("Episode", by: ["id": "a", "feedID": 1])
      }
      #expect(try record?["authors"] == .strings(["Jo"]) && record?["mediaBytes"] == 7)
      #expect(
        try store.schema.entity(named: "Episode")?.attribute(named: "image")?.type
          == (own == nil ? .url : .string))
      #expect(try store.checkIntegrity().isClean)
    }
  }

  /// A run continues from its checkpoint, unless all items have to be read for a new attribute.
  @Test(arguments: [
    ("createIndex: { on: Episode, name: byTitle, keys: [title] }", true),
    ("addAttribute: { to: Episode, name: subtitle, type: string, optional: true }", false),
  ])
  func aRunGoesOnWhenTheSchemaChanges(_ step: String, _ resumes: Bool) async throws {
    try await withSync { sync async throws in
      let pages = HomeFeedText.pages(
        (0..<3).map { page in (0..<1_000).map { .init("ep:\(page)-\($0)", 2) } },
        url: SyncFixture.url, checkpoint: "c1")
      sync.serve(pages)
      let isFirst = Atomic(true)
      sync.transport.beforeAnswer { request in
        guard request.url == pages[2].url, isFirst.exchange(false, ordering: .relaxed) else {
          return
        }
        _ = try sync.migrated(by: step)
      }
      let report = try await sync.sync()
      #expect(report.items == 3_000 && report.isResumed == resumes)
      #expect(report.new == (resumes ? 3_000 : 1_000) && report.unchanged == 3_000 - report.new)
      #expect(try sync.feed.checkpoint == "c1" && sync.feed.errors == 0)
      let isStillFirst = isFirst.load(ordering: .relaxed)
      #expect(!isStillFirst)
    }
  }

  private static let page = ScriptedTransport.Answer.page(
    HomeFeedText([
      .init("a", 5, attributes: "\"subtitle\":\"x\""), .init("b", 5),
    ]).text, ("ETag", "\"1\""))
}

extension SyncFixture {
  /// Runs `body` with an engine on the same store, migrated.
  fileprivate func after(
    adding attribute: String, _ body: (SyncEngine) async throws -> Void
  ) async throws {
    let step = "addAttribute: { to: Episode, \(attribute.dropFirst(2))"
    try await body(makeEngine(of: try migrated(by: step)))
  }

  /// Migrates the store and opens it once more.
  fileprivate func migrated(by step: String) throws -> Store {
    let migration = """
      line: local
      summary: One more step
      requires: [homefeed@1]
      steps:
        - \(step)
      """
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    options.now = { [clock] in clock.now }
    return try Store.open(
      at: folder.path("store"),
      migrations: [
        .homeFeed, .feeds, MigrationSource(embedded: [("0001_more", Array(migration.utf8))]),
      ], migrate: .pending, options: options)
  }

  fileprivate func value(_ attribute: String, of id: String) throws -> Value? {
    try store.read { transaction in
      let record = try transaction.get(
        "Episode", by: ["id": .string(id), "feedID": .int64(feedID)])
      return try record?[attribute]
    }
  }
}
