import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import SystemSupport
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct PagingTests {
  /// The bound applies even if few of their items are new.
  @Test func largePagesAreCommittedAtABoundOfBytes() async throws {
    try await withSync { sync async throws in
      let pages = HomeFeedText.pages(
        (0..<5).map { [.init("\($0)", 1)] }, url: SyncFixture.url)
      let padding = String(repeating: " ", count: SyncLimits.pageBytesMax / 2)
      sync.serve(pages.map { (url: $0.url, text: $0.text + padding) })
      var commits: [Int] = []
      let report = try await sync.engine.sync(sync.feedID) { commits.append($0.pages) }
      #expect(commits == [2, 4] && report.new == 5)
    }
  }

  private let url = SyncFixture.url

  @Test func everyPageIsFetchedAndOnlyTheFirstConditionally() async throws {
    try await withSync { sync async throws in
      let pages = HomeFeedText.pages(
        (0..<7).map { page in (0..<5).map { .init("ep:\(page)-\($0)", 1) } }, url: url,
        checkpoint: "c")
      sync.serve(pages)
      let report = try await sync.sync()
      #expect(report.pages == 7 && report.new == 35 && report.requests == 7)
      #expect(sync.transport.takeRequests().map(\.url) == pages.map(\.url))
      #expect(try sync.feed.checkpoint == "c")
      #expect(try sync.feed.lastItems == 35)
    }
  }

  @Test func smallPagesShareACommitAndLargeOnesHaveTheirOwn() async throws {
    try await withSync { sync async throws in
      sync.serve(
        HomeFeedText.pages(
          (0..<6).map { page in (0..<400).map { .init("ep:\(page)-\($0)", 1) } }, url: url))
      let counts = Locked<[Int]>([])
      _ = try await sync.engine.sync(sync.feedID) { report in
        counts.withLock { $0.append(report.pages) }
      }
      #expect(counts.withLock { $0 } == [3], "the last pages are in the last transaction")
    }
  }

  @Test(arguments: [["a", "b", "a"], ["a", "b", "c", "b"], ["a", "a"]])
  func aRepeatedCursorEndsTheRun(_ cursors: [String]) async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([.init("0", 1)], next: "?c=" + cursors[0]).text))
      for (cursor, next) in zip(cursors, cursors.dropFirst()) {
        sync.transport.script(
          url + "?c=" + cursor, .page(HomeFeedText([.init(cursor, 1)], next: "?c=" + next).text))
      }
      #expect(try await sync.syncError().code == .repeatedPage)
      #expect(sync.transport.takeRequests().count == cursors.count + 1)
    }
  }

  @Test func theSameItemsUnderNewCursorsEndTheRun() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([.init("a", 1), .init("b", 1)], next: "?c=1").text))
      sync.transport.script(
        url + "?c=1", .page(HomeFeedText([.init("c", 1), .init("d", 1)], next: "?c=2").text))
      sync.transport.script(
        url + "?c=2", .page(HomeFeedText([.init("a", 1), .init("b", 1)], next: "?c=3").text))
      #expect(try await sync.syncError().code == .repeatedPage)
      #expect(sync.transport.takeRequests().count == 3)
    }
  }

  @Test func anEndlessFeedEndsAtTheLimit() async throws {
    try await withSync { sync async throws in
      let endless = EndlessTransport()
      let engine = SyncEngine(
        store: sync.store, transport: endless, now: { [clock = sync.clock] in clock.now })
      let error = try await #require(throws: SyncError.self) {
        try await engine.sync(sync.feedID)
      }
      #expect(error.code == .tooManyPages)
      #expect(endless.requests == SyncLimits.pagesPerRunMax + 1)
    }
  }

  @Test(arguments: [
    "https://evil.example/v1/home?page=1", "//evil.example/x", "http://feed.example/v1/home",
    "https://feed.example:8443/v1/home", "file:///etc/passwd", "https://u:p@feed.example/x",
    "https://feed.example.evil.example/", "javascript:alert(1)",
    "https://evil.example/\r\nX-Evil: 1",
  ])
  func aNextPageOnAnotherServerIsRefused(_ next: String) async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([.init("a", 1)], next: next).text))
      #expect(try await sync.syncError().code == .foreignPage)
      #expect(sync.transport.takeRequests().count == 1)
    }
  }

  @Test(arguments: [
    ("?page=1", "https://feed.example/v1/home?page=1"),
    ("?page=a b|ü%20", "https://feed.example/v1/home?page=a%20b%7C%C3%BC%20"),
    ("/x", "https://feed.example/x"),
    ("https://FEED.example:443/x", "https://FEED.example:443/x"),
  ])
  func aNextPageIsResolvedFromItsOwn(_ next: String, _ resolved: String) async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([.init("a", 1)], next: next).text))
      sync.transport.script(resolved, .page(HomeFeedText.full(.init("b", 1))))
      #expect(try await sync.sync().new == 2)
    }
  }

  @Test func lineBreaksInACursorNeverReachTheRequest() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([.init("a", 1)], next: "?c=\r\nX-Evil: 1\0").text))
      _ = try? await sync.sync()  // because the page behind it is not in the script
      for request in sync.transport.takeRequests() {
        #expect(!request.url.utf8.contains { $0 < 0x20 })
      }
    }
  }

  @Test func aFaultyListingStartsAgainAtTheNextRun() async throws {
    try await withSync { sync async throws in
      let first = (0..<1_000).map { HomeFeedText.Item("ep:\($0)", 1) }
      sync.serve(.page(HomeFeedText(first, next: "?page=1").text))
      for status in [404, 410, 400] {
        sync.transport.script(url + "?page=1", .status(status))
        #expect(try await sync.syncError().code == .badStatus)
        _ = sync.transport.takeRequests()
      }
      #expect(try !sync.feed.isPaused, "only the feed's own URL can be gone")
      sync.transport.script(url + "?page=1", .page(HomeFeedText.full(.init("last", 1))))
      let report = try await sync.sync()
      #expect(!report.isResumed && report.unchanged == 1_000 && report.new == 1)
    }
  }

  @Test func theTitleOfTheFirstPageIsTheFeeds() async throws {
    try await withSync { sync async throws in
      var first = HomeFeedText([.init("a", 1)], next: "?page=1")
      first.title = "Home"
      sync.serve(.page(first.text))
      sync.transport.script(url + "?page=1", .page(HomeFeedText.full(.init("b", 1))))
      try await sync.sync()
      #expect(try sync.feed.title == "Home")
    }
  }
}

/// A feed in which every page names a next one.
private final class EndlessTransport: HTTPTransport {
  private let count = Locked(0)
  var requests: Int { count.withLock { $0 } }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let text = HomeFeedText([], next: "?page=\(number)").text
    return HTTPResponse(status: 200, body: PaddedBytes(text.utf8), effectiveURL: request.url)
  }
}
