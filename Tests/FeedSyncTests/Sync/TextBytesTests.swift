import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HomeFeed
import Testing

@testable import FeedSync

/// Texts go from the document to the record as bytes.
@Suite struct TextBytesTests {
  @Test func everyTextIsStoredAsItWasWritten() async throws {
    try await withSync { sync async throws in
      let texts = [
        "", "a", "x\0y", "\0", "片头", "e\u{301}", "\u{E9}", "😀", "\u{FEFF}a", "\"\\/\n",
        String(repeating: "é", count: 70_000),
      ]
      let items = texts.enumerated().map { HomeFeedText.Item("i\($0)", 1, title: $1) }
      sync.serve(.page(HomeFeedText(items).text))
      #expect(try await sync.sync().new == texts.count)
      for (number, text) in texts.enumerated() {
        let title = try sync.episode("i\(number)")?.title
        #expect(title.map { Array($0.utf8) } == Array(text.utf8), "\(number)")
      }
    }
  }

  /// The items before and after it have the texts of their own.
  @Test func anItemWithIllFormedTextIsRejectedAlone() async throws {
    try await withSync { sync async throws in
      var page = HomeFeedText([.init("a", 1), .init("b", 1, title: "#"), .init("c", 1)])
      page.users = [#"{"id":"c","rev":1,"progress":0.5}"#]
      var bytes = Array(page.text.utf8)
      let place = try #require(bytes.firstIndex(of: UInt8(ascii: "#")))
      bytes.replaceSubrange(place...place, with: [0xC3, 0x28])
      sync.serve(.response(status: 200, body: bytes))
      let report = try await sync.sync()
      #expect((report.new, report.rejected) == (2, 1))
      #expect(try sync.episode("a")?.title == "a r1")
      #expect(try sync.episode("b") == nil)
      #expect(try sync.episode("c")?.title == "c r1")
      #expect(try sync.episode("c")?.progress == 0.5)
    }
  }

  @Test func aValueThatTheAttributeRefusesIsLeftOut() async throws {
    try await withSync { sync async throws in
      let long = String(repeating: "p", count: 513)
      let items = [
        HomeFeedText.Item("a", 1, attributes: "\"path\":\"\(long)\",\"position\":2"),
        .init("b", 1, attributes: #""duration":-1,"url":"https://e.org/ü","position":3"#),
        .init("c", 1, attributes: #""publishedAt":"2026-02-30T00:00:00Z","position":4"#),
        .init(
          "d", 1, attributes: #""path":null,"duration":7,"url":"https://e.org/x","position":5"#),
      ]
      sync.serve(.page(HomeFeedText(items).text))
      let report = try await sync.sync()
      #expect((report.new, report.dropped) == (4, 3))
      #expect(report.typeChanges == ["publishedAt": 1])
      #expect(try sync.episode("a")?.pathID == nil && sync.episode("a")?.position == 2)
      #expect(try sync.episode("b")?.duration == nil && sync.episode("b")?.position == 3)
      #expect(try sync.episode("b")?.url?.absoluteString == "https://e.org/%C3%BC")
      #expect(try sync.episode("c")?.publishedAt == nil && sync.episode("c")?.position == 4)
      #expect(try sync.episode("d")?.duration == 7)
      #expect(try sync.episode("d")?.url?.absoluteString == "https://e.org/x")
    }
  }

  /// The store has no entries when the listing begins, so none is looked up before the write.
  @Test(arguments: [(1, 0.25), (2, 0.75), (3, 0.75)])
  func anEntryThatIsListedAgainOnALaterPageCountsOnce(rev: Int, progress: Double) async throws {
    try await withSync { sync async throws in
      var first = HomeFeedText([.init("a", 1)], next: "?page=1")
      first.users = [#"{"id":"a","rev":2,"progress":0.25}"#]
      var second = HomeFeedText([.init("b", 1)])
      // With the same revision the first one stays.
      let again = rev == 2 ? 0.25 : progress
      second.users = ["{\"id\":\"a\",\"rev\":\(rev),\"progress\":0.75}"]
      sync.serve(.page(first.text))
      sync.transport.script(SyncFixture.url + "?page=1", .page(second.text))
      let report = try await sync.sync()
      #expect(report.new == 2)
      #expect(try sync.episode("a")?.progress == (rev == 3 ? 0.75 : again))
      #expect(report.userValues == (rev == 3 ? 2 : 1))
      #expect(try sync.store.read { try $0.count(of: "_UserState") } == 1)
    }
  }

  @Test func manyKeysAreFoundAtTheirPositions() async throws {
    try await withSync { sync async throws in
      let items = (0..<1_000).map { HomeFeedText.Item("i\($0 % 700)", 1) }
      sync.serve(.page(HomeFeedText(items).text))
      let report = try await sync.sync()
      #expect((report.new, report.skipped, report.duplicates) == (700, 300, 0))
    }
  }
}
