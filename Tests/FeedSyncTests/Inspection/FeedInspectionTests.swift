import EntityModel
import EntityStore
import FeedDocuments
import FeedTestSupport
import Foundation
import HTTPClient
import HomeFeed
import Migrations
import Testing

@testable import FeedSync

/// The inspection of documents for which no mapping exists.
@Suite struct FeedInspectionTests {
  private static let talks = #"""
    {"meta":{"page":1,"total_pages":4},"speakers":[{"id":1,"bio":"x"},{"id":2,"bio":"y"}],
     "results":[
      {"uuid":"a1","name":"One","link":"https://e.org/1","created_at":1795168800,"runtime":42,
       "stats":{"viewCount":1795168800},"tags":["x","y"],"about":"<p>Hi</p>","deleted":false},
      {"uuid":"a2","name":"Two","link":"https://e.org/2","created_at":1795168900,"runtime":7,
       "stats":{"viewCount":5},"tags":[],"about":null,"deleted":false}]}
    """#

  @Test func theItemsWithinTheElementsOfAListAreFound() async throws {
    let days = try await inspect(
      #"""
      [{"day":"a","entries":[{"title":"A"},{"title":"B"}]},
       {"day":"b","entries":[{"title":"C"},{"title":"D"}]}]
      """#)
    #expect(days.path == "$[*].entries[*]" && days.otherPaths == ["$[*]"])
  }

  @Test func theItemsTheirMembersAndThePagesAreFound() async throws {
    let found = try await inspect(
      Array(Self.talks.utf8),
      headers: [("ETag", "\"1\""), ("Cache-Control", "max-age=1200")])
    #expect(found.format == "JSON" && found.encoding == "UTF-8" && found.builtIn == nil)
    #expect(found.path == "$.results[*]" && found.items == 2)
    #expect(found.otherPaths == ["$.speakers[*]"])
    #expect(found.etag == "\"1\"" && found.freshForSeconds == 1_200)
    #expect(found.candidates.id.first == "/uuid" && found.candidates.title == ["/name"])
    #expect(found.candidates.url == ["/link"] && found.candidates.publishedAt == ["/created_at"])
    #expect(found.next == "{ page: /meta/page, pages: /meta/total_pages, param: page }")
    let looks = Dictionary(uniqueKeysWithValues: found.members.map { ($0.pointer, $0.looksLike) })
    #expect(looks["/created_at"] == "seconds since 1970" && looks["/about"] == "HTML")
    #expect(looks["/stats/viewCount"] == .some(nil) && looks["/link"] == "URL")
    let about = try #require(found.members.first { $0.pointer == "/about" })
    #expect(
      about.present == 1 && about.types == ["string", "null"] && about.example == "<p>Hi</p>")
  }

  @Test func theSuggestedMappingReadsTheDocument() async throws {
    let found = try await inspect(Self.talks)
    let page = try suggestedPage(of: Array(Self.talks.utf8), by: found)
    #expect(page.items.map(\.id) == ["a1", "a2"] && page.rejected.isEmpty)
    #expect(page.drift.unknownMembers == 0)
    let values = page.items[0].values
    #expect(values["title"] == .string("One") && values["duration"] == .int64(42 * 60))
    #expect(values["publishedAt"] == .date(Date(timeIntervalSince1970: 1_795_168_800)))
    #expect(values["viewCount"] == .int64(1_795_168_800) && values["tags"] == .strings(["x", "y"]))
    #expect(page.next == "https://api.example/v1/talks?page=2")
    #expect(page.volatileAttributes.values.contains { $0.contains("viewCount") })
    for doubt in [
      "publishedAt: that the numbers are seconds since 1970", "duration: that it is in minutes",
      "deleted: left out until you confirm that the item is there no more (/deleted)",
    ] { #expect(found.unconfirmed.contains(doubt), "\(found.unconfirmed)") }
    let text = try #require(found.mapping)
    #expect(text.contains("# unconfirmed: that it is in minutes\n"))
    #expect(text.contains("\n# deleted: /deleted  # unconfirmed: "))
  }

  @Test func withoutTheMigrationTheMappingHasWhatTheEntityHas() async throws {
    let found = try await inspect(Self.talks)
    #expect(found.newAttributes == ["viewCount", "tags", "about", "extra"])
    let text = try #require(found.mapping)
    #expect(text.contains("\n#  viewCount: { at: /stats/viewCount, volatile: true }\n"))
    #expect(text.contains("\n# extra: extra  # keeps as JSON what comes later"))
    let page = try suggestedPage(of: Array(Self.talks.utf8), by: found, isWhole: false)
    #expect(page.items.count == 2 && page.items[0].values["viewCount"] == nil)
    let migration = try #require(found.migration)
    #expect(migration.hasPrefix("line: api-example\n"))
    #expect(migration.contains("requires: [homefeed@1]\n"))
  }

  @Test func theSuggestedMappingKeepsMembersThatAreAddedLater() async throws {
    let found = try await inspect(Self.talks)
    let later = Self.talks.replacing("\"uuid\":\"a1\"", with: "\"uuid\":\"a1\",\"room\":[7]")
    let page = try suggestedPage(of: Array(later.utf8), by: found)
    #expect(page.items.map { $0.values["extra"] } == [.string("{\"room\":[7]}"), nil])
    let other = try await inspect(
      #"{"items":[{"id":"1","extra":"x"},{"id":"2","extra":"y"}]}"#, entity: "Talk")
    let values = try suggestedPage(
      of: Array(#"{"items":[{"id":"1","extra":"x"}]}"#.utf8), by: other
    ).items[0].values
    #expect(values["extra"] == nil && values.values.contains(.string("x")), "a member of that name")
  }

  @Test func aMissingEntityIsCreated() async throws {
    let found = try await inspect(Self.talks, entity: "Talk")
    #expect(try #require(found.migration).contains("createEntity:"))
    #expect(found.mapping == found.wholeMapping)
    let page = try suggestedPage(of: Array(Self.talks.utf8), by: found)
    #expect(page.items.count == 2 && page.rejected.isEmpty)
    #expect(page.items[0].values["title"] == .string("One"))
  }

  @Test func anEntityThatCannotTakeAFeedIsRefused() async throws {
    let error = try await #require(throws: SyncError.self) {
      try await inspect(Self.talks, entity: "_Feed")
    }
    #expect(error.code == .missingTarget)
  }

  @Test(arguments: [
    (#"{"next_url":"/p2"}"#, "{ url: /next_url }"),
    (#"{"links":{"next":{"href":"https://e.org/2"}}}"#, "{ url: /links/next/href }"),
    (#"{"paging":{"next":null}}"#, "{ url: /paging/next }"),
    (#"{"nextPageToken":"t"}"#, "{ token: /nextPageToken, param: pageToken }"),
    (#"{"next_cursor":"t"}"#, "{ token: /next_cursor, param: cursor }"),
    (
      #"{"skip":0,"limit":10,"total":30}"#,
      "{ offset: /skip, limit: /limit, total: /total, param: skip }"
    ),
  ])
  func pagesAreRecognizedByTheirNames(_ members: String, _ next: String) async throws {
    let items = #""items":[{"id":"1","title":"x"}]"#
    let document = members.dropLast() + "," + items + "}"
    let found = try await inspect(String(document))
    #expect(found.next == next)
    _ = try suggestedPage(of: Array(document.utf8), by: found)
  }

  @Test func aLinkHeaderNamesTheNextPageToo() async throws {
    let document = Array(#"[{"id":1,"title":"x"},{"id":2,"title":"y"}]"#.utf8)
    let found = try await inspect(document, headers: [("Link", "</p2>; rel=\"next\"")])
    #expect(found.next == "link" && found.path == "$[*]")
    #expect(try suggestedPage(of: document, by: found).items.map(\.id) == ["1", "2"])
  }

  @Test func aKnownFormatNeedsNoMappingAndOffersOneToBeginWith() async throws {
    let rss = Array(
      """
      <rss version="2.0"><channel><title>Cast</title><ttl>30</ttl><item><guid>g1</guid>
      <title>One</title><link>https://e.org/1</link><category>c</category></item></channel></rss>
      """.utf8)
    let found = try await inspect(rss, contentType: "application/rss+xml")
    #expect(found.format == "RSS" && found.builtIn == "rss/2.0" && found.items == 1)
    #expect(found.title == "Cast" && found.freshForSeconds == 1_800)
    #expect(found.members.contains { $0.pointer == "/title" && $0.example == "One" })
    #expect(found.newAttributes.contains("tags") && !found.newAttributes.contains("title"))
    for isWhole in [true, false] {
      let page = try suggestedPage(of: rss, by: found, isWhole: isWhole)
      #expect(page.items.map(\.id) == ["g1"])
      let text = isWhole ? found.wholeMapping : found.mapping
      #expect(text?.contains("\nextra: extra\n") == isWhole)
      #expect(page.items[0].values["title"] == .string("One"))
      #expect(page.items[0].values["tags"] == (isWhole ? .strings(["c"]) : nil))
    }
  }

  @Test func homefeedHasNoMapping() async throws {
    let found = try await inspect(
      #"{"format":"homefeed/1","entities":[{"id":"ep:1","kind":"Episode","rev":1}]}"#)
    #expect(found.builtIn == "homefeed/1" && found.mapping == nil && found.items == 1)
  }

  @Test func aStatusOtherThan200IsAnError() async throws {
    let transport = ScriptedTransport()
    transport.script("https://api.example/x", .status(404))
    let inspector = try FeedInspector(
      transport: transport, lines: try MigrationLine.load([.homeFeed]))
    let error = try await #require(throws: SyncError.self) {
      try await inspector.inspect(.init(url: "https://api.example/x", entity: "Episode"))
    }
    #expect(error.code == .notFound)
    let requests = transport.takeRequests()
    #expect(requests.count == 1 && requests[0].conditions == nil)
  }

  @Test func theDatesThatASyncReadsNeedNoForm() async throws {
    for texts in [
      ["Jan 6, 2018 08:00 PM", "Feb 7, 2018 09:15 AM"], ["2018-01-06", "2018-01-07"],
      ["Sat, 06 Jan 2018 08:00:00 GMT", "Sun, 07 Jan 2018 08:00:00 GMT"],
    ] {
      let items = texts.enumerated().map { "{\"id\":\"a\($0)\",\"published\":\"\($1)\"}" }
      let document = "{\"items\":[\(items.joined(separator: ","))]}"
      let inspection = try await inspect(document)
      let mapping = try #require(inspection.mapping)
      #expect(mapping.contains("publishedAt: /published"), "\(mapping)")
      #expect(!mapping.contains("date: "))
      let page = try suggestedPage(of: Array(document.utf8), by: inspection)
      #expect(page.drift.unreadableDates == 0 && page.items.count == 2)
    }
  }

  @Test func longIDsAreHashedAndSoCanBeIDs() async throws {
    let long = String(repeating: "x", count: 600)
    let inspection = try await inspect(
      "{\"items\":[{\"id\":\"\(long)1\"},{\"id\":\"\(long)2\"}]}")
    #expect(inspection.identity?.pointers == ["/id"])
  }

  @Test func theFaultsThatASyncReportsAreShown() async throws {
    let inspection = try await inspect(
      "<rss><channel><item><guid>a</guid><title>1 < 2</title><pubDate>soon</pubDate></item>"
        + "</channel></rss>")
    #expect(inspection.notes.first?.contains("in 1 place, in line 1: < begins no tag") == true)
    #expect(inspection.notes.dropFirst().first?.hasPrefix("1 date cannot be read") == true)
  }

  @Test func theFeedThatAPageNamesIsToBeInspected() async throws {
    let page =
      "<html><head><link rel='alternate' type='application/rss+xml' href='/feed'></head></html>"
    let error = await #expect(throws: SyncError.self) { try await inspect(page) }
    #expect(error?.advice?.contains("`mooring feed inspect https://api.example/feed`") == true)
  }
}
