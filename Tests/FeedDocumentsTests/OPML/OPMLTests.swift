import FeedDocuments
import TestSupport
import Testing

/// OPML documents as other programs write them, and as they should not be.
@Suite struct OPMLTests {
  private func read(_ text: String) throws -> OPMLDocument {
    try OPMLDocument(reading: Array(text.utf8))
  }

  private func error(_ text: String) -> String? {
    do throws(OPMLError) {
      _ = try OPMLDocument(reading: Array(text.utf8))
      return nil
    } catch {
      return error.line.map { "\($0): \(error)" } ?? "\(error)"
    }
  }

  private func written(_ document: OPMLDocument) -> String {
    var text = ""
    OPMLWriter(document).write { text += $0 }
    return text
  }

  // MARK: Other programs

  @Test func anExportOfMinifluxIsRead() throws {
    let document = try read(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <opml version="2.0">
          <head>
              <title>Miniflux</title>
              <dateCreated>Sun, 22 Nov 2026 14:00:00 UTC</dateCreated>
          </head>
          <body>
              <outline text="Science &amp; Nature">
                  <outline title="A &lt;Blog&gt;" text="A &lt;Blog&gt;" xmlUrl="https://a.example/feed?x=1&amp;y=2" htmlUrl="https://a.example/" type="rss"></outline>
                  <outline title="B" text="B" xmlUrl="https://b.example/atom.xml" htmlUrl="https://b.example/" type="rss" description="b"></outline>
              </outline>
              <outline text="All">
                  <outline title="C" text="C" xmlUrl="https://c.example/" htmlUrl="" type="rss"></outline>
              </outline>
          </body>
      </opml>
      """)
    #expect(
      document.feeds == [
        .init(
          url: "https://a.example/feed?x=1&y=2", title: "A <Blog>", folder: ["Science & Nature"],
          line: 9),
        .init(
          url: "https://b.example/atom.xml", title: "B", folder: ["Science & Nature"], line: 10),
        .init(url: "https://c.example/", title: "C", folder: ["All"], line: 13),
      ])
    #expect(document.skipped == 0)
  }

  @Test func anExportOfNewsboatIsRead() throws {
    let document = try read(
      """
      <?xml version="1.0"?>
      <opml version="1.0">
        <head>
          <title>newsboat - Exported Feeds</title>
        </head>
        <body>
          <outline type="rss" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/" title="A"/>
          <outline type="rss" xmlUrl="https://b.example/feed" htmlUrl="" title=""/>
        </body>
      </opml>
      """)
    #expect(
      document.feeds == [
        .init(url: "https://a.example/feed", title: "A", line: 7),
        .init(url: "https://b.example/feed", line: 8),
      ])
  }

  @Test func anExportOfFreshRSSIsRead() throws {
    let document = try read(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <opml xmlns:frss="https://freshrss.org/opml" version="2.0">
        <head><title>FreshRSS</title></head>
        <body>
          <outline text="News" frss:opmlUrl="https://example.org/list.opml">
            <outline text="Mine" type="rss" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"
              description="d" category="one,/two/three, " frss:priority="important"
              frss:cssFullContent=".content"/>
            <outline text="Scraped" type="HTML+XPath" xmlUrl="https://b.example/" frss:xPathItem="//li"/>
          </outline>
          <outline text="Empty"/>
        </body>
      </opml>
      """)
    #expect(
      document.feeds == [
        .init(
          url: "https://a.example/feed", title: "Mine", folder: ["News"],
          categories: ["one", "/two/three"], line: 6)
      ])
    #expect(document.skipped == 2)
  }

  @Test func namesAreComparedWithoutCaseAndFoldersNest() throws {
    let document = try read(
      """
      <OPML><Body><outline title='Outer'><outline><outline text="Inner ">
      <Outline XMLURL=' https://a.example/ ' TEXT='https://a.example/'>
      <outline xmlurl="https://b.example/"/></Outline></outline></outline>
      </outline><outline xmlUrl="https://c.example/"/></Body></OPML>
      """)
    #expect(
      document.feeds == [
        .init(url: "https://a.example/", folder: ["Outer", "Inner"], line: 2),
        .init(url: "https://b.example/", folder: ["Outer", "Inner"], line: 3),
        .init(url: "https://c.example/", line: 4),
      ])
  }

  @Test func otherEncodingsAndStrayCharactersAreRead() throws {
    let latin =
      Array(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><opml><body><outline text=\"Caf".utf8)
      + [0xE9] + Array("\" xmlUrl=\"https://a.example/?a=1&b=2&nbsp;c\"/></body></opml>".utf8)
    let document = try OPMLDocument(reading: latin)
    #expect(document.feeds.map(\.title) == ["Café"])
    #expect(document.feeds.map(\.url) == ["https://a.example/?a=1&b=2\u{A0}c"])
    let wide = Array("\u{FEFF}<opml><outline xmlUrl='x' text='日本\u{1}語'/></opml>".utf16)
      .flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    #expect(try OPMLDocument(reading: wide).feeds.map(\.title) == ["日本語"])
  }

  // MARK: Bad input

  @Test func aDocumentTypeIsRefused() {
    let laughs = """
      <?xml version="1.0"?>
      <!DOCTYPE opml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">
      <!ENTITY file SYSTEM "file:///etc/passwd">]>
      <opml><body><outline text="&c;&file;" xmlUrl="https://a.example/"/></body></opml>
      """
    #expect(error(laughs)?.hasPrefix("it has a document type") == true)
    #expect(error("<!DOCTYPE opml SYSTEM 'x.dtd'><opml/>")?.contains("document type") == true)
    // One in the middle is no declaration, and its entities are text.
    let late = "<opml><!DOCTYPE x [<!ENTITY a 'b'>]><outline text='&a;' xmlUrl='u'/></opml>"
    #expect((try? read(late))?.feeds.first?.title != "b")
  }

  @Test(arguments: [
    ("", "it cannot be read: the document is empty"),
    ("no XML at all", "it has no elements of XML"),
    ("<rss><channel/></rss>", "it is no OPML: its first element is <rss>, not <opml>"),
    ("<html><body>x</body></html>", "it is no OPML: its first element is <html>, not <opml>"),
    (
      "<opml>\n<body>\n<outline text='a'>\n</body></opml>",
      "4: the XML is not well-formed; correct it, or export it again"
    ),
    (
      "<opml><body><outline xmlUrl='a'/>",
      "1: the XML is not well-formed; correct it, or export it again"
    ),
  ])
  func whatIsNoOPMLIsRefused(_ text: String, _ message: String) {
    #expect(error(text) == message)
  }

  @Test func outlinesWithoutURLsAreCounted() throws {
    let document = try read(
      """
      <opml><body><outline text="a note"/><outline text="f"><outline text="g"/></outline>
      <outline text="link" type="link" url="https://a.example/"/><outline xmlUrl=" "/></body></opml>
      """)
    #expect(document.feeds.isEmpty && document.skipped == 4)
    #expect(try read("<opml version=\"2.0\"><head/><body/></opml>").skipped == 0)
  }

  @Test func deepFoldersAreCut() throws {
    let depth = 100
    let text =
      "<opml>" + (0..<depth).map { "<outline text='\($0)'>" }.joined()
      + "<outline xmlUrl='u'/>" + String(repeating: "</outline>", count: depth) + "</opml>"
    let feed = try #require(try read(text).feeds.first)
    #expect(feed.folder == (0..<OPMLDocument.foldersMax).map(String.init))
    let long = String(repeating: "日", count: 200)
    let longFolders = "<opml>" + String(repeating: "<outline text='\(long)'>", count: 4)
    let nested =
      longFolders + "<outline xmlUrl='u'/>" + String(repeating: "</outline>", count: 4) + "</opml>"
    #expect(try read(nested).feeds.first?.folder == [long])
    let tooDeep = String(repeating: "<outline text='x'>", count: 100_000)
    #expect(error("<opml>" + tooDeep)?.contains("not well-formed") == true)
  }

  @Test func manyFeedsAreReadAndWritten() throws {
    let feeds = (0..<50_000).map { number in
      OPMLDocument.Feed(
        url: "https://\(number).example/feed", title: "Feed \(number)",
        folder: number % 3 == 0 ? [] : ["Folder \(number % 100)"], line: 0)
    }
    let document = try read(written(OPMLDocument(feeds: feeds)))
    #expect(document.feeds.count == feeds.count)
    #expect(Set(document.feeds.map(\.url)) == Set(feeds.map(\.url)))
    let lines = document.feeds.map(\.line)
    #expect(lines == lines.sorted() && Set(lines).count == lines.count)
  }

  // MARK: Writing

  @Test func aDocumentIsWrittenInItsFolders() {
    let document = OPMLDocument(feeds: [
      .init(
        url: "https://a.example/?x=1&y=\"2\"", title: "A \"<&>'\u{0}\u{FFFE}\n",
        folder: ["N", "M"]),
      .init(url: "https://b.example/", categories: ["one", "/two/three"]),
      .init(url: "https://c.example/", title: "C", folder: ["N"]),
    ])
    #expect(
      written(document) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <opml version="2.0">
          <head>
            <title>Feeds</title>
          </head>
          <body>
            <outline text="N">
              <outline text="M">
                <outline type="rss" text="A &quot;&lt;&amp;&gt;'&#10;" title="A &quot;&lt;&amp;&gt;'&#10;" xmlUrl="https://a.example/?x=1&amp;y=&quot;2&quot;"/>
              </outline>
              <outline type="rss" text="C" title="C" xmlUrl="https://c.example/"/>
            </outline>
            <outline type="rss" text="https://b.example/" xmlUrl="https://b.example/" category="one,/two/three"/>
          </body>
        </opml>

        """)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func whatIsWrittenIsReadBack(_ seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    let words = ["a", "<b>", "&amp;", "\"q\"", "日本", "x/y", "]]>", "cafe\u{301}"]
    func title() -> String { (0...random.number(0...2)).map { _ in random.pick(words) }.joined() }
    let feeds = (0..<200).map { number in
      OPMLDocument.Feed(
        url: "https://\(number).example/?\(title())", title: random.oneIn(4) ? nil : title(),
        folder: (0..<random.number(0...3)).map { _ in title() },
        categories: (0..<random.number(0...2)).map { _ in title() })
    }
    func key(_ feed: OPMLDocument.Feed) -> OPMLDocument.Feed {
      var feed = feed
      feed.line = 0
      return feed
    }
    let first = try read(written(OPMLDocument(feeds: feeds)))
    #expect(Set(first.feeds.map(key)) == Set(feeds), "seed \(seed)")
    let second = try read(written(first))
    #expect(written(first) == written(second), "seed \(seed)")
  }
}
