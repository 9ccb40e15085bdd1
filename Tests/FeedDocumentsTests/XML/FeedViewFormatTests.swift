import Foundation
import Testing

@testable import FeedDocuments

@Suite struct FeedViewFormatTests {
  @Test func readsRSS() throws {
    let read = try ReadView(
      rss(
        """
        <title>Walks</title><link>/home</link><description>By foot</description>
        <language>en</language><ttl>60</ttl>
        <image><url>/logo.png</url><title>Logo</title><link>/elsewhere</link></image>
        <item><title>One &amp; two</title><link>?p=1</link><guid isPermaLink="false">a1</guid>
        <pubDate>Fri, 20 Nov 2026 10:00:00 +0800</pubDate><author>jo@example.org (Jo)</author>
        <category domain="d">hills</category><category>rain</category>
        <description>&lt;p&gt;Up&lt;/p&gt;</description>
        <enclosure url="/1.mp3" type="audio/mpeg" length="123"/>
        <comments>/c</comments></item>
        """))
    #expect(read.view.format == .rss)
    #expect(read.view.isComplete)
    #expect(read.view.faults == 0)
    #expect(read.view.itemCount == 1)
    #expect(read["title"] == "Walks")
    #expect(read["home_page_url"] == "http://example.org/home")
    #expect(read["description"] == "By foot")
    #expect(read["icon"] == "http://example.org/logo.png")
    #expect(read["language"] == "en")
    #expect(read.number("_rss/ttl") == 3_600)
    #expect(read["version"] == nil)
    #expect(read["items/0/id"] == "a1")
    #expect(read["items/0/title"] == "One & two")
    #expect(read["items/0/url"] == "http://example.org/feeds/a.xml?p=1")
    #expect(read["items/0/date_published"] == "2026-11-20T02:00:00Z")
    #expect(read["items/0/_rss/pubDate"] == "Fri, 20 Nov 2026 10:00:00 +0800")
    #expect(read["items/0/_rss/guid@isPermaLink"] == "false")
    #expect(read["items/0/_rss/comments"] == "/c")
    #expect(read["items/0/authors/0/name"] == "Jo")
    #expect(read["items/0/authors/0/_email"] == "jo@example.org")
    #expect(read.value("items/0/tags") as? [String] == ["hills", "rain"])
    #expect(read["items/0/summary"] == "<p>Up</p>")
    #expect(read["items/0/attachments/0/url"] == "http://example.org/1.mp3")
    #expect(read["items/0/attachments/0/mime_type"] == "audio/mpeg")
    #expect(read.number("items/0/attachments/0/size_in_bytes") == 123)
  }

  @Test func readsPodcasts() throws {
    let read = try ReadView(
      rss(
        """
        <itunes:owner><itunes:name>Jo</itunes:name></itunes:owner>
        <itunes:category text="Sports"><itunes:category text="Hiking"/></itunes:category>
        <item><title>One</title><itunes:title>Uno</itunes:title><itunes:duration>1:02:03</itunes:duration>
        <itunes:image href="/1.jpg"/><itunes:episode>7</itunes:episode>
        <enclosure url="http://cdn.example.org/1.mp3" type="audio/mpeg" length=""/>
        <podcast:transcript url="http://example.org/1.vtt" type="text/vtt"/>
        <podcast:person role="guest">Al</podcast:person>
        <media:group><media:content url="http://example.org/1.mp4" type="video/mp4" duration="9"/>
        <media:thumbnail url="/t.jpg"/><media:title>T</media:title></media:group></item>
        """,
        namespaces: """
          xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" \
          xmlns:podcast="https://podcastindex.org/namespace/1.0" \
          xmlns:media="http://search.yahoo.com/mrss/"
          """))
    #expect(read["_itunes/owner.name"] == "Jo")
    #expect(read["_itunes/category@text"] == "Sports")
    #expect(read.value("tags") as? [String] == ["Sports", "Hiking"])
    #expect(read["items/0/title"] == "One")
    #expect(read["items/0/_itunes/title"] == "Uno")
    #expect(read["items/0/_itunes/episode"] == "7")
    #expect(read["items/0/_itunes/duration"] == "1:02:03")
    #expect(read["items/0/image"] == "http://example.org/1.jpg")
    #expect(read.number("items/0/attachments/0/duration_in_seconds") == 3_723)
    #expect(read.number("items/0/attachments/1/duration_in_seconds") == 9)
    #expect(read["items/0/attachments/1/mime_type"] == "video/mp4")
    #expect(read["items/0/_podcast/transcript/0/url"] == "http://example.org/1.vtt")
    #expect(read["items/0/_podcast/person/0/text"] == "Al")
    #expect(read["items/0/_media/group/0/thumbnail/0/url"] == "/t.jpg")
  }

  @Test func readsRSS1() throws {
    let read = try ReadView(
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
       xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
       xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
       xmlns:content="http://purl.org/rss/1.0/modules/content/">
      <channel rdf:about="http://example.org/"><title>Walks</title>
      <sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency></channel>
      <item rdf:about="http://example.org/1"><title>One</title><link>http://example.org/1?x</link>
      <dc:date>2004-05-25T23:17:59+09:00</dc:date><dc:creator>Jo</dc:creator>
      <content:encoded><![CDATA[<a href="/a">a</a>]]></content:encoded></item>
      </rdf:RDF>
      """)
    #expect(read.view.format == .rss1)
    #expect(read["title"] == "Walks")
    #expect(read.number("_rss/ttl") == 21_600)
    #expect(read["items/0/id"] == "http://example.org/1")
    #expect(read["items/0/url"] == "http://example.org/1?x")
    #expect(read["items/0/date_modified"] == "2004-05-25T14:17:59Z")
    #expect(read["items/0/_dc/date"] == "2004-05-25T23:17:59+09:00")
    #expect(read["items/0/authors/0/name"] == "Jo")
    #expect(read["items/0/content_html"] == #"<a href="http://example.org/a">a</a>"#)
  }

  @Test func readsAtom() throws {
    let read = try ReadView(
      atom(
        """
        <title type="html">Walks &amp;lt;3</title><id>urn:f</id>
        <link rel="self" href="a.xml"/><link href="http://example.org/"/>
        <link rel="next" href="?page=2"/><updated>2026-11-20T10:00:00.25Z</updated>
        <entry xml:base="/e/"><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <b>b</b></div></title>
        <id>urn:1</id><link href="1" hreflang="en"/><link rel="related" href="http://x.org/"/>
        <link rel="enclosure" href="1.mp3" type="audio/mpeg" length="5"/>
        <published>2026-11-19T10:00:00Z</published><updated>2026-11-20T10:00:00+01:00</updated>
        <author><name>Jo</name><uri>http://jo.example.org/</uri></author>
        <category term="t" label="T"/><summary>Short</summary>
        <content type="xhtml" xml:base="deep/"><div xmlns="http://www.w3.org/1999/xhtml"><p>1 &lt; 2<br/><img src="i.png"/></p></div></content>
        </entry>
        """))
    #expect(read.view.format == .atom)
    #expect(read["title"] == "Walks &lt;3")
    #expect(read["_title_text"] == "Walks <3")
    #expect(read["_id"] == "urn:f")
    #expect(read["feed_url"] == "http://example.org/feeds/a.xml")
    #expect(read["next_url"] == "http://example.org/feeds/a.xml?page=2")
    #expect(read["_feed/next"] == read["next_url"])
    #expect(read["date_modified"] == "2026-11-20T10:00:00.25Z")
    #expect(read["items/0/id"] == "urn:1")
    #expect(read["items/0/url"] == "http://example.org/e/1")
    #expect(read["items/0/external_url"] == "http://x.org/")
    #expect(read["items/0/title"] == "A <b>b</b>")
    #expect(read["items/0/_title_text"] == "A b")
    #expect(read["items/0/summary"] == "Short")
    #expect(read["items/0/date_published"] == "2026-11-19T10:00:00Z")
    #expect(read["items/0/date_modified"] == "2026-11-20T09:00:00Z")
    #expect(read["items/0/_atom/updated"] == "2026-11-20T10:00:00+01:00")
    #expect(read["items/0/authors/0/url"] == "http://jo.example.org/")
    #expect(read.value("items/0/tags") as? [String] == ["t"])
    #expect(
      read["items/0/content_html"]
        == #"<p>1 &lt; 2<br /><img src="http://example.org/e/deep/i.png" /></p>"#)
    #expect(read.number("items/0/attachments/0/size_in_bytes") == 5)
    #expect(read["items/0/_links/0/rel"] == "alternate")
    #expect(read["items/0/_links/0/hreflang"] == "en")
  }

  @Test func readsOldAtom() throws {
    let read = try ReadView(
      """
      <feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>W</title>
      <entry><title mode="escaped" type="text/html">&lt;b&gt;x&lt;/b&gt;</title><id>tag:1</id>
      <issued>2003-12-31T10:14:55Z</issued><modified>2004-01-01</modified>
      <content type="text/plain" mode="base64">RXhhbXBsZQ==</content></entry></feed>
      """)
    #expect(read["items/0/title"] == "<b>x</b>")
    #expect(read["items/0/date_published"] == "2003-12-31T10:14:55Z")
    #expect(read["items/0/date_modified"] == "2004-01-01T00:00:00Z")
    #expect(read["items/0/content_text"] == "Example")
    // An id that is no web address is not made a link.
    #expect(read["items/0/url"] == nil)
  }

  @Test func readsAnEntryAlone() throws {
    let read = try ReadView(
      "<entry xmlns=\"http://www.w3.org/2005/Atom\"><title>x</title><id>http://e.org/1</id></entry>"
    )
    #expect(read.items.count == 1)
    #expect(read["items/0/url"] == "http://e.org/1")
  }

  @Test func readsTombstonesAndPaging() throws {
    let read = try ReadView(
      atom(
        """
        <fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/>
        <link rel="prev-archive" href="old.xml"/>
        <at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="urn:2"
         when="2026-11-20T10:00:00+01:00"><at:comment>gone</at:comment></at:deleted-entry>
        """))
    #expect(read.value("_feed/complete") as? Bool == true)
    #expect(read.value("_feed/archive") == nil)
    #expect(read["_feed/prev_archive"] == "http://example.org/feeds/old.xml")
    #expect(read["_deleted/0/id"] == "urn:2")
    #expect(read["_deleted/0/when"] == "2026-11-20T09:00:00Z")
  }

  @Test func theFirstTitleAndTheLastLinkCount() throws {
    let read = try ReadView(
      rss("<item><title>A</title><title>B</title><link>/a</link><link>/b</link></item>"))
    #expect(read["items/0/title"] == "A")
    #expect(read["items/0/url"] == "http://example.org/b")
    #expect(read["items/0/id"] == nil)
  }

  @Test func guidsThatAreAddressesStandInForLinks() throws {
    let read = try ReadView(
      rss(
        """
        <item><guid>http://e.org/1</guid></item><item><guid>http://e.org/2</guid><link>/l</link></item>
        <item><guid>17</guid></item><item><guid isPermaLink="false">http://e.org/3</guid></item>
        <item><guid isPermaLink="true">/4</guid></item>
        """))
    #expect(read["items/0/url"] == "http://e.org/1")
    #expect(read["items/1/url"] == "http://example.org/l")
    #expect(read["items/2/id"] == "17")
    #expect(read["items/2/url"] == nil)
    #expect(read["items/3/url"] == nil)
    #expect(read["items/4/url"] == nil)
  }

  @Test func otherNamespacesAreKeptWithTheirPrefix() throws {
    let read = try ReadView(
      rss("<item><slash:comments>4</slash:comments></item>", namespaces: "xmlns:slash=\"urn:s\""))
    #expect(read["items/0/_other/slash:comments"] == "4")
  }

  @Test func valuesThatAreTooLongAreLeftOut() throws {
    let long = String(repeating: "x", count: XMLLimits.extensionValueBytesMax + 1)
    let many = (0..<100).map { "<n\($0)>\(String(repeating: "y", count: 1_000))</n\($0)>" }.joined()
    let read = try ReadView(rss("<item><comments>\(long)</comments>\(many)<guid>g</guid></item>"))
    #expect(read["items/0/id"] == "g")
    #expect(read["items/0/_rss/comments"] == nil)
    let kept = (read.value("items/0/_rss") as? [String: Any])?.count ?? 0
    #expect(kept > 20 && kept < 40)
  }
}
