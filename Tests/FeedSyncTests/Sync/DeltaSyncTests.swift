import EntityModel
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct DeltaSyncTests {
  private static let deltaURL = SyncFixture.url + "?since=c1"

  /// A store that has synced a and b, both of revision 5, and has the checkpoint c1.
  private func afterFullRun(_ body: (SyncFixture) async throws -> Void) async throws {
    try await withSync { sync async throws in
      sync.serve(
        .page(HomeFeedText.full(.init("a", 5), .init("b", 5), checkpoint: "c1"), ("ETag", "\"1\"")))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      try await body(sync)
    }
  }

  @Test func aDeltaBringsChangesAndDeletionsAndTheNextCheckpoint() async throws {
    try await afterFullRun { sync async throws in
      sync.transport.script(
        Self.deltaURL,
        .page(
          HomeFeedText.delta(
            .init("a", 6, title: "new"), .deleted("b", 7), .init("c", 8), checkpoint: "c2"),
          ("ETag", "\"2\"")))
      let report = try await sync.sync()
      #expect(report.mode == "delta" && report.outcome == .synced && report.items == 3)
      #expect(report.changed == 1 && report.deleted == 1 && report.new == 1)
      #expect(try sync.episode("a")?.title == "new")
      #expect(try sync.episode("b") == nil)
      #expect(try sync.episode("c") != nil)
      let request = try #require(sync.transport.takeRequests().first)
      #expect(request.url == Self.deltaURL && request.header("If-None-Match") == "\"1\"")
      #expect(try sync.feed.checkpoint == "c2")
      #expect(try sync.feed.etag == "\"2\"")
      #expect(try sync.feed.lastItems == 2, "a delta says nothing of how many there are")
    }
  }

  @Test func recordsAbsentFromADeltaStay() async throws {
    try await afterFullRun { sync async throws in
      sync.transport.script(Self.deltaURL, .page(HomeFeedText.delta(.init("c", 6))))
      #expect(try await sync.sync().deleted == 0)
      #expect(try sync.episode("a") != nil)
      #expect(try sync.episode("b") != nil)
      #expect(try sync.feed.checkpoint == "c1", "without a new checkpoint the old one holds")
    }
  }

  @Test func anEmptyDeltaPageOnlyMovesTheCheckpoint() async throws {
    try await afterFullRun { sync async throws in
      let before = try ContentTrees(sync.store)
      sync.transport.script(Self.deltaURL, .page(HomeFeedText.delta(checkpoint: "c2")))
      let report = try await sync.sync()
      #expect(report.outcome == .synced && report.items == 0)
      #expect(try sync.feed.checkpoint == "c2")
      #expect(try ContentTrees(sync.store) == before)
    }
  }

  @Test func a204IsAnEmptyDeltaAndMovesTheCheckpoint() async throws {
    try await afterFullRun { sync async throws in
      sync.transport.script(
        Self.deltaURL, .status(204, ("Homefeed-Checkpoint", "c2"), ("ETag", "\"2\"")))
      let report = try await sync.sync()
      #expect(report.outcome == .notModified && report.mode == "delta")
      #expect(try sync.feed.checkpoint == "c2")
      #expect(try sync.feed.etag == "\"2\"")
      #expect(try sync.feed.fullAt != nil)
    }
  }

  @Test func a204ToAListingIsAnError() async throws {
    try await withSync { sync async throws in
      sync.serve(.status(204))
      #expect(try await sync.syncError().code == .badDocument)
    }
  }

  @Test func a204ToALaterPageLosesNothingOfTheRun() async throws {
    try await afterFullRun { sync async throws in
      var page = HomeFeedText([.init("a", 6, title: "new")], next: "/v1/home?page=1")
      page.mode = "delta"
      page.version = 2
      sync.transport.script(Self.deltaURL, .page(page.text))
      sync.transport.script(
        SyncFixture.url + "?page=1", .status(204, ("Homefeed-Checkpoint", "c9")))
      #expect(try await sync.syncError().code == .badDocument)
      #expect(try sync.feed.checkpoint == "c1")
      sync.transport.script(
        SyncFixture.url + "?page=1", .page(HomeFeedText.delta(checkpoint: "c2")))
      try await sync.sync()
      #expect(try sync.episode("a")?.title == "new")
      #expect(try sync.feed.checkpoint == "c2")
    }
  }

  @Test func aDeletedItemThatComesBackHasItsLocalValuesAgain() async throws {
    try await afterFullRun { sync async throws in
      let watched = sync.clock.now
      try await sync.edit("b") {
        $0.progress = 0.42
        $0.favoriteAt = watched
      }
      sync.transport.script(
        Self.deltaURL, .page(HomeFeedText.delta(.deleted("b", 7), checkpoint: "c2")))
      try await sync.sync()
      #expect(try sync.episode("b") == nil)
      sync.transport.script(
        SyncFixture.url + "?since=c2", .page(HomeFeedText.delta(.deleted("b", 8), version: 3)))
      try await sync.sync()
      sync.transport.script(
        SyncFixture.url + "?since=c2",
        .page(HomeFeedText.delta(.init("b", 9, title: "back"), version: 4)))
      #expect(try await sync.sync().new == 1)
      let episode = try #require(try sync.episode("b"))
      #expect(episode.progress == 0.42 && episode.favoriteAt == watched)
      #expect(episode.title == "back")
      #expect(try sync.store.records(of: "_Tombstone").isEmpty)
    }
  }

  @Test func aTombstoneRefusesCopiesThatAreNotNewer() async throws {
    try await afterFullRun { sync async throws in
      sync.transport.script(
        Self.deltaURL,
        .page(HomeFeedText.delta(.deleted("b", 7))), .page(HomeFeedText.delta(.deleted("b", 9))),
        .page(HomeFeedText.delta(.init("b", 8))), .page(HomeFeedText.delta(.init("b", 9))))
      for skipped in [0, 1, 1, 1] { #expect(try await sync.sync().skipped == skipped) }
      #expect(try sync.episode("b") == nil)
    }
  }

  @Test func anInvalidCheckpointCausesAFullRunInTheSameRun() async throws {
    try await afterFullRun { sync async throws in
      try await sync.edit("a") { $0.progress = 0.5 }
      sync.transport.script(
        Self.deltaURL,
        .response(status: 410, body: Array("{\"error\":\"resync\"}".utf8)))
      sync.serve(.page(HomeFeedText.full(.init("a", 6), .init("d", 6), checkpoint: "c9")))
      let report = try await sync.sync()
      #expect(report.mode == "full" && report.changed == 1 && report.new == 1)
      #expect(report.deleted == 1 && report.requests == 2)
      let requests = sync.transport.takeRequests()
      #expect(requests.map(\.url) == [Self.deltaURL, SyncFixture.url])
      #expect(requests[1].header("If-None-Match") == nil)
      #expect(try sync.episode("a")?.progress == 0.5)
      #expect(try sync.episode("b") == nil)
      #expect(try sync.feed.checkpoint == "c9")
    }
  }

  @Test func aServerThatAlwaysRequestsARestartIsAnError() async throws {
    try await afterFullRun { sync async throws in
      let resync = ScriptedTransport.Answer.response(
        status: 410, body: Array("{\"error\":\"resync\"}".utf8))
      sync.transport.script(Self.deltaURL, resync)
      sync.serve(.page(HomeFeedText([.init("a", 5)], next: "?page=1").text))
      sync.transport.script(SyncFixture.url + "?page=1", resync)
      #expect(try await sync.syncError().code == .badDocument)
      #expect(sync.transport.takeRequests().count <= 5)
      #expect(try sync.episode("b") != nil)
    }
  }

  @Test func aDeltaThatMustRestartDiscardsItsItems() async throws {
    try await afterFullRun { sync async throws in
      var page = HomeFeedText([.init("b", 6), .init("z", 6)], next: "/v1/home?page=1")
      page.mode = "delta"
      sync.transport.script(Self.deltaURL, .page(page.text))
      sync.transport.script(
        SyncFixture.url + "?page=1",
        .response(status: 410, body: Array("{\"error\":\"resync\"}".utf8)))
      sync.serve(.page(HomeFeedText.full(.init("a", 5), checkpoint: "c9")))
      try await sync.sync()
      #expect(try sync.store.contentDump().count == 1)
      #expect(try sync.episode("a") != nil)
    }
  }

  @Test func anEntryThatACommittedPageOfADeltaHasLeftAppliesAfterTheRestart() async throws {
    try await afterFullRun { sync async throws in
      let entry = #"{"id":"c","rev":1,"progress":0.2}"#
      let items = (0..<SyncLimits.itemsPerCommit).map { HomeFeedText.Item("n\($0)", 6) }
      var page = HomeFeedText(items, next: "/v1/home?page=1")
      page.mode = "delta"
      page.users = [entry]
      sync.transport.script(Self.deltaURL, .page(page.text))
      sync.transport.script(
        SyncFixture.url + "?page=1",
        .response(status: 410, body: Array("{\"error\":\"resync\"}".utf8)))
      var full = HomeFeedText(items + [.init("c", 6)], next: "/v1/home?page=2")
      full.users = [entry]
      sync.serve(.page(full.text))
      sync.transport.script(
        SyncFixture.url + "?page=2", .page(HomeFeedText.full(.init("a", 5), checkpoint: "c9")))
      try await sync.sync(allowsDeletions: true)
      #expect(try sync.episode("c")?.progress == 0.2)
    }
  }

  @Test func aDeltaOfAnotherEpochCausesAFullRunThatDoesNotCompareRevisions() async throws {
    try await afterFullRun { sync async throws in
      try await sync.edit("a") { $0.progress = 0.5 }
      var delta = HomeFeedText([.init("a", 1, title: "of e2")], checkpoint: "x")
      delta.mode = "delta"
      delta.epoch = "e2"
      sync.transport.script(Self.deltaURL, .page(delta.text))
      var full = HomeFeedText(
        [.init("a", 1, title: "of e2"), .init("b", 2, title: "b r5")], checkpoint: "c1")
      full.epoch = "e2"
      sync.serve(.page(full.text))
      let report = try await sync.sync()
      #expect(report.mode == "full" && report.changed == 1 && report.unchanged == 1)
      #expect(try sync.episode("a")?.title == "of e2")
      #expect(try sync.episode("a")?.progress == 0.5)
      #expect(try sync.feed.epoch == "e2")
      delta.entities = [HomeFeedText.Item("b", 3, title: "b r3").text]
      sync.transport.script(Self.deltaURL, .page(delta.text))
      #expect(try await sync.sync().changed == 1, "b has a revision of e2 by now")
    }
  }

  @Test func aDeltaThatBeginsAfterTheCheckpointCausesAFullRun() async throws {
    try await afterFullRun { sync async throws in
      var delta = HomeFeedText([.init("a", 9)], checkpoint: "c9")
      delta.mode = "delta"
      delta.version = 9
      delta.since = 8
      sync.transport.script(Self.deltaURL, .page(delta.text))
      sync.serve(.page(HomeFeedText.full(.init("a", 9), .init("b", 8), checkpoint: "c9")))
      #expect(try await sync.sync().mode == "full")
      #expect(try sync.episode("b")?.title == "b r8")
    }
  }

  @Test func afterAMonthOfDeltasTheWholeListingIsFetchedUnconditionally() async throws {
    try await afterFullRun { sync async throws in
      sync.transport.script(Self.deltaURL, .status(204))
      for _ in 0..<31 {
        sync.clock.advance(by: 1 * 86_400)
        try await sync.sync()
      }
      let requests = sync.transport.takeRequests()
      #expect(requests.map(\.url).last == SyncFixture.url)
      #expect(requests.last?.header("If-None-Match") == nil)
      sync.clock.advance(by: 1 * 86_400)
      try await sync.sync()
      #expect(sync.transport.takeRequests().map(\.url) == [Self.deltaURL])
    }
  }

  @Test func aCheckpointIsEncodedIntoTheURLSoThatNothingOfItIsSyntax() async throws {
    try await withSync { sync async throws in
      let checkpoint = "a&b=c#d e/é\r\n+%"
      sync.serve(.page(HomeFeedText.full(.init("a", 1), checkpoint: checkpoint)))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      let url = SyncFixture.url + "?since=a%26b%3Dc%23d%20e%2F%C3%A9%0D%0A%2B%25"
      sync.transport.script(url, .status(204))
      try await sync.sync()
      #expect(sync.transport.takeRequests().map(\.url) == [url])
    }
  }

  @Test func aRejectedItemOfADeltaLeavesTheCheckpointUnused() async throws {
    try await afterFullRun { sync async throws in
      var delta = HomeFeedText([.init("c", 6)], checkpoint: "c2")
      delta.mode = "delta"
      delta.entities.append("{\"id\":\"d\",\"kind\":\"Episode\",\"rev\":\"six\"}")
      sync.transport.script(Self.deltaURL, .page(delta.text, ("ETag", "\"2\"")))
      let report = try await sync.sync()
      #expect(report.outcome == .incomplete && report.new == 1 && report.rejected == 1)
      #expect(report.rejections.map(\.id) == ["d"])
      #expect(try sync.feed.checkpoint == nil)
      #expect(try sync.feed.etag == nil)
    }
  }
}
