import EntityModel
import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

/// The freshness of responses: what a run stores, and that a fresh feed gets no request.
@Suite(.serialized) struct FreshFeedTests {
  private let page = HomeFeedText.full(.init("a", 1))
  private let window =
    #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1"}]}"#

  @Test func withinMaxAgeNoRequestIsSentUnlessItIsForced() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("Cache-Control", "max-age=600"), ("Age", "100"), ("ETag", "\"1\"")))
      try await sync.sync()
      #expect(try sync.feed.freshFor == 500)
      _ = sync.transport.takeRequests()
      sync.clock.advance(by: 499)
      let before = try sync.store.dataBytes()
      let report = try await sync.sync()
      #expect(report.outcome == .fresh && report.requests == 0)
      #expect(sync.transport.takeRequests().isEmpty)
      #expect(try sync.store.dataBytes() == before)
      sync.serve(.status(304))
      #expect(try await sync.sync(ignoresWait: true).outcome == .notModified)
      sync.clock.advance(by: 499)
      #expect(try await sync.sync().outcome == .fresh, "counted from the last answer")
      sync.clock.advance(by: 2)
      #expect(try await sync.sync().outcome == .notModified)
      sync.serve(.page(page))
      #expect(try await sync.sync(isFull: true).outcome == .synced)
    }
  }

  @Test(arguments: [30, 2_765, 30 * 86_400] as [Double])
  func anAnswerIsFreshIfTheClockWasSetBackWhileItWasUnderWay(_ step: Double) async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("Cache-Control", "max-age=3600")))
      try await sync.withClockSetBack(by: step) { try await sync.sync() }
      #expect(try sync.nextRun.reason == .fresh)
      #expect(try Feeds(sync.store).runs(of: sync.feedID).map(\.startedAt) == [sync.clock.now])
      sync.clock.advance(by: 3_599)
      #expect(try await sync.sync().outcome == .fresh)
      sync.clock.advance(by: 2)
      #expect(try await sync.sync().outcome != .fresh)
    }
  }

  @Test func aFailedRunWaitsAsLongIfTheClockWasSetBackDuringIt() async throws {
    try await withSync { sync async throws in
      sync.serve(.status(500))
      let error = try await sync.withClockSetBack(by: 2_765) { try await sync.syncError() }
      #expect(error.code == .badStatus)
      let next = try sync.nextRun
      #expect(next.reason == .failing)
      #expect(next.at.timeIntervalSince(sync.clock.now) >= SyncLimits.failureWaitMin)
    }
  }

  @Test func publicFeedsAreRequestedLessOftenThanPrivateOnes() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("Cache-Control", "max-age=5")))
      try await sync.sync()
      #expect(try sync.feed.freshFor == 60)
    }
    try await withSync { sync async throws in
      sync.serve(.page(window, ("Cache-Control", "max-age=5")))
      try await sync.sync()
      #expect(try sync.feed.freshFor == 900)
    }
  }

  @Test func theDocumentsIntervalCountsToo() async throws {
    try await withSync { sync async throws in
      let text = page.dropLast() + ",\"ttl\":3600}"
      sync.serve(.page(String(text), ("Cache-Control", "no-cache"), ("ETag", "\"1\"")))
      try await sync.sync()
      #expect(try sync.feed.freshFor == 3_600 && sync.feed.timeToLive == 3_600)
      sync.clock.advance(by: 3_601)
      sync.serve(.status(304, ("Cache-Control", "max-age=60")))
      try await sync.sync()
      #expect(try sync.feed.freshFor == 3_600, "the document's word holds for the 304")
    }
  }

  @Test func a304MayShortenThePromiseButNotLengthenIt() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("Cache-Control", "max-age=1000"), ("ETag", "\"1\"")))
      try await sync.sync()
      for (headers, freshFor) in [
        ([("Cache-Control", "max-age=5000")], 1_000), ([], 1_000),
        ([("Cache-Control", "max-age=400")], 400), ([("Cache-Control", "max-age=900")], 900),
        ([("Cache-Control", "no-cache")], nil), ([("Cache-Control", "max-age=900")], 900),
        ([], 1_000),
      ] as [([(String, String)], Int64?)] {
        sync.clock.advance(by: 2_000)
        sync.serve(.response(status: 304, headers: headers))
        #expect(try await sync.sync().outcome == .notModified)
        #expect(try sync.feed.freshFor == freshFor, "\(headers)")
      }
      sync.clock.advance(by: 2_000)
      sync.serve(.page(page, ("Cache-Control", "max-age=700")))
      #expect(try await sync.sync().outcome == .notModified)
      #expect(try sync.feed.freshFor == 700, "a 200 says it anew, also with the same body")
    }
  }

  @Test func a304WithTheSamePromiseWritesNothing() async throws {
    try await withSync { sync async throws in
      let promise = ("Cache-Control", "max-age=600")
      sync.serve(.page(page, promise, ("ETag", "\"1\"")))
      try await sync.sync()
      sync.serve(.status(304, promise, ("ETag", "\"1\"")))
      let before = try sync.store.dataBytes()
      for _ in 0..<3 {
        sync.clock.advance(by: 601)
        #expect(try await sync.sync().outcome == .notModified)
        #expect(try await sync.sync().outcome == .fresh)
      }
      #expect(try sync.store.dataBytes() == before)
    }
  }

  @Test func aRunThatFailedOrWasCutOffIsNotFresh() async throws {
    try await withSync { sync async throws in
      let pages = HomeFeedText.pages([[.init("a", 1)], [.init("b", 1)]], url: SyncFixture.url)
      sync.transport.script(pages[0].url, .page(pages[0].text, ("Cache-Control", "max-age=9000")))
      sync.transport.script(pages[1].url, .status(500))
      _ = try await sync.syncError()
      sync.transport.script(
        pages[1].url, .failure(HTTPError(.cancelled, "the test")), .page(pages[1].text))
      await #expect(throws: HTTPError.self) { try await sync.sync() }
      let last = Feeds(sync.store).lastRun(of: sync.feedID)
      #expect(last?.hasEnded == false)
      #expect(try await sync.sync().new == 2)
      #expect(try await sync.sync().outcome == .fresh)
    }
  }

  @Test func aFeedThatIsAddedAgainOrLostItsValidatorsIsRequested() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("Cache-Control", "max-age=9000")))
      try await sync.sync()
      try await Feeds(sync.store).update(sync.feedID) { $0.isRemoved = true }
      try await Feeds(sync.store).add(SyncFixture.url)
      #expect(try await sync.sync().unchanged == 1)
    }
  }

  // MARK: Where a next page may lead

  @Test(arguments: [true, false])
  func onlyAPrivateServerMayNameAPageAtAPrivateAddress(_ isPrivate: Bool) async throws {
    try await withSync { sync async throws in
      sync.serve(
        .response(
          status: 200, body: Array(HomeFeedText([.init("a", 1)], next: "?page=1").text.utf8),
          isFromPrivateAddress: isPrivate))
      sync.transport.script(
        SyncFixture.url + "?page=1", .page(HomeFeedText.full(.init("b", 1))))
      try await sync.sync()
      #expect(
        sync.transport.takeRequests().map(\.allowsPrivateAddresses) == [true, isPrivate])
    }
  }
}

extension SyncFixture {
  /// Runs `body`. Its requests are answered after the clock was set back by `seconds`, once.
  @discardableResult fileprivate func withClockSetBack<Result>(
    by seconds: Double, _ body: () async throws -> Result
  ) async throws -> Result {
    transport.beforeAnswer { [clock, transport] _ in
      transport.beforeAnswer(nil)
      clock.advance(by: -seconds)
    }
    return try await body()
  }

  /// The next run of the feed by the schedule.
  fileprivate var nextRun: NextRun {
    get throws {
      let circumstances = try Feeds(store).circumstances(of: feedID, feed, now: clock.now)
      return try #require(FeedTiming().next(feed, circumstances))
    }
  }
}
