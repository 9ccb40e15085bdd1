import EntityModel
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct ConditionalSyncTests {
  private let page = HomeFeedText.full(.init("a", 1), .init("b", 2))

  @Test func theFirstSyncStoresEveryItemAndThenTheValidators() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\""), ("Last-Modified", "Fri, 20 Nov 2026 09:00:00 GMT")))
      let report = try await sync.sync()
      #expect(report.outcome == .synced)
      #expect(report.mode == "full")
      #expect(report.new == 2 && report.items == 2 && report.pages == 1 && report.requests == 1)
      #expect(report.bytes == page.utf8.count)
      #expect(try sync.episode("a")?.title == "a r1")
      #expect(try sync.episode("b")?.updatedAt == DateText.rfc3339("2026-11-01T08:00:00Z"))
      let request = try #require(sync.transport.takeRequests().first)
      #expect(request.url == SyncFixture.url)
      #expect(request.header("If-None-Match") == nil)
      #expect(request.header("If-Modified-Since") == nil)
      #expect(request.header("Authorization") == nil)
      #expect(request.decodedBytesMax == SyncLimits.pageBytesMax)
      let feed = try sync.feed
      #expect(feed.etag == "\"1\"" && feed.validatorsAt == sync.clock.now)
      #expect(feed.lastModified == "Fri, 20 Nov 2026 09:00:00 GMT")
      #expect(feed.format == "homefeed/1" && feed.lastItems == 2 && feed.fullAt == sync.clock.now)
    }
  }

  @Test func aSecondSyncSendsTheValidatorsAndLeavesTheDataFileByteForByteAsItWas() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      sync.serve(.status(304, ("ETag", "\"1\"")))
      let before = try sync.store.dataBytes()
      sync.clock.advance(by: 60)
      let report = try await sync.sync()
      #expect(report.outcome == .notModified && report.items == 0)
      #expect(try sync.store.dataBytes() == before)
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == ["\"1\""])
    }
  }

  @Test(arguments: [
    "\"plain\"", "W/\"a,b\"", "no-quotes", "W/\"\"", "\"with space\"", "\"Ünïcode\"", "*",
    "\"a\", \"b\"",
  ])
  func anETagIsSentBackByteForByte(_ etag: String) async throws {
    try await withSync { sync async throws in
      let date = "yesterday, about \(etag)"
      sync.serve(.page(page, ("etag", etag), ("last-modified", date)))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      sync.serve(.status(304))
      try await sync.sync()
      let request = try #require(sync.transport.takeRequests().first)
      #expect(request.header("If-None-Match") == etag)
      #expect(request.header("If-Modified-Since") == date)
    }
  }

  @Test func a304ReplacesTheValidatorsThatItNamesAndKeepsTheOthers() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\""), ("Last-Modified", "then")))
      try await sync.sync()
      sync.serve(.status(304, ("ETag", "\"2\"")))
      try await sync.sync()
      #expect(try sync.feed.etag == "\"2\"")
      #expect(try sync.feed.lastModified == "then")
    }
  }

  @Test func theSameBytesUnderNewValidatorsUpdateTheValidatorsAndNothingElse() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\""), ("Last-Modified", "then")))
      try await sync.sync()
      let records = try sync.store.records(of: "Episode")
      sync.clock.advance(by: 1 * 86_400)
      sync.serve(.page(page, ("ETag", "\"2\"")))
      let report = try await sync.sync()
      #expect(report.outcome == .notModified && report.pages == 0 && report.items == 0)
      #expect(try sync.feed.etag == "\"2\"")
      #expect(try sync.feed.lastModified == nil, "a 200 without it has none (RFC 9110)")
      #expect(try sync.store.records(of: "Episode") == records)
    }
  }

  @Test func aServerThatIgnoresValidatorsCausesNoWrite() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      try await sync.sync()
      let before = try sync.store.dataBytes()
      sync.clock.advance(by: 1 * 86_400)
      #expect(try await sync.sync().outcome == .notModified)
      #expect(try sync.store.dataBytes() == before)
    }
  }

  @Test func oldValidatorsAreLeftOutOnceAndThenSentAgain() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      sync.clock.advance(by: 9 * 86_400)
      #expect(try await sync.sync().outcome == .notModified)
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
      sync.clock.advance(by: 1 * 86_400)
      sync.serve(.status(304))
      #expect(try await sync.sync().outcome == .notModified)
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == ["\"1\""])
    }
  }

  @Test func aServerThatChangesTheETagOfEach304GetsUnconditionalRequestsToo() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"0\"")))
      try await sync.sync()
      for day in 1...7 {
        sync.clock.advance(by: 86_400)
        sync.serve(.status(304, ("ETag", "\"\(day)\"")))
        try await sync.sync()
      }
      sync.clock.advance(by: 86_400)
      sync.serve(.page(HomeFeedText.full(.init("a", 2), .init("b", 2))))
      _ = sync.transport.takeRequests()
      #expect(try await sync.sync().changed == 1)
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
    }
  }

  @Test func validatorsAreNotStoredWhenALaterPageFails() async throws {
    try await withSync { sync async throws in
      let pages = HomeFeedText.pages([[.init("a", 1)], [.init("b", 1)]], url: SyncFixture.url)
      sync.transport.script(pages[0].url, .page(pages[0].text, ("ETag", "\"1\"")))
      sync.transport.script(pages[1].url, .status(500))
      #expect(try await sync.syncError().code == .badStatus)
      #expect(try sync.feed.etag == nil)
      #expect(try sync.feed.errors == 1)
      sync.transport.script(pages[1].url, .page(pages[1].text, ("ETag", "\"of page 2\"")))
      try await sync.sync()
      #expect(try sync.feed.etag == "\"1\"", "those of the first page count")
      #expect(try sync.feed.errors == 0)
      #expect(try sync.feed.lastError == nil)
    }
  }

  @Test func anUnrequested304IsRequestedOnceMoreWithoutCaches() async throws {
    try await withSync { sync async throws in
      sync.serve()
      sync.transport.script(SyncFixture.url, .status(304), .page(page))
      #expect(try await sync.sync().new == 2)
      let requests = sync.transport.takeRequests()
      #expect(requests.map { $0.header("Cache-Control") } == [nil, "no-cache"])
    }
    try await withSync { sync async throws in
      sync.serve(.status(304))
      #expect(try await sync.syncError().code == .unaskedNotModified)
      #expect(sync.transport.takeRequests().count == 2)
    }
  }

  @Test func aFullRunIsUnconditionalAndChangesNoRecordAndNoIndexEntry() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      let before = try ContentTrees(sync.store)
      sync.clock.advance(by: 1 * 86_400)
      let report = try await sync.sync(isFull: true)
      #expect(report.outcome == .synced && report.unchanged == 2 && report.items == 2)
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
      #expect(try ContentTrees(sync.store) == before)
    }
  }

  @Test func validatorsWithControlCharactersAreNeverStored() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"\r\nX-Evil: 1"), ("Last-Modified", "a\0b")))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      try await sync.sync()
      let request = try #require(sync.transport.takeRequests().first)
      #expect(request.header("If-None-Match") == nil && request.header("If-Modified-Since") == nil)
    }
  }
}
