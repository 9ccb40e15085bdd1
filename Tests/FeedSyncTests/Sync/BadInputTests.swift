import EntityModel
import FeedDocuments
import Foundation
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct BadInputTests {
  private let items: [HomeFeedText.Item] = (0..<30).map { .init("ep:\($0)", 1) }

  /// Syncs 30 good items, then the document, and returns the error; nothing may be lost.
  private func error(of body: [UInt8]) async throws -> SyncError {
    var result: SyncError?
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText(items).text, ("ETag", "\"1\"")))
      try await sync.sync()
      let before = try ContentTrees(sync.store)
      sync.serve(
        .response(
          status: 200, headers: [("Content-Type", "text/x"), ("ETag", "\"2\"")], body: body))
      result = try await sync.syncError()
      #expect(try ContentTrees(sync.store) == before)
      #expect(try sync.feed.etag == "\"1\"")
      #expect(try sync.feed.errors == 1)
    }
    return try #require(result)
  }

  @Test func aDocumentCutAnywhereIsAnErrorAndLosesNothing() async throws {
    let text = Array(HomeFeedText(Array(items.prefix(2))).text.utf8)
    for length in stride(from: 0, to: text.count, by: 23) {
      #expect(try await error(of: Array(text.prefix(length))).code == .badDocument)
    }
  }

  @Test(arguments: [
    "[]", "null", "<html>\n<body>404</body></html>", "<?xml version='1.0'?><opml/>", "{}",
    "{\"format\":\"homefeed/2\"}", "{\"format\":\"homefeed\\n/1\"}", "\u{1f}\u{8b}",
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":7}", "{\"a\":1}{\"a\":1}",
    "\u{feff}", "{\"format\":\"homefeed/1\",\"mode\":\"full\",\"epoch\":\"\",\"version\":1}",
  ])
  func aDocumentThatIsNoFeedIsAnError(_ text: String) async throws {
    #expect(try await error(of: Array(text.utf8)).code == .badDocument)
  }

  @Test func invalidUTF8AndEndlessNestingAreErrors() async throws {
    let utf16 = Array("{\"a\":1}".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
    #expect(try await error(of: [0xff, 0xfe] + utf16).code == .badDocument)
    let nested = Array(repeating: UInt8(ascii: "["), count: 100_000)
    #expect(try await error(of: nested).code == .badDocument)
  }

  @Test func anItemThatIsTooLargeIsRejectedAndTheOthersAreKept() async throws {
    try await withSync { sync async throws in
      let large = String(repeating: "x", count: DocumentLimits.itemBytesMax)
      sync.serve(
        .page(
          HomeFeedText.full(
            .init("a", 1), .init("b", 1, attributes: "\"summary\":\(quoted(large))"))))
      let report = try await sync.sync()
      #expect(report.new == 1 && report.rejections.map(\.reason) == ["the item is too large"])
      #expect(try sync.episode("a") != nil)
    }
  }

  @Test func anUnusableItemIsRejectedAndReportedAndTheOthersAreKept() async throws {
    let broken = [
      "7", "null", "{}", #"{"id":"x1","kind":"Episode","rev":9007199254740993}"#,
      #"{"id":"x2","kind":"Episode","rev":1,"attrs":{"title":"\x"}}"#,
      #"{"id":"x3","kind":"Episode","rev":1,"updatedAt":"yesterday"}"#,
      #"{"id":"","kind":"Episode","rev":1}"#,
    ]
    for item in broken {
      try await withSync { sync async throws in
        var page = HomeFeedText(items)
        page.entities.insert(item, at: 5)
        sync.serve(.page(page.text))
        let report = try await sync.sync()
        #expect(report.rejected == 1 && report.new == 30 && report.items == 31, "\(item)")
        #expect(report.outcome == .incomplete, "\(item)")
        #expect(report.rejections.count == 1 && report.rejections[0].reason != "", "\(item)")
      }
    }
  }

  @Test func anOptionalValueOfAWrongTypeIsLeftOutAndCounted() async throws {
    let wrong = [
      #""duration":"long""#, #""duration":-1"#, #""duration":1.5"#, #""type":"FREE""#,
      #""duration":99999999999999999999"#, #""url":7"#, #""publishedAt":"then""#,
      #""position":{}"#, #""pathID":["a"]"#,
    ]
    for attribute in wrong {
      try await withSync { sync async throws in
        sync.serve(.page(HomeFeedText.full(.init("a", 1, attributes: attribute))))
        let report = try await sync.sync()
        #expect(report.dropped == 1 && report.new == 1, "\(attribute)")
        #expect(report.outcome == .synced, "\(attribute)")
        #expect(try sync.episode("a")?.title == "a r1")
      }
    }
  }

  @Test func integersKeepEveryDigit() async throws {
    try await withSync { sync async throws in
      sync.serve(
        .page(HomeFeedText.full(.init("a", 1, attributes: #""duration":9007199254740993"#))))
      try await sync.sync()
      #expect(try sync.episode("a")?.duration == 9_007_199_254_740_993)
    }
    #expect(ScalarValue.int64(9_007_199_254_740_993).converted(to: .double) == nil)
    #expect(ScalarValue.int64(9_007_199_254_740_992).converted(to: .double) == 9007199254740992.0)
  }

  @Test func stringsWithNULAndEveryOtherCharacterAreKept() async throws {
    try await withSync { sync async throws in
      let title = "a\0b\u{1}\u{7f}\r\n\u{fffd}😀é e\u{301}\u{202e}"
      sync.serve(.page(HomeFeedText.full(.init("id\0x", 1, title: title), .init("id", 1))))
      try await sync.sync()
      #expect(try sync.episode("id\0x")?.title == title)
      #expect(try sync.episode("id") != nil)
      #expect(try await sync.sync(isFull: true).unchanged == 2)
    }
  }

  @Test func tooManyRejectionsStoreNothingOfThePage() async throws {
    try await withSync { sync async throws in
      var page = HomeFeedText(Array(items.prefix(19)))
      page.entities += (0..<5).map { #"{"id":"bad\#($0)","kind":"Episode","rev":-1}"# }
      sync.serve(.page(page.text))
      let error = try await sync.syncError()
      #expect(error.code == .tooManyRejected)
      #expect(error.description.contains("5 of 24"))
      #expect(error.description.contains("bad0"))
      #expect(try sync.store.records(of: "Episode").isEmpty)
    }
    try await withSync { sync async throws in
      var page = HomeFeedText(Array(items.prefix(20)))
      page.entities += (0..<5).map { #"{"id":"bad\#($0)","kind":"Episode","rev":-1}"# }
      sync.serve(.page(page.text))
      #expect(try await sync.sync().rejected == 5, "one in five is not more than that")
    }
  }

  /// Fewer than make a page suspicious.
  @Test(arguments: [1, 4])
  func aRunThatRejectsEveryItemFailsAndReadsThemAgain(_ count: Int) async throws {
    try await withSync { sync async throws in
      var page = HomeFeedText([])
      page.entities = (0..<count).map { #"{"id":"bad\#($0)","kind":"Episode","rev":-1}"# }
      sync.serve(.page(page.text, ("ETag", "\"1\"")))
      for errors in 1...2 {
        let error = try await sync.syncError()
        #expect(error.code == .nothingUsable)
        #expect(error.description.contains("rejected: \(count) of \(count), the first: bad0: "))
        let feed = try sync.feed
        #expect(feed.errors == Int64(errors) && feed.etag == nil && feed.bodyHash == nil)
      }
      #expect(sync.transport.takeRequests().allSatisfy { $0.header("If-None-Match") == nil })
      page.entities.append(HomeFeedText.Item("good", 1).text)
      sync.serve(.page(page.text))
      #expect(try await sync.sync().new == 1)
    }
  }

  @Test func aRunWithoutItemsAndOneOfDeletionsSucceed() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText([]).text))
      #expect(try await sync.sync().items == 0)
      sync.serve(.page(HomeFeedText.full(.deleted("a", 1))))
      #expect(try await sync.sync().outcome == .synced)
    }
  }

  @Test func rejectionsOfManySmallPagesAreAdded() async throws {
    try await withSync { sync async throws in
      for number in 0..<4 {
        var page = HomeFeedText([.init("ep:\(number)", 1)])
        page.entities += (0..<2).map { #"{"id":"bad\#($0)","kind":"Episode","rev":-1}"# }
        page.next = number == 3 ? nil : "?page=\(number + 1)"
        sync.transport.script(
          SyncFixture.url + (number == 0 ? "" : "?page=\(number)"), .page(page.text))
      }
      #expect(try await sync.syncError().code == .tooManyRejected)
    }
  }

  @Test func aDateInTheFutureIsLimitedAndStaysAsItIsAtTheNextSync() async throws {
    try await withSync { sync async throws in
      var item = HomeFeedText.Item("a", 1)
      item.updatedAt = "2041-01-01T00:00:00Z"
      sync.serve(.page(HomeFeedText.full(item)))
      #expect(try await sync.sync().futureDates == 1)
      let limit = sync.clock.now.addingTimeInterval(86_400)
      #expect(try sync.episode("a")?.updatedAt == limit)
      let before = try ContentTrees(sync.store)
      sync.clock.advance(by: 5 * 86_400)
      #expect(try await sync.sync(isFull: true).unchanged == 1)
      #expect(try sync.episode("a")?.updatedAt == limit)
      #expect(try ContentTrees(sync.store) == before)
    }
  }

  @Test func anItemThatAJSONFeedListsOnTwoPagesIsNotWrittenAtEverySync() async throws {
    func page(_ title: String, _ other: String, next: String?) -> String {
      let next = next.map { ",\"next_url\":\"\($0)\"" } ?? ""
      return """
        {"version":"https://jsonfeed.org/version/1.1","title":"t"\(next),"items":[\
        {"id":"x","title":"\(title)"},{"id":"\(other)"}]}
        """
    }
    try await withSync { sync async throws in
      sync.serve(.page(page("first", "a", next: "?p=1")))
      sync.transport.script(SyncFixture.url + "?p=1", .page(page("second", "b", next: nil)))
      let report = try await sync.sync()
      #expect(report.new == 3 && report.skipped == 1)
      // The same one, whichever page comes first.
      let title = try sync.episode("x")?.title
      #expect(title == "first" || title == "second")
      let before = try ContentTrees(sync.store)
      #expect(try await sync.sync(isFull: true).changed == 0)
      #expect(try ContentTrees(sync.store) == before)
    }
  }
}
