import EntityModel
import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

@Suite struct JSONFeedDocumentTests {
  private func page(items: String, _ more: String = "") throws(DocumentError) -> FeedPage {
    try parsePage(
      #"{"version":"https://jsonfeed.org/version/1.1","title":"T",\#(more)"items":[\#(items)]}"#)
  }

  @Test func readsItemsUnderTheNamesOfEntities() throws {
    let page = try page(
      items: #"""
        {"id":"1","url":"https://e.org/1","title":"片头","summary":null,"content_text":"text",
         "date_published":"2026-11-20T10:00:00Z","date_modified":"2026-11-20T18:00:01+08:00",
         "attachments":[{"url":"a.mp3","duration_in_seconds":611},{"duration_in_seconds":1}],
         "_vendor":1,"colour":2}
        """#,
      #""next_url":"https://e.org/feed?page=2","_x":1,"y":2,"#)
    #expect(page.format == .jsonFeed)
    #expect(page.mode == .window)
    #expect(page.title == "T")
    #expect(page.next == "https://e.org/feed?page=2")
    #expect(page.version == nil && page.epoch == nil && page.checkpoint == nil)
    #expect(page.drift.unknownNames == ["colour"])
    #expect(
      page.items == [
        FeedItem(
          kind: nil, id: "1", revision: nil,
          updatedAt: Date(timeIntervalSinceReferenceDate: 816_861_601), isDeleted: false,
          deletedAt: nil,
          fields: [
            Field(
              name: "updatedAt",
              value: .value(.date(Date(timeIntervalSinceReferenceDate: 816_861_601)))),
            Field(name: "title", value: .value(.string("片头"))),
            Field(name: "summary", value: .value(.string("text"))),
            Field(name: "url", value: .value(.url(try #require(URL(string: "https://e.org/1"))))),
            Field(
              name: "publishedAt",
              value: .value(.date(Date(timeIntervalSinceReferenceDate: 816_861_600)))),
            Field(name: "contentText", value: .value(.string("text"))),
            Field(name: "duration", value: .value(.int64(611))),
            Field(name: "mediaURL", value: .value(.url(try #require(URL(string: "a.mp3"))))),
          ])
      ])
  }

  @Test func turnsNumbersIntoIDsDigitForDigit() throws {
    let page = try page(
      items: #"{"id":7},{"id":1.50},{"id":1e3},{"id":123456789012345678901234567890},{"id":-0}"#)
    #expect(page.items.map(\.id) == ["7", "1.50", "1e3", "123456789012345678901234567890", "-0"])
  }

  @Test func takesTheURLForAMissingIDAndRejectsItemsWithNeither() throws {
    let page = try page(
      items: #"{"url":"u"},{"id":null,"url":"v"},{"id":"","url":"w"},{"language":"x"},7"#)
    #expect(page.items.map(\.id) == ["u", "v", "w"])
    #expect(page.rejected.map(\.reason.location) == ["/items/3", "/items/4"])
  }

  @Test func keepsItemsWhoseTimesCannotBeRead() throws {
    let page = try page(items: #"{"id":"1","date_modified":"yesterday"}"#)
    #expect(page.items[0].updatedAt == nil)
    #expect(page.drift.unreadableDate == #""yesterday" (updatedAt)"#)
  }

  @Test func refusesADocumentWithoutItems() {
    #expect(pageError(#"{"version":"https://jsonfeed.org/version/1"}"#)?.location == "/items")
  }

  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func agreesWithAnIndependentParserOnRealFeeds() throws {
    let feeds = try FeedCorpora.expectations(of: "jsonfeed")
    for expected in feeds {
      try expectAgreement(try parsePage(try FeedCorpora.bytes(of: expected.file)), expected)
    }
    #expect(feeds.count == 8)
  }

  private func expectAgreement(_ page: FeedPage, _ expected: ExpectedFeed) throws {
    #expect(page.title == expected.feed.title, "\(expected.file)")
    #expect(page.items.count == expected.n, "\(expected.file)")
    #expect(page.rejected.isEmpty, "\(expected.file)")
    for (item, entry) in zip(page.items, expected.entries) {
      let fields = item.values
      #expect(item.id == entry.id ?? entry.link, "\(expected.file)")
      #expect(fields["title"] == entry.title.map(Value.string), "\(expected.file)")
      #expect(fields["url"]?.text == entry.link, "\(expected.file)")
      #expect(item.updatedAt == entry.updated.flatMap { DateText.rfc3339($0) }, "\(expected.file)")
      let published: Date? =
        if case .date(let date) = fields["publishedAt"] { date } else { nil }
      #expect(published == entry.published.flatMap { DateText.rfc3339($0) }, "\(expected.file)")
    }
  }
}
