import EntityModel
import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// The documents of others in XML, by the built-in mappings: the values that a store would get.
@Suite struct BuiltInCorpusTests {
  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func everyFeedHasTheValuesOfAnIndependentParser() throws {
    try XMLCorpora.expectAgreement { document, expected in
      let page = try withPadding(document) { bytes throws(DocumentError) in
        try FeedPage.parse(
          bytes, DocumentSource(contentType: expected.contentType, url: expected.base ?? ""),
          by: homeFeedMappings)
      }
      return (Self.values(of: page), Self.values(of: expected, as: page))
    }
  }

  private static func values(of page: FeedPage) -> CorpusFeed {
    let items = page.items.filter { !$0.isDeleted }.map { item in
      var read = CorpusFeed.Item()
      let values = item.values
      if case .string(let title) = values["title"] { read.title = plain(title) }
      // A hash stands for what no parser has an id for.
      read.id = item.id.hasPrefix("xxh3:") ? nil : item.id
      if case .url(let url) = values["url"] { read.link = url.absoluteString }
      if case .date(let date) = values["publishedAt"] { read.published = text(date) }
      read.updated = item.updatedAt.map(text)
      return read
    }
    return CorpusFeed(title: page.title, items: items)
  }

  /// Returns an entry as the mappings read it: the id that all items of the feed have, a title
  /// without markup, a link that is a URL, and that what was never changed was so when it was
  /// published.
  private static func values(of expected: ExpectedFeed, as page: FeedPage) -> CorpusFeed {
    var feed = expected.asRead
    let rejected = Set(page.rejected.map(\.index))
    feed.items = feed.items.enumerated().filter { index, entry in
      // What has nothing to tell it apart is no item.
      !(rejected.contains(index) && entry.id == nil && entry.link == nil)
    }.map { _, entry in
      var entry = entry
      entry.title = entry.title.map(plain)
      entry.id = page.identity == "/url" ? entry.link : entry.id ?? entry.link
      entry.link = entry.link.map { URL(string: $0)?.absoluteString ?? $0 }
      entry.updated = entry.updated ?? entry.published
      return entry
    }
    return feed
  }

  private static func text(_ date: Date) -> String {
    Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down)).ISO8601Format()
  }

  private static func plain(_ title: String) -> String {
    HTMLText.decodingReferences(title.replacing(/<[^<>]*>/, with: ""))
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
