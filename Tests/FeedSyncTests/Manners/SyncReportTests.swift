import FeedTestSupport
import Foundation
import TestSupport
import Testing

@testable import FeedDocuments
@testable import FeedSync

/// The counts of a run in words.
@Suite(.serialized) struct SyncReportTests {
  private func page(
    faults: Int = 0, first: String? = nil, salvaged: Int = 0, dates: Int = 0, date: String? = nil
  ) -> FeedPage {
    var page = FeedPage(format: .rss, mode: .window)
    (page.faults, page.firstFault, page.salvagedItems) = (faults, first, salvaged)
    (page.drift.unreadableDates, page.drift.unreadableDate) = (dates, date)
    return page
  }

  private func warnings(_ pages: FeedPage...) -> [String] {
    var report = SyncReport(feed: "https://a.example/")
    for page in pages { report.count(page) }
    return report.warnings
  }

  @Test func repairedFaultsAndUnreadableDatesAreOneLineEach() {
    let fault = "line 2: <itunes:category> is not closed"
    #expect(
      warnings(page(faults: 3, first: fault, salvaged: 26)) == [
        "the document is ill-formed in 3 places, the first in \(fault); all 26 items were read; "
          + "report it to the publisher"
      ])
    #expect(
      warnings(page(faults: 1, first: fault)) == [
        "the document is ill-formed in 1 place, in \(fault); no items were read; "
          + "report it to the publisher"
      ])
    #expect(
      warnings(page(dates: 2, date: #""Tomorrow at noon" (published)"#)) == [
        #"2 dates cannot be read, for example "Tomorrow at noon" (published); "#
          + "report it to the publisher"
      ])
    #expect(warnings(page(dates: 1)) == ["1 date cannot be read; report it to the publisher"])
    #expect(warnings(page()).isEmpty)
  }

  @Test func repairedJSONSaysHowManyItemsWereRead() throws {
    let document = #"{"version":"https://jsonfeed.org/version/1","items":[{"id":"\ud83d"}]}"#
    let mappings = try FeedMappings(nil, schema: try TestSchema.homeFeed.get(), entity: "Episode")
    let page = try withPadding(Array(document.utf8)) { bytes throws(DocumentError) in
      try FeedPage.parse(bytes, DocumentSource(), by: mappings)
    }
    #expect(warnings(page).first?.contains("; 1 item was read; ") == true)
  }

  @Test func theFirstFaultOfAllPagesIsNamedAndTheCountsAreAdded() {
    let warnings = warnings(
      page(), page(faults: 1, first: "line 9: x", salvaged: 1),
      page(faults: 1, first: "line 1: y", salvaged: 1))
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("in 2 places, the first in line 9: x; all 2 items") == true)
  }

  @Test func aRejectedItemIsNotOneOfThoseThatWereRead() {
    var report = SyncReport(feed: "https://a.example/")
    report.count(page(faults: 1, salvaged: 5))
    report.reject("a", "r")
    #expect(report.warnings.first?.contains("; 5 items were read;") == true)
  }

  @Test(
    arguments: [
      ("", nil), (" \n\t", nil), ("a\n  b", "a b"),
      (String(repeating: "x", count: 200), String(repeating: "x", count: 200)),
      (String(repeating: "x", count: 201), String(repeating: "x", count: 199) + "…"),
      ("e" + String(repeating: "\u{301}", count: 5_000_000), nil),
    ] as [(String, String?)])
  func textsOfDocumentsAreBounded(_ text: String, _ shortened: String?) {
    let result = text.shortened()
    #expect((result?.unicodeScalars.count ?? 0) <= SyncLimits.textLengthMax)
    if text.utf8.count < 1_000 { #expect(result == shortened) }
  }

  @Test func theTitleIsThatOfTheLastDocument() async throws {
    try await withSync { sync async throws in
      for (title, stored) in [
        ("One\n Feed", "One Feed"), ("", "One Feed"),
        (String(repeating: "t", count: 300), String(repeating: "t", count: 199) + "…"),
      ] {
        var page = HomeFeedText([.init("a", 1)])
        page.title = title
        sync.serve(.page(page.text))
        try await sync.sync(isFull: true)
        #expect(try sync.feed.title == stored)
      }
    }
  }
}
