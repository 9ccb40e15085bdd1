import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

/// Runs of mapped feeds whose listings are faulty, incomplete or misleading.
@Suite(.serialized) struct MappedRunTests {
  private static let url = SyncFixture.url

  private func use(_ more: String, _ sync: SyncFixture) async throws {
    let text = """
      mapping: m
      items: $.items[*]
      id: /id
      updatedAt: /changed
      attributes: { title: /id }
      \(more)
      """
    try await Feeds(sync.store).add(
      Self.url, .init(mapping: FeedMappingText(text, file: "m.yaml")))
  }

  private func page(_ items: [String], _ more: String = "") -> ScriptedTransport.Answer {
    .page("{\"items\":[\(items.joined(separator: ","))]\(more)}", ("ETag", "\"1\""))
  }

  private func item(_ id: String, _ more: String = "") -> String { "{\"id\":\"\(id)\"\(more)}" }

  // MARK: Windows

  @Test func aWindowWhoseNextPageIsOnAnotherServerKeepsItsNewestItems() async throws {
    try await withSync { sync async throws in
      try await use("next: /next", sync)
      sync.serve(page([item("a"), item("b")], #","next":"https://other.example/2""#))
      let report = try await sync.sync()
      #expect(report.new == 2 && report.outcome == .synced && report.faults == 0)
      #expect(report.remarks == 1 && report.rejections.map(\.id) == ["https://other.example/2"])
      #expect(sync.transport.takeRequests().map(\.url) == [Self.url])
      #expect(try sync.feed.etag == "\"1\"")
    }
  }

  /// A window of two pages, of which a run has stored but the first.
  private func interrupt(_ sync: SyncFixture) async throws {
    try await use("next: /next", sync)
    sync.serve(page([item("old")]))
    try await sync.sync()
    let new = (0..<1_000).map { item("\($0)") }
    sync.serve(page(new, #","next":"?p=1""#))
    sync.transport.script(Self.url + "?p=1", page([item("between"), item("old")]))
    sync.transport.failAfter(1)
    await #expect(throws: HTTPError.self) { try await sync.sync() }
    #expect(try sync.episode("999") != nil)
  }

  @Test func olderPagesAreNotLostWithAWindowThatWasInterrupted() async throws {
    try await withSync { sync async throws in
      try await interrupt(sync)
      sync.clock.advance(by: 3_601)
      sync.transport.failAfter(0)
      await #expect(throws: HTTPError.self) { try await sync.sync() }
      sync.transport.heal()
      #expect(try await sync.sync().new == 1)
      #expect(try sync.episode("between") != nil)
      #expect(try sync.feed.fullAt == sync.clock.now)
    }
  }

  @Test func olderPagesAreNotLostWithACheckpointThatCannotBeRead() async throws {
    try await withSync { sync async throws in
      try await interrupt(sync)
      try await sync.store.write { transaction in
        let writes = FetchRequest(entityName: "_ChunkedWrite")
        let checkpoints = try transaction.fetchIdentifiers(writes)
        for id in checkpoints {
          try transaction.update(id) { try $0.set("frontier", to: .data(Data("{}".utf8))) }
        }
      }
      sync.transport.heal()
      #expect(try await sync.sync().new == 1)
      #expect(try sync.episode("between") != nil)
    }
  }

  @Test func theItemsOfAnEndlessListingAreKept() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([.init("a", 1)], next: "?c=1").text))
      sync.transport.script(
        Self.url + "?c=1", .page(HomeFeedText([.init("b", 1)], next: "?c=1").text))
      #expect(try await sync.syncError().code == .repeatedPage)
      #expect(try sync.episode("a") != nil && sync.episode("b") != nil)
      #expect(try sync.store.records(of: "_ChunkedWrite").isEmpty)
    }
  }

  @Test func aPageThatIsAskedForAgainEndsTheListingWhateverItListsThen() async throws {
    try await withSync { sync async throws in
      try await use("mode: full\nnext: /next", sync)
      sync.serve(page([item("a")], #","next":"?p=1""#))
      sync.transport.script(
        Self.second, page([item("b")], #","next":"?p=1""#), page([item("c")]))
      #expect(try await sync.syncError().code == .repeatedPage)
      #expect(try sync.episode("b") != nil && sync.episode("c") == nil)
    }
  }

  // MARK: Deletions

  private static let deletions =
    "revision: /rev\ndeleted: { items: \"$.gone[*]\", id: /id, deletedAt: /when }"

  @Test(arguments: [
    ("", true), (#","when":"2026-11-02T00:00:00Z""#, true),
    (#","when":"2026-10-31T00:00:00Z""#, false),
  ])
  func theDateDecidesForADeletionWithoutARevision(_ when: String, _ isGone: Bool) async throws {
    let copy = item("a", #","rev":3,"changed":"2026-11-01T00:00:00Z""#)
    let gone = ",\"gone\":[{\"id\":\"a\"\(when)}]"
    try await withSync { sync async throws in
      try await use(Self.deletions, sync)
      sync.serve(page([copy]))
      try await sync.sync()
      sync.serve(page([item("b")], gone))
      #expect(try await sync.sync().deleted == (isGone ? 1 : 0), "in a run of its own")
    }
    try await withSync { sync async throws in
      try await use(Self.deletions, sync)
      sync.serve(page([copy, item("b")], gone))
      try await sync.sync()
      #expect(try (sync.episode("a") == nil) == isGone, "on one page")
    }
    for isFirst in [true, false] {
      try await withSync { sync async throws in
        try await use(Self.deletions + "\nnext: /next", sync)
        let next = #","next":"?p=1""#
        sync.serve(isFirst ? page([item("b")], gone + next) : page([copy], next))
        sync.transport.script(
          Self.url + "?p=1", isFirst ? page([copy]) : page([item("b")], gone))
        try await sync.sync()
        #expect(try (sync.episode("a") == nil) == isGone, "on two pages")
      }
    }
  }

  @Test func aDeletionInTheFutureIsLimited() async throws {
    try await withSync { sync async throws in
      try await use("deletedAt: /gone", sync)
      sync.serve(page([item("a")]))
      try await sync.sync()
      sync.serve(page([item("a", #","gone":"2041-01-01T00:00:00Z""#)]))
      let report = try await sync.sync()
      #expect(report.deleted == 1 && report.futureDates == 1)
      let limit = sync.clock.now.addingTimeInterval(86_400)
      let tombstones = try sync.store.fetch(FetchRequest(entityName: "_Tombstone"))
      #expect(try tombstones.map { try $0["deletedAt"] } == [.date(limit)])
    }
  }

  @Test func theSmallestRevisionThatIsStoredDoesNotStopTheSweep() async throws {
    try await withSync { sync async throws in
      try await use("mode: full\nrevision: /rev", sync)
      sync.serve(page([item("a", #","rev":1"#), item("b")]))
      try await sync.sync()
      try await sync.store.write { [feedID = sync.feedID] transaction in
        let id = try transaction.objectID("Episode", by: ["id": "a", "feedID": .int64(feedID)])
        try transaction.update(try #require(id)) { try $0.set("feedRevision", to: .int64(.min)) }
      }
      sync.serve(page([item("b")]))
      #expect(try await sync.sync().deleted == 1)
    }
  }

  @Test func revisionsOfAnotherMappingRefuseNoDeletionAndNoReturn() async throws {
    try await withSync { sync async throws in
      try await use("revision: /old\ndeleted: /gone", sync)
      sync.serve(page([item("a", #","old":10"#), item("b", #","old":10"#)]))
      try await sync.sync()
      sync.serve(page([item("b", #","old":10,"gone":true"#)]))
      #expect(try await sync.sync().deleted == 1)
      try await use("revision: /new\ndeleted: /gone", sync)
      sync.serve(page([item("a", #","new":2,"gone":true"#), item("b", #","new":2"#)]))
      let report = try await sync.sync()
      #expect(report.deleted == 1 && report.new == 1)
    }
  }

  // MARK: Whole listings

  private static let second = SyncFixture.url + "?p=1"

  @Test func aListingWhoseFirstPageChangesDuringTheRunDeletesNothing() async throws {
    try await withSync { sync async throws in
      try await use("mode: full\nnext: /next", sync)
      sync.serve(page([item("a"), item("b")], #","next":"?p=1""#))
      sync.transport.script(Self.second, page([item("c")]))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      // A new item has moved b to the next page, after that was read.
      sync.transport.script(
        Self.url, page([item("a"), item("x")], #","next":"?p=1""#),
        page([item("n"), item("a")], #","next":"?p=1""#))
      let moved = try await sync.sync(isFull: true)
      #expect(moved.deleted == 0 && moved.outcome == .incomplete)
      #expect(sync.transport.takeRequests().map(\.url) == [Self.url, Self.second, Self.url])
    }
  }

  @Test(arguments: [true, false])
  func aListingWhoseFirstPageStaysDeletesWhatItDoesNotList(_ saysSo: Bool) async throws {
    try await withSync { sync async throws in
      try await use("mode: full\nnext: /next", sync)
      let first = page([item("a"), item("b")], #","next":"?p=1""#)
      sync.serve(first)
      sync.transport.script(Self.second, page([item("c"), item("d")]))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      sync.transport.script(Self.url, first, saysSo ? .status(304) : first)
      sync.transport.script(Self.second, page([item("c")]))
      let report = try await sync.sync(isFull: true)
      #expect(report.deleted == 1 && report.outcome == .synced && report.requests == 3)
      let requests = sync.transport.takeRequests()
      #expect(requests.map(\.url) == [Self.url, Self.second, Self.url])
      #expect(requests.last?.header("If-None-Match") == "\"1\"")
    }
  }

  @Test func aFirstPageThatCannotBeRequestedAgainEndsTheRunAndKeepsItsItems() async throws {
    try await withSync { sync async throws in
      try await use("mode: full\nnext: /next", sync)
      sync.transport.script(
        Self.url, page([item("a")], #","next":"?p=1""#), .status(503), page([item("a")]))
      sync.transport.script(Self.second, page([item("b")]))
      #expect(try await sync.syncError().code == .waiting)
      #expect(try sync.episode("a") != nil && sync.episode("b") != nil)
      #expect(try await sync.sync(ignoresWait: true).isResumed == false)
    }
  }

  @Test(arguments: [true, false])
  func aFeedOfNothingButUnknownKindsIsAnErrorThatNamesThem(_ hadOthers: Bool) async throws {
    try await withSync { sync async throws in
      try await use("kind: { at: /k, entities: { e: Episode } }", sync)
      if hadOthers {
        sync.serve(page([item("a", #","k":"e""#)]))
        try await sync.sync()
      }
      let before = try ContentTrees(sync.store)
      sync.serve(page([item("a", #","k":"E""#), item("b", #","k":"film""#), item("c")]))
      let error = try await sync.syncError()
      #expect(error.code == .nothingUsable)
      #expect(error.description.contains("items of unknown kinds: 3, kinds: E, film"))
      #expect(try ContentTrees(sync.store) == before)
    }
  }

  // MARK: Checkpoints

  @Test func aFeedOfChangesOnlyBeginsWithItsCheckpointAndSendsValidators() async throws {
    try await withSync { sync async throws in
      try await use("mode: delta\ncheckpoint: /c", sync)
      sync.serve(page([item("a")], #","c":"/changes""#))
      try await sync.sync()
      #expect(try sync.feed.fullAt == sync.clock.now)
      let changes = "https://feed.example/changes"
      sync.transport.script(changes, page([item("b")], #","c":"/changes""#))
      _ = sync.transport.takeRequests()
      #expect(try await sync.sync().new == 1)
      #expect(try await sync.sync().new == 0)
      let requests = sync.transport.takeRequests()
      #expect(requests.map(\.url) == [changes, changes])
      #expect(requests.map { $0.header("If-None-Match") } == [nil, "\"1\""])
    }
  }

  @Test func onlyHomeFeedTakesACheckpointFromAHeader() async throws {
    try await withSync { sync async throws in
      try await use("mode: full\ncheckpoint: /c", sync)
      sync.serve(page([item("a")], #","c":"/changes""#))
      try await sync.sync()
      let changes = "https://feed.example/changes"
      sync.transport.script(
        changes, .status(204, ("Homefeed-Checkpoint", "https://evil.example/x")))
      try await sync.sync()
      #expect(try sync.feed.checkpoint == changes)
    }
  }
}
