import EntityModel
import EntityStore
import Foundation
import HomeFeed
import Migrations
import TestSupport
import Testing

@testable import FeedSync

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
    let migration = """
      line: local
      summary: One more attribute
      requires: [homefeed@1]
      steps:
        - addAttribute: { to: Episode, \(attribute.dropFirst(2))
      """
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    options.now = { [clock] in clock.now }
    let migrated = try Store.open(
      at: folder.path("store"),
      migrations: [
        .homeFeed, .feeds, MigrationSource(embedded: [("0001_more", Array(migration.utf8))]),
      ], migrate: .pending, options: options)
    try await body(makeEngine(of: migrated))
  }

  fileprivate func value(_ attribute: String, of id: String) throws -> Value? {
    try store.read { transaction in
      let record = try transaction.get(
        "Episode", by: ["id": .string(id), "feedID": .int64(feedID)])
      return try record?[attribute]
    }
  }
}
