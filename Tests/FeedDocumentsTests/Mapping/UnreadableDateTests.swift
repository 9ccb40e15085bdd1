import EntityModel
import FeedTestSupport
import Testing

@testable import FeedDocuments

@Suite struct UnreadableDateTests {
  @Test func datesOfJSONFeedAreReadLikeThoseOfXML() throws {
    let texts = [
      "2018-01-06T08:00", "2018-01-06T08:00:00-0700", "Sat, 06 Jan 2018 08:00:00 GMT",
      "January 6, 2018 08:00 PM",
    ]
    let items = texts.enumerated().map { #"{"id":"\#($0)","date_published":"\#($1)"}"# }
    let json = try parsePage(
      #"{"version":"https://jsonfeed.org/version/1","items":[\#(items.joined(separator: ","))]}"#)
    let xml = try parsePage(
      rss(texts.map { "<item><guid>\($0)</guid><pubDate>\($0)</pubDate></item>" }.joined()))
    let dates = json.items.map { $0.values["publishedAt"]?.text }
    #expect(
      dates == [
        "2018-01-06T08:00:00Z", "2018-01-06T15:00:00Z", "2018-01-06T08:00:00Z",
        "2018-01-06T20:00:00Z",
      ])
    #expect(dates == xml.items.map { $0.values["publishedAt"]?.text })
    #expect(json.drift.unreadableDates == 0 && xml.drift.unreadableDates == 0)
  }

  @Test func unreadableDatesOfXMLAreCounted() throws {
    let long = String(repeating: "x", count: 500)
    let page = try parsePage(
      rss(
        """
        <lastBuildDate>never</lastBuildDate>
        <item><guid>a</guid><pubDate>Tomorrow at noon</pubDate><pubDate>then</pubDate></item>
        <item><guid>b</guid><pubDate>soon</pubDate><dc:date>2026</dc:date></item>
        <item><guid>c</guid><pubDate>x</pubDate><pubDate>2026-11-20</pubDate></item>
        <item><guid>d</guid><dc:date>\(long)</dc:date></item>
        <at:deleted-entry ref="1" when="gone"/>
        """,
        namespaces: "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
          + "xmlns:at=\"http://purl.org/atompub/tombstones/1.0\""))
    #expect(page.drift.unreadableDates == 4)
    #expect(page.drift.unreadableDate == #""Tomorrow at noon" (published)"#)
    #expect(page.items.map(\.id) == ["a", "b", "c", "d", "1"])
    #expect(page.drift.unknownNames == [])
  }

  @Test func unreadableDatesOfJSONAreCounted() throws {
    let page = try parsePage(
      #"{"version":"https://jsonfeed.org/version/1","items":["#
        + #"{"id":"1","date_published":"\u202eso\non","date_modified":7},{"id":"2","date_published":null}]}"#
    )
    #expect(page.drift.unreadableDates == 2)
    #expect(page.drift.unreadableDate == #""7" (updatedAt)"#)
  }

  @Test(arguments: [
    ("2021-01-29, 16:42", "2021-01-29T16:42:00Z"), ("2021-01-29 16:42 AMT", "2021-01-29T16:42:00Z"),
    ("2021-01-29T24:00:00Z", "2021-01-30T00:00:00Z"), ("2021-01-29 garbage", nil),
    ("2021-01-29T16h42", nil), ("2021-01-29T25:00:00Z", nil), ("2021-01-29T10:99:00Z", nil),
    ("2021-01-29-x", nil),
  ])
  func aDateIsReadInFullOrNotAtAll(_ text: String, _ date: String?) throws {
    let json = try parsePage(
      #"{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","date_published":"\#(text)"}]}"#
    )
    #expect(json.items[0].values["publishedAt"]?.text == date)
    #expect(json.drift.unreadableDates == (date == nil ? 1 : 0))
    #expect(
      json.drift.typeChanges.isEmpty
        && !json.items[0].fields.contains { $0.name == "publishedAt" } == (date == nil))
    #expect(FeedDate.rfc3339(text) == date)
  }

  @Test func aBlankDateIsNone() throws {
    let page = try parsePage(
      #"{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","date_published":" ","date_modified":""}]}"#
    )
    #expect(page.drift == FormatDrift())
    #expect(page.items[0].fields.isEmpty)
  }

  @Test func aMappingReadsDatesOfFeedsUnlessItNamesTheirForm() throws {
    func days(_ source: String, _ text: String) throws -> (String?, Int) {
      let page = try mappedPage(
        #"{"items":[{"id":"1","at":"\#(text)"}]}"#,
        by: "mapping: m\nitems: $.items[*]\nid: /id\nattributes: { day: \(source) }")
      return (page.items[0].values["day"]?.text, page.drift.unreadableDates)
    }
    #expect(try days("/at", "6 Jan 2018") == ("2018-01-06T00:00:00Z", 0))
    #expect(try days("{ at: /at, date: iso8601 }", "6 Jan 2018") == (nil, 1))
    #expect(try days("{ at: /at, nullValues: [2018-01-06] }", "2018-01-06") == (nil, 0))
    #expect(
      try days("{ at: /at, atLeast: 2020-01-01T00:00:00Z }", "6 Jan 2018").0
        == "2020-01-01T00:00:00Z")
    #expect(try days("/at", "once") == (nil, 1))
  }
}
