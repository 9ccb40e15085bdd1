import Testing

@testable import FeedDocuments

@Suite struct DocumentErrorTests {
  @Test(arguments: [
    (
      "Sorry, the feed has moved.\nBye",
      "found text that begins with \"Sorry, the feed has moved.\""
    ),
    ("Not\u{7} found\u{202E}", "found text that begins with \"Not  found \""),
    ("[error] database is down", "found text that begins with \"[error] database is down\""),
    ("{\"chapters\":[]}", "found a JSON object with \"chapters\""), ("[[1]]", "found a JSON array"),
    ("17", "found a JSON value that is neither an object nor an array"),
    ("true", "found a JSON value that is neither an object nor an array"),
    ("<opml/>", "found XML with the root element \"opml\""),
  ])
  func namesWhatTheDocumentIs(_ text: String, _ words: String) {
    let error = pageError(text)
    #expect(error?.detail == words)
    // Only JSON can be described by a mapping.
    #expect(error?.advice.contains("mapping") == words.contains("JSON"))
  }

  @Test(arguments: [("[1,", DocumentError.Code.truncated), ("[1 2]", .misplacedToken)])
  func jsonThatIsNotWellFormedIsNotCalledAnUnknownFeed(_ text: String, _ code: DocumentError.Code) {
    #expect(pageError(text)?.code == code)
    #expect(pageError(text)?.advice.contains("mapping") == false)
  }

  @Test func pagesNameTheirFeed() {
    let page =
      "<html><link rel=alternate type='application/rss+xml' href='http://e.org/feed'></html>"
    let error = pageError(page, contentType: "text/html")
    #expect(
      error?.description == "the document is an HTML page, not a feed: it names the feed "
        + "http://e.org/feed; the answer is labelled text/html")
  }

  @Test func smallerPagesHelpOnlyForJSON() {
    #expect(DocumentError(.tooLarge).advice.contains("limit=200"))
    #expect(!DocumentError(.tooLarge, detail: "the XML is large").advice.contains("limit"))
    #expect(!DocumentError(.outOfMemory).advice.contains("limit"))
  }
}
