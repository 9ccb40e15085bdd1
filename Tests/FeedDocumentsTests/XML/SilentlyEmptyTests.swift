import Testing

@testable import FeedDocuments

/// A document that visibly contains items is read or refused, but never silently empty.
@Suite struct SilentlyEmptyTests {
  @Test(arguments: [
    "<itunes:category text=\"Technology\"><itunes:category text=\"Gadgets\"/>",
    "<image><title>x</title>",
    "<textInput>", "<title>t", "<description>d <b>", "<itunes:owner><itunes:name>x</itunes:name>",
    "<image><url>x",
  ])
  func elementsLeftOpenBeforeItemsEndThere(_ open: String) throws {
    let read = try ReadView(
      """
      <rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
      \(open)<item><guid>a</guid><title>x</title></item>
      <item><guid>b</guid><title>y</title></item></channel></rss>
      """)
    #expect(read.items.compactMap { $0["id"] as? String } == ["a", "b"])
    #expect(read.items.compactMap { $0["title"] as? String } == ["x", "y"])
    #expect(read.view.firstFault?.hasSuffix("is not closed") == true)
    #expect(read.view.firstFault?.hasPrefix("line 2: <") == true)
  }

  @Test func anEntryEndsWhatIsLeftOpenInItsFeed() throws {
    let read = try ReadView(
      "<a:feed xmlns:a=\"http://www.w3.org/2005/Atom\"><a:author><a:name>x</a:name>"
        + "<a:entry><a:id>1</a:id><x:item xmlns:x=\"urn:x\"/></a:entry></a:feed>")
    #expect(read["items/0/id"] == "1" && read.items.count == 1)
  }

  @Test(arguments: [
    "http://channel.netscape.com/rdf/simple/0.9/", "http://my.netscape.com/rdf/simple/0.9/",
    "http://example.com/my-rss/", "urn:x",
  ])
  func rssOfAnyNamespaceIsReadByItsNames(_ namespace: String) throws {
    let rdf = "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\""
    let content =
      "<channel><title>M</title></channel><item><title>A</title><link>http://e.org/</link></item>"
    let read = try ReadView("<rdf:RDF \(rdf) xmlns=\"\(namespace)\">\(content)</rdf:RDF>")
    #expect(read.view.format == .rss1 && read.view.faults == 0)
    #expect(read["title"] == "M" && read["items/0/title"] == "A")
    #expect(read["items/0/url"] == "http://e.org/")
    let named = content.replacing("<", with: "<rss:").replacing("<rss:/", with: "</rss:")
    let prefixed = try ReadView("<rdf:RDF \(rdf) xmlns:rss=\"\(namespace)\">\(named)</rdf:RDF>")
    #expect(prefixed["items/0/title"] == "A")
    let inside = try ReadView(
      "<rss><channel xmlns=\"\(namespace)\"><item><guid>1</guid></item></channel></rss>")
    #expect(inside["items/0/id"] == "1")
    let other = try ReadView(
      "<rdf:RDF xmlns:rdf=\"\(namespace)\"><item><title>A</title></item></rdf:RDF>")
    #expect(other["items/0/title"] == "A")
  }

  @Test(arguments: [
    "<br />\n<b>Warning</b>:  Undefined variable in <b>/var/www/x.php</b> on line <b>3</b><br />\n",
    "Warning: something in /x.php on line 3\n", "\u{FEFF}\u{FEFF}", "<p>a <!-- b",
    "<table class=x><?php",
    "[error] 3 < 4\n", "<font size='1'><img src=x>",
  ])
  func whatAServerWritesBeforeAFeedIsSkipped(_ text: String) throws {
    for declaration in ["", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>"] {
      let feed =
        "\(text)\(declaration)<rss version=\"2.0\"><channel><item><guid>a</guid></item></channel></rss>"
      let page = try parsePage(feed)
      #expect(page.items.map(\.id) == ["a"])
      #expect(page.faults >= 1)
      #expect(page.firstFault == "line 1: there is text before the feed")
    }
  }

  @Test func theEncodingThatIsDeclaredAfterOtherTextCounts() throws {
    let start = "Notice\n<?xml version=\"1.0\" encoding=\"windows-1251\"?><rss><channel><title>"
    let read = try ReadView(
      Array(start.utf8) + [0xC2, 0xE5] + Array("</title></channel></rss>".utf8))
    #expect(read["title"] == "Ве")
  }

  @Test(arguments: [
    rss("<x:group xmlns:x=\"urn:x\"><item><guid>a</guid></item></x:group>"),
    rss("<textInput><item><guid>a</guid></item></textInput>"),
    rss("<description><item><guid>a</guid></item></description>"),
    "<rss><x><item/></x></rss>", rss("<x:item xmlns:x=\"urn:x\"/>"),
    atom("<a:entry xmlns:a=\"urn:x\"><a:id>1</a:id></a:entry>"),
    atom("<group><entry><id>1</id></entry></group>"),
    "<rss><channel></channel></rss><item><guid>a</guid></item>",
  ])
  func itemsInNoPlaceForItemsAreAnError(_ document: String) {
    let error = refusal(document)
    #expect(error?.code == .misplacedItems)
    #expect(error?.advice == "The feed's publisher must correct the document.")
  }

  @Test(arguments: [
    "<r:rss xmlns:r=\"urn:x\"><r:channel><r:item><r:guid>1</r:guid></r:item></r:channel></r:rss>",
    "<r:rss><r:channel><r:item><r:guid>1</r:guid></r:item></r:channel></r:rss>",
    "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:r=\"urn:x\">"
      + "<r:channel/><r:item rdf:about=\"1\"><r:title>t</r:title></r:item></rdf:RDF>",
    "<a:feed xmlns:a=\"urn:x\"><a:entry><a:id>1</a:id></a:entry></a:feed>",
    "<rss xmlns:x=\"urn:x\"><channel/><x:channel><x:item><x:guid>1</x:guid></x:item></x:channel></rss>",
  ])
  func theUnknownNamespaceOfAFeedIsAdopted(_ document: String) throws {
    #expect(try parsePage(document).items.map(\.id) == ["1"])
  }

  @Test(arguments: [
    (
      "<item><guid>a</guid>\n<item><guid>b</guid></item></item>",
      "line 2: an item is inside another item"
    ),
    ("<item><guid>a</guid></item>\n<image><item/></image>", "line 2: an item is inside <image>"),
    (
      "<item><guid>a</guid></item><x:y xmlns:x=\"urn:x\"><item/></x:y>",
      "line 1: an item is inside another element"
    ),
  ])
  func itemsThatAreLostBesideOthersAreFaults(_ items: String, _ fault: String) throws {
    let page = try parsePage("<rss><channel>\(items)</channel></rss>")
    #expect(page.items.map(\.id) == ["a"])
    #expect(page.faults == 1 && page.firstFault == fault)
  }

  @Test func entriesInAnExtensionOfAnItemAreNoFaults() throws {
    let page = try parsePage(
      rss(
        "<item><guid>a</guid><sx:sync xmlns:sx=\"urn:x\"><sx:conflicts><item/></sx:conflicts>"
          + "</sx:sync></item><x:item xmlns:x=\"urn:x\"/>"))
    #expect(page.items.map(\.id) == ["a"] && page.faults == 0)
  }

  @Test func rdfWithoutAChannelIsNoFeed() {
    let foaf =
      "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" "
      + "xmlns:f=\"http://xmlns.com/foaf/0.1/\"><f:Person><f:name>J</f:name></f:Person></rdf:RDF>"
    #expect(refusal(foaf)?.code == .unknownFormat)
  }

  @Test func aTextThatMentionsATagIsNoFeed() {
    #expect(refusal("<p>Put a <feed> element into the page.</p>")?.code == .unknownFormat)
    #expect(refusal("<p>Put an <rss> element into <b>it</b>.</p>")?.code == .unknownFormat)
  }

  @Test func aWarningMayMentionATagOfAFeed() throws {
    let page = try parsePage(
      "<b>Warning</b>: <rss> expected, <feed> found<br />\n<?xml version=\"1.0\"?>\n"
        + "<rss><channel><item><guid>a</guid></item></channel></rss>")
    #expect(page.items.map(\.id) == ["a"])
  }

  @Test func anElementOfXMLIsNoHTMLPage() {
    #expect(refusal("<article><title>t</title></article>")?.code == .unknownFormat)
    #expect(refusal("<!DOCTYPE html><article>t</article>")?.code == .htmlPage)
    #expect(refusal("<html><body/></html>")?.code == .htmlPage)
    #expect(pageError("<article/>", contentType: "text/html")?.code == .htmlPage)
  }

  @Test(arguments: ["<br />\n<b>Warning</b>: x<br />\n", "Notice: x\n"])
  func textBeforeJSONIsTheFaultOfThePublisher(_ text: String) {
    let error = pageError(text + "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[]}")
    #expect(error?.detail == "there is text before the JSON")
    #expect(error?.advice == "The feed's publisher must correct the document.")
  }

  @Test(arguments: ["{\"error\":\"no\"}", "{\"data\":7}"])
  func aPathWithoutAFixedListNeedsWhatItBeginsWith(_ document: String) throws {
    let mapping = "mapping: m\nitems: $.data.*.results[*]\nid: /id"
    #expect(throws: DocumentError.self) { try mappedPage(document, by: mapping) }
    #expect(try mappedPage("{\"data\":{}}", by: mapping).items.isEmpty)
  }

  @Test(arguments: [
    rss(""),
    rss("<title>no &lt;item></title><!-- <item/> --><description><![CDATA[<item>]]></description>"),
    atom("<title>t</title>"), rss("<x:y xmlns:x=\"urn:x\"><x:item/></x:y>"),
  ])
  func aFeedWithoutItemsIsEmpty(_ document: String) throws {
    #expect(try ReadView(document).view.itemCount == 0)
  }

  @Test func aDocumentThatEndsInItsOnlyItemIsCut() throws {
    let error = refusal("<rss><channel><title>T</title>\n<item><title>A</title><link>http://e")
    #expect(error?.code == .truncated)
    #expect(error?.detail == "line 2: the document ends inside <link>")
    #expect(refusal("<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title>") == nil)
  }

  @Test(arguments: [#"{"0":{"id":"1"}}"#, #"[{"id":"1"}]"#])
  func itemsOfAJSONFeedAreRead(_ items: String) throws {
    #expect(try parsePage(jsonFeed("\"items\":\(items)")).items.map(\.id) == ["1"])
  }

  @Test(arguments: [
    "\"items\":{}", #""items":{"id":"1","title":"x"}"#, "\"items\":7", "\"title\":\"x\"",
  ])
  func aJSONFeedWithoutAListOfItemsIsAnError(_ members: String) {
    #expect(pageError(jsonFeed(members))?.location == "/items")
  }

  private func jsonFeed(_ members: String) -> String {
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\(members)}"
  }
}
