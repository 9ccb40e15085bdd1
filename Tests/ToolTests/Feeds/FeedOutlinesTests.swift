import EntityStore
import FeedSync
import Foundation
import HomeFeed
import LoopbackHTTP
import Migrations
import TestSupport
import Testing

/// `mooring feed import` and `mooring feed export`.
@Suite struct FeedOutlinesTests {
  private static let outlines = """
    <?xml version="1.0" encoding="UTF-8"?>
    <opml version="2.0">
      <body>
        <outline text="News">
          <outline text="Local &amp; Co">
            <outline text="A" type="rss" xmlUrl="https://a.example/feed" category="one,/two"/>
          </outline>
          <outline text="Bad" type="rss" xmlUrl="ftp://b.example/"/>
          <outline text="Secret" type="rss" xmlUrl="https://u:hunter2@b.example/"/>
        </outline>
        <outline text="Again" type="rss" xmlUrl="https://a.example/feed"/>
        <outline text="A note"/>
        <outline type="rss"
          xmlUrl="not a url"/>
        <outline type="rss" text="https://c.example/" xmlUrl="https://c.example/"/>
      </body>
    </opml>
    """

  private func feeds(_ store: String) throws -> [Feed] {
    let store = try Store.open(at: store, migrations: [.homeFeed, .feeds], migrate: .never)
    return try Feeds(store).list().map(\.feed)
  }

  @Test func theFeedsOfAFileAreAddedAndBadOnesReported() throws {
    try withTemporaryFolder { folder in
      let (store, file) = (folder.path("store"), folder.path("feeds.opml"))
      try Data(Self.outlines.utf8).write(to: URL(filePath: file))
      let run = try mooring("feed", "import", file, "--every", "2h", store: store)
      #expect(run.status == 65)
      let lines = run.messages.filter { $0.contains(file) }
      #expect(lines.count == 4, "\(run.errors)")
      #expect(lines[0].contains("\(file):8: a feed has an http or https URL"))
      #expect(lines[1].contains("\(file):9: a feed's URL has no user name or password"))
      #expect(lines[2].contains("\(file):11: the same URL as line 6"))
      #expect(lines[3].contains("\(file):13: a feed has an http or https URL"))
      #expect(run.errors.contains("feeds: 2 added, 1 repeated, 1 outline without a feed"))
      #expect(run.errors.contains("3 of 6 URLs were not added; correct those"))
      #expect(!run.errors.contains("hunter2"))
      let feeds = try feeds(store)
      #expect(feeds.map(\.url) == ["https://a.example/feed", "https://c.example/"])
      #expect(feeds.map(\.shownTitle) == ["A", nil])
      #expect(feeds.map(\.folder) == [["News", "Local & Co"], nil])
      #expect(feeds.map(\.categories) == [["one", "/two"], nil])
      #expect(feeds.map(\.every) == [7_200, 7_200])
      let shown = try mooring("feed", "show", "1", store: store).output
      #expect(shown.contains(/\nfolder +News \/ Local & Co\n/), "\(shown)")
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func whatIsExportedIsImportedAgain() throws {
    try withTemporaryFolder { folder in
      let (store, file) = (folder.path("store"), folder.path("feeds.opml"))
      try Data(Self.outlines.utf8).write(to: URL(filePath: file))
      #expect(try mooring("feed", "import", file, store: store).status == 65)
      let exported = folder.path("exported.opml")
      let export = try mooring("feed", "export", exported, store: store)
      #expect(export.status == 0 && export.errors.hasSuffix("exported 2 feeds to \(exported)\n"))
      let text = try String(contentsOfFile: exported, encoding: .utf8)
      #expect(try mooring("feed", "export", store: store).output == text)
      // Into another store, and into the same one.
      let other = folder.path("other")
      for target in [other, store] {
        let run = try mooring("feed", "import", exported, store: target)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try mooring("feed", "export", "-", store: target).output == text)
      }
      func facts(_ feed: Feed) -> [String?] {
        [
          feed.url, feed.title, feed.customTitle, feed.folder?.description,
          feed.categories?.description,
        ]
      }
      let originals = try feeds(store).map(facts)
      #expect(try feeds(other).map(facts) == originals)
    }
  }

  @Test func standardInputIsRead() throws {
    try withTemporaryFolder { folder in
      let (store, file) = (folder.path("store"), folder.path("feeds.opml"))
      try Data("<opml><outline text='x' xmlUrl='https://a.example/'/></opml>".utf8)
        .write(to: URL(filePath: file))
      let piped = try run(
        "mooring", ["feed", "import", "-"], in: "exec \"$@\" <'\(file)'", store: store)
      #expect(piped.status == 0 && piped.errors.contains("feeds: 1 added"), "\(piped.errors)")
    }
  }

  @Test func aFileThatIsNoOPMLAddsNothing() throws {
    try withTemporaryFolder { folder in
      let (store, file) = (folder.path("store"), folder.path("feeds.opml"))
      expectFailure(
        try mooring("feed", "import", folder.path("none"), store: store), 69,
        "there is no OPML file")
      for (text, part) in [
        ("<rss/>", "its first element is <rss>"),
        ("<opml>\n<outline>\n</opml>", ":3: the XML is not well-formed"),
        ("<!DOCTYPE o [<!ENTITY a 'b'>]><opml/>", "it has a document type"),
        ("", "the document is empty"),
      ] {
        try Data(text.utf8).write(to: URL(filePath: file))
        expectFailure(try mooring("feed", "import", file, store: store), 65, file, part)
      }
      #expect(try mooring("feed", "import", store: store).status == 64)
      #expect(try mooring("feed", "import", file, "--every", "soon", store: store).status == 64)
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test func anExistingFileIsReplacedOnlyWithForce() throws {
    try withSampleStore { store in
      let file = store + ".opml"
      defer { try? FileManager.default.removeItem(atPath: file) }
      try Data("mine".utf8).write(to: URL(filePath: file))
      expectFailure(try mooring("feed", "export", file, store: store), 73, "--force")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
      #expect(try mooring("feed", "export", file, "--force", store: store).status == 0)
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let url = try SampleStore.feedURL
      #expect(text.contains(url))
      expectFailure(
        try mooring("feed", "export", store + "/none/x", store: store), 73, "cannot be written")
    }
  }

  /// The title of a file is the operator's until a document has the same one.
  @Test func titlesOfAFileStayAcrossSyncs() async throws {
    let document = #"{"version":"https://jsonfeed.org/version/1.1","title":"Own","items":[]}"#
    let server = try LoopbackServer { _, connection in
      try connection.send(Response(text: document))
    }
    defer { server.stop() }
    try await withTemporaryFolder { folder async throws in
      let (store, file) = (folder.path("store"), folder.path("feeds.opml"))
      func outlines(_ title: String) throws {
        let text = "<opml><outline text='\(title)' xmlUrl='\(server.url)/a'/></opml>"
        try Data(text.utf8).write(to: URL(filePath: file))
        #expect(try mooring("feed", "import", file, store: store).status == 0)
      }
      try outlines("Mine")
      #expect(try mooring("sync", store: store).status == 0)
      #expect(try feeds(store).map(\.title) == ["Own"])
      #expect(try feeds(store).map(\.shownTitle) == ["Mine"])
      try outlines("Own")
      #expect(try feeds(store).map(\.customTitle) == [nil])
      try outlines("Mine again")
      #expect(try mooring("feed", "list", store: store).output.contains("Mine again"))
    }
  }

  @Test func feedsAreCheckedIfThatIsWanted() async throws {
    let document = #"{"version":"https://jsonfeed.org/version/1.1","title":"Own","items":[]}"#
    let server = try LoopbackServer { _, connection in
      try connection.send(Response(text: document))
    }
    defer { server.stop() }
    try await withTemporaryFolder { folder async throws in
      let (store, file) = (folder.path("store"), folder.path("feeds.opml"))
      let text =
        "<opml><outline text='f'><outline text='Mine' xmlUrl='\(server.url)/a'/></outline></opml>"
      try Data(text.utf8).write(to: URL(filePath: file))
      let run = try mooring("feed", "import", file, "--check", store: store)
      #expect(run.status == 0 && run.errors.contains("JSON Feed"), "\(run.errors)")
      #expect(try feeds(store).map(\.title) == ["Own"])
      #expect(try feeds(store).map(\.shownTitle) == ["Mine"])
      #expect(try feeds(store).map(\.folder) == [["f"]])
    }
  }
}
