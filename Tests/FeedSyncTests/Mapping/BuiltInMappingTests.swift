import EntityModel
import EntityStore
import Foundation
import HomeFeed
import Testing

@testable import FeedSync

/// RSS and Atom by the mappings that come with the program.
@Suite(.serialized) struct BuiltInMappingTests {
  private func atom(_ content: String) -> String {
    """
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0"
      xmlns:at="http://purl.org/atompub/tombstones/1.0"><title>T</title>\(content)</feed>
    """
  }

  private func entry(_ id: String, _ updated: String = "2026-11-01T08:00:00Z") -> String {
    "<entry><id>\(id)</id><title>\(id)</title><updated>\(updated)</updated></entry>"
  }

  @Test func aPodcastBecomesEpisodes() async throws {
    let rss = """
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
      <title>Cast</title><ttl>30</ttl><item><guid>g1</guid><title>One &amp; two</title>
      <link>https://e.org/1</link><pubDate>Fri, 20 Nov 2026 10:00:00 +0800</pubDate>
      <description>D</description><itunes:duration>1:02:03</itunes:duration>
      <enclosure url="https://e.org/1.mp3" length="7" type="audio/mpeg"/></item></channel></rss>
      """
    try await withSync { sync async throws in
      sync.serve(.page(rss, ("Content-Type", "application/rss+xml")))
      let report = try await sync.sync()
      #expect(report.new == 1 && report.rejected == 0 && report.dropped == 0)
      let episode = try #require(try sync.episode("g1"))
      #expect(episode.title == "One & two" && episode.duration == 3_723)
      #expect(episode.url?.absoluteString == "https://e.org/1")
      #expect(episode.publishedAt == DateText.rfc3339("2026-11-20T02:00:00Z"))
      #expect(episode.updatedAt == episode.publishedAt)
      #expect(try sync.feed.title == "Cast" && sync.feed.identity == "/id")
      let trees = try ContentTrees(sync.store)
      #expect(try await sync.sync(isFull: true).unchanged == 1)
      #expect(try ContentTrees(sync.store) == trees)
    }
  }

  private static let rssHead = """
    <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
      xmlns:content="http://purl.org/rss/1.0/modules/content/"
      xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <channel><title>T</title><item><guid>a</guid>
    """

  /// Documents of each format with content, authors, media and an image.
  @Test(
    arguments: [
      (
        rssHead + """
          <content:encoded>&lt;p&gt;Hi&lt;/p&gt;</content:encoded><dc:creator>Jo</dc:creator>
          <enclosure url="https://e.org/a.mp3" length="7" type="audio/mpeg"/>
          <itunes:image href="https://e.org/a.png"/></item></channel></rss>
          """, "<p>Hi</p>", nil
      ),
      (
        rssHead + """
          <content:encoded>&lt;p&gt;Hi&lt;/p&gt;</content:encoded><itunes:author>Jo</itunes:author>
          <media:group><media:content url="https://e.org/a.mp3" fileSize="7" type="audio/mpeg"/>
          <media:thumbnail url="https://e.org/a.png"/></media:group></item></channel></rss>
          """, "<p>Hi</p>", nil
      ),
      (
        """
        <feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>a</id><title>A</title>
        <author><name>Jo</name></author><content type="html">&lt;p&gt;Hi&lt;/p&gt;</content>
        <link rel="enclosure" href="https://e.org/a.mp3" length="7" type="audio/mpeg"/>
        <thumbnail xmlns="http://search.yahoo.com/mrss/" url="https://e.org/a.png"/></entry></feed>
        """, "<p>Hi</p>", nil
      ),
      (
        """
        <feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>a</id><title>A</title>
        <author><name>Jo</name></author><content>Hi</content>
        <link rel="enclosure" href="https://e.org/a.mp3" length="7" type="audio/mpeg"/>
        <thumbnail xmlns="http://search.yahoo.com/mrss/" url="https://e.org/a.png"/></entry></feed>
        """, nil, "Hi"
      ),
      (
        """
        {"version":"https://jsonfeed.org/version/1","title":"T","items":[{"id":"a",
         "content_html":"<p>Hi</p>","content_text":"Hi","author":{"name":"Jo"},
         "attachments":[{"url":"https://e.org/a.mp3","mime_type":"audio/mpeg","size_in_bytes":7}],
         "image":"https://e.org/a.png"}]}
        """, "<p>Hi</p>", "Hi"
      ),
      (
        """
        {"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"a",
         "content_html":"<p>Hi</p>","authors":[{"name":"Jo"}],"author":{"name":"Old"},
         "attachments":[{"url":"https://e.org/a.mp3","mime_type":"audio/mpeg","size_in_bytes":7}],
         "banner_image":"https://e.org/a.png"}]}
        """, "<p>Hi</p>", nil
      ),
      (
        """
        {"format":"homefeed/1","epoch":"e","mode":"full","version":1,"entities":[
         {"id":"a","kind":"Episode","rev":1,"attrs":{"contentHTML":"<p>Hi</p>","contentText":"Hi",
          "authors":["Jo"],"mediaURL":"https://e.org/a.mp3","mediaType":"audio/mpeg",
          "mediaBytes":7,"image":"https://e.org/a.png"}}]}
        """, "<p>Hi</p>", "Hi"
      ),
    ] as [(String, String?, String?)])
  func theContentOfAnItemIsStored(
    _ document: String, _ html: String?, _ text: String?
  ) async throws {
    try await withSync { sync async throws in
      sync.serve(.page(document))
      let report = try await sync.sync()
      #expect(report.new == 1 && report.dropped == 0 && report.rejected == 0)
      let episode = try #require(try sync.episode("a"))
      let content = try #require(try ContentStore(sync.store).loadContent(of: episode))
      #expect(content.contentHTML == html && content.contentText == text)
      #expect(
        content.authors == ["Jo"] && content.mediaURL?.absoluteString == "https://e.org/a.mp3")
      #expect(content.mediaType == "audio/mpeg" && content.mediaBytes == 7)
      #expect(content.image?.absoluteString == "https://e.org/a.png")
      #expect(try await sync.sync(isFull: true).unchanged == 1)
    }
  }

  /// RSS 2.0 defines an author as a mail address.
  @Test func anAuthorWithoutANameIsKnownByTheAddress() async throws {
    try await withSync { sync async throws in
      sync.serve(
        .page(Self.rssHead + "<author>jo@example.org</author></item></channel></rss>"))
      try await sync.sync()
      let episode = try #require(try sync.episode("a"))
      #expect(
        try ContentStore(sync.store).loadContent(of: episode)?.authors == ["jo@example.org"])
    }
  }

  @Test func aWindowNeverDeletesButACompleteFeedDoes() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(atom(entry("a") + entry("b"))))
      #expect(try await sync.sync().mode == "window")
      sync.serve(.page(atom(entry("b"))))
      #expect(try await sync.sync().deleted == 0)
      sync.serve(.page(atom("<fh:complete/>" + entry("b"))))
      let report = try await sync.sync()
      #expect(report.mode == "full" && report.deleted == 1)
      #expect(try sync.episode("a") == nil)
    }
  }

  @Test func aDeletedEntryIsATombstoneForOlderCopies() async throws {
    let deletion = "<at:deleted-entry ref=\"a\" when=\"2026-11-02T08:00:00Z\"/>"
    try await withSync { sync async throws in
      sync.serve(.page(atom(entry("a") + entry("b"))))
      try await sync.sync()
      sync.serve(.page(atom(deletion + entry("b"))))
      #expect(try await sync.sync().deleted == 1)
      sync.serve(.page(atom(deletion + entry("a") + entry("b"))))
      #expect(try await sync.sync().new == 0)
      sync.serve(.page(atom(deletion + entry("a", "2026-11-03T08:00:00Z") + entry("b"))))
      #expect(try await sync.sync().new == 1)
    }
  }

  @Test func aTruncatedDocumentStoresItsItemsAndDeletesNone() async throws {
    try await withSync { sync async throws in
      let whole = atom("<fh:complete/>" + entry("a") + entry("b") + entry("c"))
      sync.serve(.page(whole, ("ETag", "\"1\"")))
      try await sync.sync()
      let cut = atom(
        "<fh:complete/><at:deleted-entry ref=\"b\" when=\"2026-12-02T08:00:00Z\"/>" + entry("d")
          + "<entry><id>e</id><tit")
      sync.serve(.page(String(cut.dropLast(7)), ("ETag", "\"2\"")))
      let report = try await sync.sync()
      #expect(report.outcome == .incomplete && report.new == 1 && report.deleted == 0)
      #expect(report.faults > 0)
      #expect(try sync.feed.etag == nil)
      #expect(try sync.episode("b") != nil)
    }
  }

  @Test func aPageOfHTMLIsNoFeed() async throws {
    try await withSync { sync async throws in
      sync.serve(.page("<!doctype html><html><body>404</body></html>"))
      let error = try await sync.syncError()
      #expect(error.code == .badDocument && error.description.contains("HTML"))
    }
  }
}
