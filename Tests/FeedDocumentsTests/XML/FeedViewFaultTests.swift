import Foundation
import TestSupport
import Testing

@testable import FeedDocuments

@Suite struct FeedViewFaultTests {
  @Test(arguments: [
    ("a \u{1}b", "a b"), ("AT&T", "AT&T"), ("a & b", "a & b"), ("a &nbsp;b", "a \u{A0}b"),
    ("caf&eacute;", "café"), ("a &unknown; b", "a &unknown; b"), ("1 < 2", "1 < 2"),
    ("a&#0;b", "ab"), ("a &#38 b", "a &#38 b"), ("x\u{FFFF}y", "xy"), ("a]]>b", "a]]>b"),
    ("<![CDATA[a\u{8}&b]]>", "a&b"),
  ])
  func repairsCharacters(_ written: String, _ meant: String) throws {
    let read = try ReadView(rss("<item><title>\(written)</title></item>"))
    #expect(read["items/0/title"] == meant)
    #expect(read.view.faults == 1)
    #expect(read.view.isComplete)
    #expect(read.view.salvagedItems == 1)
  }

  @Test func controlsOfLatin1AreReadAsWindows1252() throws {
    let read = try ReadView(rss("<item><title>a&#150;b &#38;amp; &#x27;c&#39;</title></item>"))
    #expect(read["items/0/title"] == "a–b &amp; 'c'")
    #expect(read.view.faults == 0)
  }

  @Test func anItemThatIsCutIsLeftOut() throws {
    let read = try ReadView(
      """
      <rss><channel><item><title>A</title></item><item><title>B</title><link>http://exam
      """)
    #expect(read.items.count == 1)
    #expect(!read.view.isComplete)
    #expect(read.view.lostItems == 1)
    #expect(read.view.salvagedItems == 1)
  }

  @Test func aCutBetweenItemsLosesNone() throws {
    let read = try ReadView("<rss><channel><title>T</title><item><title>A</title></item>")
    #expect(read.items.count == 1)
    #expect(!read.view.isComplete)
    #expect(read.view.lostItems == 0)
  }

  @Test func everyCutGivesThePartBeforeIt() throws {
    let item = "<item><title>T<![CDATA[<b>]]></title><link a=\"1\">/l</link></item>"
    let whole = Array(rss(item + item + item).utf8)
    for length in 0..<whole.count {
      let bytes = Array(whole[..<length])
      guard let read = try? ReadView(bytes) else { continue }
      #expect(!read.view.isComplete, "\(length) bytes")
      let ended =
        String(decoding: bytes, as: UTF8.self).split(
          separator: "</item>", omittingEmptySubsequences: false
        ).count - 1
      #expect(read.items.count == ended, "\(length) bytes")
    }
  }

  @Test func elementsThatDoNotMatchAreBalanced() throws {
    let read = try ReadView(
      rss(
        """
        <item><title>A <b>bold</title><link>/a</link></i></item>
        <item><title>B<link>/b</link><description>d</p></description>
        <item><title>C</title>
        """))
    #expect(read.items.count == 3)
    #expect(read["items/0/url"] == "http://example.org/a")
    #expect(read["items/1/title"] == "B")
    #expect(read["items/1/url"] == "http://example.org/b")
    #expect(read["items/2/title"] == "C")
    #expect(read.view.isComplete)
    #expect(read.view.faults > 0)
  }

  @Test func attributesAreQuotedAndDoubleOnesDropped() throws {
    let read = try ReadView(
      rss("<item><enclosure url=http://e.org/1.mp3 type=\"a\" type=\"b\" checked/></item>"))
    #expect(read["items/0/attachments/0/url"] == "http://e.org/1.mp3")
    #expect(read["items/0/attachments/0/mime_type"] == "a")
  }

  @Test func contentAfterTheRootIsSkipped() throws {
    let read = try ReadView(rss("<item><title>A</title></item>") + "<script>x</script>")
    #expect(read.items.count == 1)
    #expect(read.view.isComplete)
    #expect(read.view.faults == 1)
  }

  @Test func itemsAfterTheRootMakeTheListingIncomplete() throws {
    let read = try ReadView(
      "<rss><channel><item><description>see </rss> tag</description></item><item/></channel></rss>")
    #expect(read.items.count == 1)
    #expect(!read.view.isComplete)
  }

  @Test func repairedDocumentsDeleteNothing() throws {
    let marks = "<fh:complete/><fh:archive/><at:deleted-entry ref=\"1\"/>"
    let namespaces =
      "xmlns:fh=\"http://purl.org/syndication/history/1.0\" "
      + "xmlns:at=\"http://purl.org/atompub/tombstones/1.0\""
    let whole = try ReadView(rss(marks + "<item><title>A</title></item>", namespaces: namespaces))
    #expect(whole.value("_feed/complete") as? Bool == true)
    #expect(whole["_deleted/0/id"] == "1")
    let repaired = try ReadView(rss(marks + "<item><title>A</item>", namespaces: namespaces))
    #expect(repaired.items.count == 1)
    #expect(repaired.value("_feed/complete") == nil)
    #expect(repaired.value("_deleted") == nil)
  }

  @Test func anItemsHistoryElementsAreNotTheFeeds() throws {
    let marks =
      "<complete xmlns=\"http://purl.org/syndication/history/1.0\"/>"
      + "<archive xmlns=\"http://purl.org/syndication/history/1.0\"/>"
      + "<deleted-entry xmlns=\"http://purl.org/atompub/tombstones/1.0\" ref=\"other\"/>"
    for place in [marks, "<author>\(marks)</author>", "<source>\(marks)</source>"] {
      let read = try ReadView(atom("<entry><id>1</id>\(place)</entry>"))
      #expect(read.value("_feed") == nil)
      #expect(read.value("_deleted") == nil)
    }
  }

  @Test func textBeforeTheRootIsSkipped() throws {
    #expect(try ReadView("\n\n  <rss><channel><item/></channel></rss>").view.faults == 0)
    let declared = try ReadView("\n\n  " + rss("<item/>")).view
    #expect(declared.firstFault == "line 3: the XML declaration is not at the start")
    let warned = try ReadView("Warning: x in y\n" + rss("<item/>")).view
    #expect(warned.firstFault == "line 1: there is text before the feed" && warned.faults == 1)
  }

  @Test func undeclaredPrefixesHaveTheirCommonMeaning() throws {
    let read = try ReadView(
      rss("<item><dc:creator>Jo</dc:creator><itunes:duration>61</itunes:duration></item>"))
    #expect(read["items/0/authors/0/name"] == "Jo")
    #expect(read["items/0/_itunes/duration"] == "61")
  }

  @Test(arguments: [
    ("<note/>", "\"note\""), ("hello", "without an element"), ("   ", "without an element"),
    ("<CHANNEL/>", "CHANNEL"),
  ])
  func refusesWhatIsNoFeed(_ text: String, _ words: String) {
    let error = refusal(text)
    #expect(error?.code == .unknownFormat)
    #expect(error?.detail?.contains(words) == true, "\(String(describing: error))")
    #expect(error?.advice.contains("mapping") == false)
  }

  @Test(arguments: [
    ("<!doctype html><html><head><title>x</title></head></html>", nil),
    ("<html><link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed\"><p>", "/feed"),
    ("<!DOCTYPE html>\n<p>Sign in</p>", nil),
  ])
  func refusesPages(_ text: String, _ feed: String?) {
    let error = refusal(text)
    #expect(error?.code == .htmlPage)
    #expect(error?.detail == feed.map { "it names the feed \($0)" })
    #expect(error?.advice == "Give the feed's own URL (`mooring feed add FEED`).")
  }

  @Test func refusesNothing() {
    #expect(refusal("")?.code == .empty)
  }

  // MARK: Hostile documents

  @Test func entitiesArePlainTextAndDoNotMultiply() throws {
    let read = try ReadView(
      """
      <!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY % p SYSTEM "http://e.org/p">
      <!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY m "&lt;i>&#60;b"> %p;]>
      <rss><channel><item><title>&a; &b; &x; &m;</title></item></channel></rss>
      """)
    #expect(read["items/0/title"] == "ha &a;&a; &x; <i><b")
    let bomb = (1...9).map {
      "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">"
    }
    let text =
      "<!DOCTYPE rss [<!ENTITY l0 \"lol\">\(bomb.joined())]>"
      + rss("<item><title>&l9;</title></item>")
    #expect(try ReadView(text).view.json.count < 1_000)
  }

  @Test func anEntityUsedOftenIsBounded() throws {
    let text =
      "<!DOCTYPE rss [<!ENTITY l \"\(String(repeating: "x", count: 4_000))\">]>"
      + rss("<item><title>\(String(repeating: "&l;", count: 100_000))</title></item>")
    #expect(try ReadView(text).view.json.count < text.utf8.count * 4)
  }

  @Test func deepDocumentsEnd() throws {
    let deep = String(repeating: "<a>", count: 100_000)
    let read = try ReadView(
      rss("<item><title>A</title>\(deep)</item><item><title>B</title></item>"))
    #expect(read["items/0/title"] == "A")
    #expect(read.items.count == 2)
    let nodes = String(repeating: "<media:group>", count: 150)
    _ = try ReadView(rss("<item>\(nodes)</item>"))
  }

  @Test func manyAttributesAreRefused() {
    let attributes = (0...200).map { " a\($0)=\"\"" }.joined()
    #expect(refusal(rss("<item\(attributes)/>"))?.code == .tooLarge)
  }

  @Test func manyNamespacesAreRefused() {
    var text = "<rss><channel>"
    for level in 0..<6 {
      text += "<x" + (0..<100).map { " xmlns:n\(level)x\($0)=\"urn:\($0)\"" }.joined() + ">"
    }
    #expect(refusal(text)?.code == .tooDeep)
  }

  @Test func documentTypesAfterNoncharactersAreText() throws {
    for mark in ["\u{FFFF}", "\u{FFFE}", "\u{FFFF}\u{FFFE}", "\u{1}", "\u{FEFF}"] {
      let value = String(repeating: "A", count: 200_000)
      let type = "<\(mark)!DOCTYPE rss [<\(mark)!ATTLIST x a CDATA \"\(value)\">]>"
      let item =
        "<item><description>\(String(repeating: "<x/>", count: 1_000))</description></item>"
      let text = type + "<rss><channel>\(item)</channel></rss>"
      let cleaned = try XMLCleaner.clean(Array(text.utf8))
      #expect(!String(decoding: cleaned.output, as: UTF8.self).contains("<!"))
      let read = try ReadView(text)
      #expect(read.view.json.count < 100_000)
      #expect(read.items.count == 1)
    }
  }

  @Test(arguments: ["]]\u{1}>", "]\u{1}]>", "]\u{FFFF}\u{2}]\u{1}>", "]]\u{FFFE}>"])
  func sectionsDoNotEndWhereSomethingWasDropped(_ end: String) throws {
    let inner = "\(end)<!DOCTYPE rss [<!ENTITY a 'b'>]>"
    let read = try ReadView(rss("<item><title><![CDATA[\(inner)]]></title></item>"))
    #expect(read["items/0/title"] == "]]><!DOCTYPE rss [<!ENTITY a 'b'>]>")
    #expect(read.view.isComplete)
  }

  @Test func aDocumentTypeThatComesThroughEndsTheReading() {
    var builder = FeedViewBuilder(base: "", documentBytes: 1_000)
    let text = "<!DOCTYPE rss [<!ATTLIST x a CDATA \"AAAA\">]><rss><channel><x/></channel></rss>"
    for recovering in [false, true] {
      let error = #expect(throws: DocumentError.self) {
        _ = try XMLReader.read(Array(text.utf8), recovering: recovering, into: &builder)
      }
      #expect(error?.detail == "found a document type in a place where none is allowed")
      #expect(builder.format == nil)
    }
  }

  @Test func theTextOfOneElementIsBounded() throws {
    var builder = FeedViewBuilder(base: "", documentBytes: 0)
    let text = rss(
      "<item><title>\(String(repeating: "x", count: XMLLimits.growthBytesMin + 1))</title></item>")
    let outcome = try XMLReader.read(Array(text.utf8), recovering: false, into: &builder)
    #expect(outcome == .stopped)
    #expect(builder.failure?.code == .tooLarge)
  }

  @Test func manyTagsAreRefused() {
    let error = refusal(rss(String(repeating: "<a/>", count: XMLLimits.tagsMax)))
    #expect(error?.code == .tooLarge)
    #expect(error?.detail == "it has more than 2000000 tags of XML")
    #expect(error?.advice == "The feed's publisher must correct the document.")
  }

  @Test func manyDifferentNamesAreRefused() {
    let names = (0...XMLLimits.namesMax).map { "<a\($0)/>" }.joined()
    let error = refusal(rss("<item><title>A</title>\(names)</item>"))
    #expect(error?.code == .tooLarge)
    #expect(error?.detail == "it has more than 20000 different names in XML")
  }

  /// It would take hours if the spaces were examined again for each element.
  @Test(.timeLimit(.minutes(1))) func manyElementsAfterManySpacesTakeLinearTime() throws {
    let spaces = String(repeating: " ", count: 500_000)
    let elements = String(repeating: "<b/>", count: 100_000)
    let read = try ReadView(
      atom("<entry><id>1</id><content type=\"xhtml\">\(spaces)\(elements)</content></entry>"))
    #expect(read["items/0/content_html"]?.utf8.count == 700_000)
  }

  @Test func longRelativeURLsStayUnchanged() throws {
    for count in [XMLLimits.referenceBytesMax, XMLLimits.referenceBytesMax + 1] {
      let link = String(repeating: "a", count: count)
      let read = try ReadView(
        rss(
          "<item><link>\(link)</link><description><![CDATA[<a href='\(link)'>x</a>]]>"
            + "</description></item>"))
      let expected = count > XMLLimits.referenceBytesMax ? link : "http://example.org/feeds/" + link
      #expect(read["items/0/url"] == expected)
      #expect(read["items/0/content_html"] == nil)
      #expect(read["items/0/summary"] == "<a href='\(expected)'>x</a>")
    }
  }

  @Test func longNamespacesAreNoneThatIsKnown() throws {
    let uri = "urn:" + String(repeating: "x", count: 200_000)
    let read = try ReadView(
      rss(
        "<item><title>A</title><z:title z:a=\"1\" b=\"2\">B</z:title></item>",
        namespaces: "xmlns:z=\"\(uri)\""))
    #expect(read["items/0/title"] == "A")
    #expect(read["items/0/_other/z:title"] == "B")
    #expect(read["items/0/_other/z:title@b"] == "2")
    #expect(read["items/0/_other/z:title@a"] == nil)
  }

  @Test func longBasesDoNotMultiply() throws {
    let base = "http://e.org/" + String(repeating: "b", count: 2_000) + "/"
    let links = String(repeating: "<a href=x>", count: 20_000)
    let text = rss(
      "<item xml:base=\"\(base)\"><description><![CDATA[\(links)</a>]]></description></item>")
    #expect(try ReadView(text).view.json.count < text.utf8.count * 4)
    for href in ["x", "/"] {
      let entry = atom(
        "<entry xml:base=\"\(base)\">"
          + String(repeating: "<link href='\(href)'/>", count: 20_000) + "</entry>")
      #expect(try ReadView(entry).view.json.count < entry.utf8.count * 4 + XMLLimits.growthBytesMin)
    }
  }

  @Test func theLengthOfABaseCountsForEachLinkThatItResolves() {
    let base = URLReference.Base("http://e.org/" + String(repeating: "b", count: 1_987) + "/")
    var bytesLeft = 20_000
    let html = Array(String(repeating: "<a href=/>", count: 1_000).utf8)
    let resolved = HTMLText.resolvingLinks(html, base: base, bytesLeft: &bytesLeft)
    #expect(bytesLeft <= 0)
    #expect(resolved.count == html.count + 10 * "http://e.org".utf8.count)
  }

  @Test(arguments: [
    "<", "<a", "<![CDATA[", "<!--", "<!", "&", "&#", "<a b=\"", "]]>", "<a href='", "</",
    "<!--&lt;", "<b><!--", "<\u{FFFF}", "&a",
  ])
  func repeatedBeginningsTakeLinearTime(_ text: String) throws {
    let many = String(repeating: text, count: 50_000)
    let section = many.replacing("]]>", with: "")
    let largest = many.utf8.count * 4
    for document in [many, rss("<item><title>\(many)</title></item>"), "<!DOCTYPE \(many)"] {
      _ = refusal(document)
      #expect(try XMLCleaner.clean(Array(document.utf8)).examined <= largest + 1_000)
    }
    _ = refusal(rss("<item><description><![CDATA[\(section)]]></description></item>"))
    var examined = 0
    _ = HTMLText.looksLikeHTML(many, examined: &examined)
    #expect(examined <= largest)
    examined = 0
    _ = FeedLinks(page: Array(many.utf8), examined: &examined)
    #expect(examined <= largest)
  }

  @Test(arguments: [3 as UInt64, 4, 5])
  func mutatedDocumentsNeverCrash(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let documents = [
      rss("<item><title>A &amp; b</title><guid>1</guid><pubDate>1 Jan 2026</pubDate></item>"),
      atom("<entry><title type='xhtml'><div><b>x</b></div></title><id>1</id></entry>"),
      "<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><channel><item><link>&a;</link></item></channel></rss>",
    ].map { Array($0.utf8) }
    let pieces = [
      "<", ">", "&", "]]>", "<![CDATA[", "</item>", "<item>", "\"", "&#x", "<title>",
      "<\u{FFFF}", "<!DOCTYPE", "<!--", "xmlns:",
    ]
    for round in 0..<1_000 {
      var bytes = documents[round % documents.count]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: position)
        case 2:
          bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: position)
        default: bytes.removeSubrange(position...)
        }
        if bytes.isEmpty { bytes = [0x3C] }
      }
      do {
        _ = try ReadView(bytes)
      } catch is DocumentError {
      } catch {
        Issue.record("seed \(seed), round \(round): \(error)")
      }
    }
  }
}
