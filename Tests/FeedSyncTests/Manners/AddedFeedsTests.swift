import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient
import TestSupport
import Testing

@testable import FeedSync

/// Many feeds are added by one call.
@Suite(.serialized) struct AddedFeedsTests {
  @Test func eachURLHasItsOutcomeAndTheGoodOnesAreAdded() async throws {
    try await withSync { sync async throws in
      let urls = [
        "https://a.example/1", "ftp://a.example/", SyncFixture.url, "https://a.example/1",
        "https://u:hunter2@a.example/", "no url", "https://a.example/2",
      ]
      let feeds = Feeds(sync.store)
      let outcomes = try await feeds.add(urls, .init(every: .seconds(60)))
      #expect(
        outcomes.map(Self.text) == [
          "added", "refused", "changed", "repeated 0", "refused", "refused", "added",
        ])
      #expect(!outcomes.map { "\($0)" }.joined().contains("hunter2"))
      let all = try feeds.list().map(\.feed)
      #expect(all.map(\.url) == [SyncFixture.url, urls[0], urls[6]])
      #expect(all.allSatisfy { $0.every == 60 })
      #expect(try await feeds.add([]).isEmpty)
    }
  }

  @Test func settingsThatDoNotFitAddNothing() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      let urls = (0..<3).map { "https://a.example/\($0)" }
      let mapping = FeedMappingText("mapping: x\nitems: 7", file: "x.yaml")
      for settings in [
        Feeds.Settings(entity: "Nothing"), .init(mapping: mapping),
        .init(secrets: [FeedSecret(.headers, .credential("../x"))]),
      ] {
        await #expect(throws: (any Error).self) { try await feeds.add(urls, settings) }
      }
      #expect(try feeds.list().count == 1)
    }
  }

  /// They need one commit for some hundreds, not one for each.
  @Test func thousandsOfFeedsNeedFewCommits() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      let urls = (0..<3_000).map { "https://host\($0 % 100).example/feed/\($0)" }
      let before = try sync.store.statistics().lastTransaction
      let outcomes = try await feeds.add(urls)
      #expect(outcomes.allSatisfy { Self.text($0) == "added" })
      #expect(try feeds.list().count == 3_001)
      let commits = try sync.store.statistics().lastTransaction - before
      #expect((1...3_000 / SyncLimits.feedsPerCommit).contains(commits))
      let again = try await feeds.add(urls)
      #expect(again.allSatisfy { Self.text($0) == "changed" })
    }
  }

  // MARK: Candidates

  private static let candidate = "https://new.example/feed"

  private func sync(_ url: String, _ sync: SyncFixture) async throws -> SyncReport {
    var options = SyncEngine.Options()
    let (id, feed) = try await Feeds(sync.store).candidate(url)
    options.candidateAddedAt = feed.addedAt
    return try await sync.engine.sync(id, options: options)
  }

  @Test func aURLThatNeverGaveAFeedIsNone() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      for answer: ScriptedTransport.Answer in [
        .failure(HTTPError(.unreachable, "")), .status(404), .status(410), .page("<html></html>"),
        .page(#"{"format":"homefeed/1","mode":"full","epoch":"e","version":1,"entities":[7]}"#),
      ] {
        sync.transport.script(Self.candidate, answer)
        await #expect(throws: (any Error).self) { try await self.sync(Self.candidate, sync) }
        #expect(try feeds.list().map(\.feed.url) == [SyncFixture.url])
        #expect(try feeds.feed(named: Self.candidate) == nil)
      }
      // Nor can another run request it.
      let id = try await feeds.candidate(Self.candidate).id
      await #expect(throws: SyncError.self) { try await sync.sync(id) }
      sync.transport.script(Self.candidate, .page(HomeFeedText.full(.init("a", 1))))
      #expect(try await self.sync(Self.candidate, sync).new == 1)
      let feed = try feeds.find(Self.candidate)
      #expect(feed.id == id && feed.feed.errors == 0 && !feed.feed.isPaused)
      #expect(feed.feed.lastError == nil && feed.feed.goneAt == nil)
    }
  }

  @Test func addingAURLThatFailedBeforeForgetsItsErrorsButNotTheServersWait() async throws {
    try await withSync { sync async throws in
      sync.transport.script(
        Self.candidate, .status(410), .response(status: 429, retryAfter: 3_600))
      for _ in 0..<2 {
        await #expect(throws: SyncError.self) { try await self.sync(Self.candidate, sync) }
      }
      #expect(try await Feeds(sync.store).add(Self.candidate))
      let feed = try Feeds(sync.store).find(Self.candidate).feed
      #expect(feed.errors == 0 && feed.lastError == nil && !feed.isPaused)
      #expect(feed.waitUntil == sync.clock.now.addingTimeInterval(3_600))
    }
  }

  @Test func aRunThatFailsAfterItHasStoredPagesAddsTheFeed() async throws {
    try await withSync { sync async throws in
      let items = (0..<SyncLimits.itemsPerCommit).map { HomeFeedText.Item("ep:\($0)", 1) }
      sync.transport.script(Self.candidate, .page(HomeFeedText(items, next: "?page=1").text))
      sync.transport.script(Self.candidate + "?page=1", .status(500))
      await #expect(throws: SyncError.self) { try await self.sync(Self.candidate, sync) }
      #expect(try Feeds(sync.store).find(Self.candidate).feed.errors == 1)
    }
  }

  @Test(arguments: [(true, false), (false, true)])
  func aCandidateThatIsPausedOrRemovedDuringItsFirstRunStaysSo(
    _ isPaused: Bool, _ isRemoved: Bool
  ) async throws {
    try await withSync { sync async throws in
      let items = (0..<SyncLimits.itemsPerCommit).map { HomeFeedText.Item("ep:\($0)", 1) }
      let pages = ["?page=1", "?page=2"].map { Self.candidate + $0 }
      sync.transport.script(Self.candidate, .page(HomeFeedText(items, next: "?page=1").text))
      let more = (0..<SyncLimits.itemsPerCommit).map { HomeFeedText.Item("more:\($0)", 1) }
      sync.transport.script(pages[0], .page(HomeFeedText(more, next: "?page=2").text))
      sync.transport.script(pages[1], .page(HomeFeedText.full(.init("z", 1))))
      let feeds = Feeds(sync.store)
      let id = try await feeds.candidate(Self.candidate).id
      sync.transport.beforeAnswer { request in
        guard request.url == pages[1] else { return }
        // The first page is committed while this one is requested.
        while try feeds.feed(named: Self.candidate) == nil { await Task.yield() }
        #expect(try feeds.find(Self.candidate).feed.addedAt == sync.clock.now)
        sync.clock.advance(by: 1)
        try await feeds.update(id) { ($0.isPaused, $0.isRemoved) = (isPaused, isRemoved) }
      }
      #expect(try await self.sync(Self.candidate, sync).new == 2 * items.count + 1)
      let feed = try #require(try sync.store.read { try $0.get(Feed.self, Feed.objectID(id)) })
      #expect(feed.isPaused == isPaused && feed.isRemoved == isRemoved)
    }
  }

  @Test func aCandidateThatWasAddedAndRemovedSinceStaysRemoved() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      sync.transport.script(Self.candidate, .page(HomeFeedText.full(.init("a", 1))))
      for _ in 0..<2 {
        let (id, feed) = try await feeds.candidate(Self.candidate)
        var options = SyncEngine.Options()
        options.candidateAddedAt = feed.addedAt
        sync.clock.advance(by: 60)
        try await feeds.add(Self.candidate)
        // The first page is committed while this one is requested.
        while try feeds.feed(named: Self.candidate) == nil { await Task.yield() }
        #expect(try feeds.find(Self.candidate).feed.addedAt == sync.clock.now)
        try await feeds.update(id) { $0.isRemoved = true }
        let error = await #expect(throws: SyncError.self) {
          try await sync.engine.sync(id, options: options)
        }
        #expect(error?.code == .unknownFeed)
        try await feeds.forgetCandidate(id)
        #expect(try sync.store.read { try $0.get(Feed.objectID(id)) } != nil)
      }
    }
  }

  @Test func aURLThatNeverWasAFeedIsToBeCheckedIfItIsGone() async throws {
    try await withSync { sync async throws in
      sync.transport.script(Self.candidate, .status(410))
      let error = await #expect(throws: SyncError.self) {
        try await self.sync(Self.candidate, sync)
      }
      #expect(error?.code == .gone && error?.advice == "check the URL")
      sync.transport.script(
        SyncFixture.url, .page(HomeFeedText.full(.init("a", 1))), .status(410))
      try await sync.sync()
      sync.clock.advance(by: 60)
      #expect(try await sync.syncError().advice?.contains("mooring feed resume") == true)
    }
  }

  @Test func aForgottenCandidateLeavesNothing() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      sync.transport.script(
        Self.candidate, .status(404), .response(status: 503, retryAfter: 3_600),
        .page(HomeFeedText.full(.init("a", 1))))
      for isForgotten in [true, false] {
        await #expect(throws: SyncError.self) { try await self.sync(Self.candidate, sync) }
        let id = try await feeds.candidate(Self.candidate).id
        #expect(try feeds.runs(of: id).count == 1)
        try await feeds.forgetCandidate(id)
        #expect(try feeds.runs(of: id).isEmpty == isForgotten)
        let records = try sync.store.read { try $0.count(of: Feed.entityName) }
        #expect(records == (isForgotten ? 1 : 2))
      }
      sync.clock.advance(by: 3_600)
      #expect(try await self.sync(Self.candidate, sync).new == 1)
      let (id, feed) = try feeds.find(Self.candidate)
      #expect(feed.addedAt == sync.clock.now)
      try await feeds.forgetCandidate(id)
      #expect(try feeds.list().count == 2)
    }
  }

  @Test func aRemovedFeedStaysRemovedUntilItAnswersAndKeepsItsRecords() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      sync.serve(.page(HomeFeedText.full(.init("a", 1), checkpoint: "c"), ("ETag", "\"1\"")))
      try await sync.sync()
      try await feeds.update(sync.feedID) { ($0.isRemoved, $0.isPaused) = (true, true) }
      _ = sync.transport.takeRequests()
      let delta = SyncFixture.url + "?since=c"
      sync.transport.script(delta, .status(500))
      await #expect(throws: SyncError.self) { try await self.sync(SyncFixture.url, sync) }
      #expect(try feeds.list().isEmpty && sync.episode("a") != nil)
      sync.transport.script(delta, .status(204))
      #expect(try await self.sync(SyncFixture.url, sync).outcome == .notModified)
      #expect(sync.transport.takeRequests().allSatisfy { $0.header("If-None-Match") == nil })
      let feed = try sync.feed
      #expect(!feed.isPaused && feed.errors == 0)
    }
  }

  private static func text(_ outcome: Feeds.Addition) -> String {
    switch outcome {
    case .added: "added"
    case .changed: "changed"
    case .repeated(let first): "repeated \(first)"
    case .refused: "refused"
    }
  }
}
