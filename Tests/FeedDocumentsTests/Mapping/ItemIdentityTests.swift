import EntityModel
import FeedTestSupport
import Testing

@testable import FeedDocuments

/// Items whose publisher gives no usable id.
@Suite struct ItemIdentityTests {
  private let text = "<content:encoded>Full text</content:encoded>"
  private let namespace = "xmlns:content=\"http://purl.org/rss/1.0/modules/content/\""

  @Test func anRSSItemWithOnlyContentHasAHashOfIt() throws {
    let items = "<item>\(text)</item><item>\(text)</item><item><enclosure url='/1.mp3'/></item>"
    let page = try parsePage(rss(items, namespaces: namespace))
    #expect(page.rejected.isEmpty)
    #expect(page.items.map { $0.id.prefix(5) } == ["xxh3:", "xxh3:", "xxh3:"])
    #expect(page.items[0].id == page.items[1].id && page.items[0].id != page.items[2].id)
  }

  @Test func anAtomEntryWithoutIDAndLinkHasAHashOfTitleAndDate() throws {
    let entry = "<title>A</title><updated>2026-11-20T10:00:00Z</updated>"
    let page = try parsePage(
      atom(
        "<entry>\(entry)<content>text</content></entry><entry>\(entry)<content>b</content></entry>")
    )
    // Without a date of publication a title is not enough.
    #expect(Set(page.items.map(\.id)).count == 2 && page.rejected.isEmpty)
    let dated = "<published>2026-11-20T10:00:00Z</published><title>A</title>"
    let edits = try parsePage(
      atom(
        "<entry>\(dated)<summary>a</summary></entry>"
          + "<entry>\(dated)<summary>b</summary><content>c</content></entry>"))
    #expect(edits.items[0].id == edits.items[1].id && edits.rejected.isEmpty)
  }

  @Test func aJSONFeedItemWithoutIDAndURLHasAHash() throws {
    let page = try parsePage(
      #"{"version":"https://jsonfeed.org/version/1.1","items":[{"title":"A"},{"content_text":"x"},{"id":7}]}"#
    )
    #expect(page.items.map { $0.id.hasPrefix("xxh3:") } == [true, true, false])
  }

  @Test func twoVersionsOfAnEntryHaveTheirID() throws {
    let page = try parsePage(
      atom("<entry><id>a</id><title>1</title></entry><entry><id>a</id><title>2</title></entry>"))
    #expect(page.items.map(\.id) == ["a", "a"])
  }

  @Test func fallbacksAreNeverChosenForAllItems() throws {
    let mapping = """
      mapping: m
      items: $.items[*]
      identity: [/id, { fallback: [/title, /text] }]
      """
    let page = try mappedPage(
      #"{"items":[{"id":1,"title":"a"},{"id":1,"title":"b"},{"title":"c"},{"text":"d"},{}]}"#,
      by: mapping)
    #expect(page.items.prefix(2).map(\.id) == ["1", "1"])
    #expect(page.items.count == 4 && Set(page.items.map(\.id)).count == 3)
    #expect(page.rejected.map(\.index) == [4])
    #expect(page.identity == "/id")
    #expect(throws: (any Error).self) {
      try readMapping(mapping.replacing("[/id, { f", with: "[{ f"))
    }
  }

  @Test(arguments: [511, 512, 513, 100_000])
  func idsBeyond512BytesAreHashes(_ count: Int) throws {
    let id = String(repeating: "y", count: count), other = id + "z"
    let expected = count > 512
    let page = try parsePage(
      rss(
        "<item><guid>\(id)</guid></item><item><guid>\(other)</guid></item>"
          + "<at:deleted-entry ref=\"\(id)\"/>",
        namespaces: "xmlns:at=\"http://purl.org/atompub/tombstones/1.0\""))
    #expect(page.items[0].id == (expected ? page.items[2].id : id))
    #expect(page.items[2].isDeleted && page.items[2].id == page.items[0].id)
    #expect(page.items[0].id != page.items[1].id)
    #expect(page.items[0].id.utf8.count == (expected ? 37 : count))
    let mapped = try mappedPage(
      "{\"items\":[{\"id\":\"\(id)\"}]}", by: "mapping: m\nitems: $.items[*]\nid: /id")
    #expect(mapped.items[0].id == page.items[0].id)
  }

  /// Stored ids depend on it.
  @Test func theHashOfALongIDStays() throws {
    let id = String(repeating: "y", count: 600)
    let page = try parsePage(rss("<item><guid>\(id)</guid></item>"))
    #expect(page.items[0].id == "xxh3:c213624f106412ccaec43b6bb04e9666")
  }

  /// Earlier versions made these ids: they read no clock of 12 hours, took a day with anything
  /// after it for a date, and could not read a year with a comma.
  @Test(arguments: [
    ("Fri, 29 Jan 2021 04:42 PM", "xxh3:76652bfb23341a83"),
    ("2021-01-29 garbage", "xxh3:880faa88807e7df1"),
    ("January 6, 2018, 08:00", "xxh3:4ab3191071e19a75"),
    ("Fri, 29 Jan 2021 16:42:00 GMT", "xxh3:2ee13eab7def8cee"),
    ("2021-01-29T25:10:00Z", "xxh3:946413059810d7e4"),
  ])
  func hashesOfDatesStay(_ date: String, _ id: String) throws {
    let page = try parsePage(
      rss("<item><title>A</title><pubDate>\(date)</pubDate><description>s</description></item>"))
    #expect(page.items.map(\.id) == [id])
    #expect(page.drift.unknownMembers == 0)
    #expect(!page.items[0].fields.contains { $0.name == "extra" })
  }

  @Test func aMissingIdentityIsExplainedInTheWordsOfTheFeed() throws {
    let page = try parsePage(rss("<item><category>x</category></item>"))
    #expect(
      page.rejected.map(\.reason.description) == [
        "a required member is missing at /items/0: it has no id, link, title or content"
      ])
  }

  @Test func aHalfOfACharacterDoesNotLoseTheItem() throws {
    let page = try parsePage(
      "{\"version\":\"https://jsonfeed.org/version/1.1\",\n\"items\":["
        + #"{"id":"1","title":"ok \ud83d"},{"id":"2\udc00"}]}"#)
    #expect(page.items.map(\.id) == ["1", "2\u{FFFD}"])
    #expect(page.items[0].values["title"] == .string("ok \u{FFFD}"))
    #expect(page.faults == 2 && page.rejected.isEmpty && page.salvagedItems == 2)
    #expect(page.firstFault == #"line 2: \ud83d is half of a character"#)
  }
}
