import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient
import HomeFeed
import LoopbackHTTP
import TestSupport
import Testing

@testable import FeedSync

/// The request for a URL before it becomes a feed.
@Suite(.serialized) struct FeedCheckTests {
  private static let site = "https://site.example/blog/"
  private static let feed = "https://site.example/blog/feed.xml"
  private static let rss = """
    <rss version="2.0"><channel><title>Cast</title><item><guid>g1</guid><title>One</title></item>
    <item><guid>g2</guid><title>Two</title></item></channel></rss>
    """

  private func page(_ head: String) -> ScriptedTransport.Answer {
    .page(
      "<!doctype html><html><head><meta charset=utf-8>\(head)</head><body>Hi<br></body></html>",
      ("Content-Type", "text/html"))
  }

  private func check(
    _ sync: SyncFixture, _ url: String = site, _ settings: Feeds.Settings = Feeds.Settings()
  ) async throws -> FeedCheck.Finding {
    var check = FeedCheck(store: sync.store, transport: sync.transport)
    check.sleep = { [clock = sync.clock] in clock.advance(by: $0 / .seconds(1)) }
    return try await check.check(url, settings)
  }

  @Test func aFeedIsFoundWithItsFormatItemsAndTitle() async throws {
    try await withSync { sync async throws in
      sync.transport.script(Self.feed, .page(Self.rss))
      let found = try await check(sync, Self.feed)
      #expect(found.format == "RSS" && found.items == 2 && found.title == "Cast")
      #expect(found.url == Self.feed && !found.isNamedByPage && found.others.isEmpty)
      #expect(try Feeds(sync.store).list().count == 1, "nothing is stored")
      let requests = sync.transport.takeRequests()
      #expect(requests.count == 1 && requests[0].allowsPrivateAddresses)
    }
  }

  @Test func theFirstFeedThatAPageNamesIsFound() async throws {
    try await withSync { sync async throws in
      let head = """
        <script>document.write('<link rel="alternate" type="application/rss+xml" href="/no1">')
        </script><!-- <link rel="alternate" type="application/rss+xml" href="/no2"> -->
        <link rel="alternate" type="application/json" href="/wp-json/posts/1">
        <link rel="stylesheet alternate" type="application/rss+xml" href="/no3">
        <link rel="icon" type="application/rss+xml" href="/no4">
        <link rel="alternate" type="application/rss+xml" href="ftp://site.example/no5">
        <link rel="alternate" type="application/rss+xml" href="https://u:p@site.example/no6">
        <LINK TYPE="application/RSS+xml; charset=utf-8" REL="home Alternate" HREF='feed.xml'>
        <link rel=alternate type=application/atom+xml title="A &amp; b" href="/atom?a=1&amp;b=2">
        <link rel="alternate" type="application/rss+xml" href="feed.xml">
        <link rel="alternate" type="application/rss+xml" href="feed.xml#again">
        <link rel="alternate" type="application/json" title="JSON Feed" href="/j.json">
        """
      sync.transport.script(Self.site, page(head))
      sync.transport.script(Self.feed, .page(Self.rss))
      let found = try await check(sync)
      #expect(found.url == Self.feed && found.isNamedByPage && found.items == 2)
      #expect(
        found.others.map(\.url) == [
          "https://site.example/atom?a=1&b=2", "https://site.example/j.json",
        ])
      #expect(found.others.map(\.title) == ["A & b", "JSON Feed"])
      #expect(sync.transport.takeRequests().map(\.url) == [Self.site, Self.feed])
    }
  }

  @Test(arguments: [
    ("<base href='/other/'>", "f", "https://site.example/other/f"),
    ("<base href='https://cdn.example'>", "/f", "https://cdn.example/f"),
    ("", "https://site.example/f g", "https://site.example/f%20g"),
    ("<base href='javascript:x'>", "https://site.example/f", "https://site.example/f"),
    ("<base href='javascript:x'>", "f#part", "https://site.example/blog/f"),
    ("<base href='ftp://cdn.example/'>", "/f", "https://site.example/f"),
  ])
  func aNamedURLIsResolvedAgainstTheBase(
    _ base: String, _ href: String, _ url: String
  ) async throws {
    try await withSync { sync async throws in
      sync.transport.script(
        Self.site,
        page("\(base)<link rel='alternate' type='application/rss+xml' href='\(href)'>"))
      sync.transport.script(url, .page(Self.rss))
      #expect(try await check(sync).url == url)
    }
  }

  @Test(arguments: [
    "", "<link rel=alternate type=text/html href=/en>",
    "<link rel=alternate type=application/rss+xml href='javascript:x'>",
    "<link rel=alternate type=application/rss+xml href='/blog/'>",
  ])
  func aPageThatNamesNoFeedIsAnError(_ head: String) async throws {
    try await withSync { sync async throws in
      sync.transport.script(Self.site, page(head))
      let error = try await #require(throws: SyncError.self) { try await check(sync) }
      #expect(error.code == .badDocument && error.description.contains("names no feed"))
    }
  }

  @Test func aNamedPageIsNotFollowedFurther() async throws {
    try await withSync { sync async throws in
      let link = "<link rel=alternate type=application/rss+xml href=feed.xml>"
      sync.transport.script(Self.site, page(link))
      sync.transport.script(Self.feed, page(link.replacing("feed", with: "other")))
      let error = try await #require(throws: SyncError.self) { try await check(sync) }
      #expect(error.code == .badDocument)
      #expect(sync.transport.takeRequests().count == 2)
    }
  }

  @Test(arguments: [
    ("https://site.example/f", true, true), ("https://site.example:8443/f", true, true),
    ("https://site.example/f", false, false), ("http://10.0.0.1/f", true, false),
    ("http://169.254.169.254/f", true, false), ("https://nas.example/f", true, false),
  ])
  func onlyAPrivatePageLeadsIntoThePrivateNetworkAndOnlyToItsOwnHost(
    _ url: String, _ isPrivate: Bool, _ isAllowed: Bool
  ) async throws {
    try await withSync { sync async throws in
      let text = "<html><link rel=alternate type=application/rss+xml href='\(url)'>"
      sync.transport.script(
        Self.site,
        .response(
          status: 200, headers: [("Content-Type", "text/html")], body: Array(text.utf8),
          isFromPrivateAddress: isPrivate, isHostPublic: !isPrivate))
      sync.transport.script(url, .page(Self.rss))
      _ = try await check(sync)
      #expect(
        sync.transport.takeRequests().map(\.allowsPrivateAddresses) == [true, isAllowed])
    }
  }

  @Test func aPublicHostThatWasFoundStaysPublic() async throws {
    try await withSync { sync async throws in
      sync.transport.script(
        Self.feed, .response(status: 200, body: Array(Self.rss.utf8), isHostPublic: true))
      let found = try await check(sync, Self.feed)
      #expect(found.isHostPublic)
      var settings = Feeds.Settings()
      settings.found = .init(title: found.title, isHostPublic: found.isHostPublic)
      let feeds = Feeds(sync.store)
      try await feeds.add(found.url, settings)
      let feed = try feeds.find(found.url).feed
      #expect(feed.title == "Cast" && feed.requiresPublicAddress)
    }
  }

  @Test func noSecretGoesToTheServerThatAPageNames() async throws {
    try await withSync { sync async throws in
      let file = sync.folder.path("token")
      try Data("s3cret".utf8).write(to: URL(fileURLWithPath: file))
      let settings = Feeds.Settings(secrets: [FeedSecret(.bearer, .file(file))])
      func name(_ url: String) {
        sync.transport.script(
          Self.site, page("<link rel=alternate type=application/rss+xml href='\(url)'>"))
        sync.transport.script(url, .page(Self.rss))
      }
      name("https://other.example/f")
      let error = try await #require(throws: SyncError.self) {
        try await check(sync, Self.site, settings)
      }
      #expect(error.code == .foreignPage && error.description.contains("https://other.example/f"))
      #expect(sync.transport.takeRequests().map(\.url) == [Self.site])
      name(Self.feed)
      _ = try await check(sync, Self.site, settings)
      #expect(
        sync.transport.takeRequests().map { $0.header("Authorization") }
          == ["Bearer s3cret", "Bearer s3cret"])
    }
  }

  @Test func withSecretsTheFirstFeedOfThePagesOwnServerIsFound() async throws {
    try await withSync { sync async throws in
      let file = sync.folder.path("token")
      try Data("s3cret".utf8).write(to: URL(fileURLWithPath: file))
      let other = "https://other.example/f"
      let links = [other, Self.feed].map {
        "<link rel=alternate type=application/rss+xml href='\($0)'>"
      }
      sync.transport.script(Self.site, page(links.joined()))
      sync.transport.script(Self.feed, .page(Self.rss))
      let secrets = Feeds.Settings(secrets: [FeedSecret(.bearer, .file(file))])
      let found = try await check(sync, Self.site, secrets)
      #expect(found.url == Self.feed && found.others.map(\.url) == [other])
    }
  }

  @Test func theSettingsOfAFeedThatAPageNamesStay() async throws {
    try await withSync { sync async throws in
      sync.transport.script(
        Self.site, page("<link rel=alternate type=application/rss+xml href=feed.xml>"))
      sync.transport.script(Self.feed, .page(Self.rss))
      try await Feeds(sync.store).add(Self.feed)
      let every = Feeds.Settings(every: .seconds(60))
      let error = try await #require(throws: SyncError.self) {
        try await check(sync, Self.site, every)
      }
      #expect(error.code == .invalidFeed && error.description.contains(Self.feed))
      #expect(sync.transport.takeRequests().map(\.url) == [Self.site])
      #expect(try await check(sync, Self.feed, every).url == Self.feed)
      #expect(try await check(sync).url == Self.feed, "nothing would change")
      let id = try Feeds(sync.store).find(Self.feed).id
      try await Feeds(sync.store).update(id) { $0.isRemoved = true }
      #expect(try await check(sync, Self.site, every).url == Self.feed)
    }
  }

  @Test func aFeedThatEverySyncWouldRejectIsAnError() async throws {
    try await withSync { sync async throws in
      let feed = #"{"version":"https://jsonfeed.org/version/1.1","items":[ITEMS]}"#
      func serve(_ items: String) {
        sync.transport.script(Self.feed, .page(feed.replacing("ITEMS", with: items)))
      }
      serve("{},{},{}")
      let error = try await #require(throws: SyncError.self) { try await check(sync, Self.feed) }
      #expect(error.code == .nothingUsable)
      serve(Array(repeating: "{}", count: 50).joined(separator: ",") + #",{"id":"1"}"#)
      let many = try await #require(throws: SyncError.self) { try await check(sync, Self.feed) }
      #expect(many.code == .tooManyRejected)
      serve(#"{},{},{"id":"1","date_published":"soon"}"#)
      let found = try await check(sync, Self.feed)
      #expect(found.items == 3 && found.unusable == 2)
      #expect(found.warnings.count == 1 && found.warnings[0].contains("1 date cannot be read"))
      serve("")
      #expect(try await check(sync, Self.feed).items == 0)
    }
  }

  @Test func aLongTitleIsShortened() async throws {
    try await withSync { sync async throws in
      let title = String(repeating: "x", count: 2 << 20)
      sync.transport.script(Self.feed, .page(Self.rss.replacing("Cast", with: title)))
      let found = try await check(sync, Self.feed)
      #expect(found.title?.unicodeScalars.count == SyncLimits.textLengthMax)
      var settings = Feeds.Settings()
      settings.found = .init(title: title, isHostPublic: false)
      try await Feeds(sync.store).add(Self.feed, settings)
      #expect(try Feeds(sync.store).find(Self.feed).feed.title == found.title)
    }
  }

  @Test func theSettingsOfTheFeedAreUsed() async throws {
    try await withSync { sync async throws in
      let url = "https://api.example/x"
      sync.transport.script(url, .page(#"{"list":[{"id":"1"}]}"#))
      let error = try await #require(throws: SyncError.self) { try await check(sync, url) }
      #expect(error.code == .badDocument)
      let mapping = FeedMappingText("mapping: x\nitems: $.list[*]\nid: /id\n", file: "x")
      let settings = Feeds.Settings(
        mapping: mapping, sizeLimit: .set(4_096), timeLimit: .set(7))
      #expect(try await check(sync, url, settings).items == 1)
      let last = try #require(sync.transport.takeRequests().last)
      #expect(last.decodedBytesMax == 4_096 && last.timeout == .seconds(7))
      try await Feeds(sync.store).add(url, settings)
      #expect(try await check(sync, url).items == 1, "the stored ones too")
    }
  }

  @Test(arguments: [401, 404, 410, 500, 204])
  func anAnswerWithoutAFeedIsAnError(_ status: Int) async throws {
    try await withSync { sync async throws in
      sync.transport.script(Self.feed, .status(status))
      await #expect(throws: SyncError.self) { try await check(sync, Self.feed) }
      await #expect(throws: SyncError.self) { try await check(sync, "ftp://site.example/") }
    }
  }

  @Test func requestsToOneHostAreSpaced() async throws {
    try await withSync { sync async throws in
      sync.transport.script(Self.feed, .page(Self.rss))
      var check = FeedCheck(store: sync.store, transport: sync.transport)
      check.sleep = { [clock = sync.clock] in clock.advance(by: $0 / .seconds(1)) }
      let start = sync.clock.now
      for _ in 0..<3 { _ = try await check.check(Self.feed, Feeds.Settings()) }
      #expect(sync.clock.now.timeIntervalSince(start) == 4)
      sync.transport.script(
        Self.site, page("<link rel=alternate type=application/rss+xml href=feed.xml>"))
      _ = try await check.check(Self.site, Feeds.Settings())
      #expect(sync.clock.now.timeIntervalSince(start) == 8, "the page and its feed")
    }
  }

  @Test func theHostOfANamedFeedMayHaveAskedToWait() async throws {
    try await withSync { sync async throws in
      sync.transport.script(
        Self.site,
        page("<link rel=alternate type=application/rss+xml href=https://other.example/f>"))
      let now = sync.clock.now
      try await sync.store.write {
        try Hosts.record(
          "other.example", waitUntil: now.addingTimeInterval(60), now: now, in: $0)
      }
      let error = try await #require(throws: SyncError.self) { try await check(sync) }
      #expect(error.code == .waiting)
      #expect(sync.transport.takeRequests().map(\.url) == [Self.site])
    }
  }
}
