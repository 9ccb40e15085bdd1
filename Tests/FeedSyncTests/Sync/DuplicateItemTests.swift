import FeedDocuments
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

/// Items that a page lists twice: which one is stored, and what is reported.
@Suite(.serialized) struct DuplicateItemTests {
  private static let mapping = """
    mapping: m
    items: $.items[*]
    id: /id
    updatedAt: /changed
    attributes: { title: /title }
    next: /next
    """

  /// Syncs pages of items, each in JSON.
  private func withReport(
    of pages: [[String]], _ check: (SyncFixture, SyncReport) async throws -> Void
  ) async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).add(
        SyncFixture.url, .init(mapping: FeedMappingText(Self.mapping, file: "m")))
      for (number, items) in pages.enumerated() {
        let next = number + 1 < pages.count ? ",\"next\":\"?p=\(number + 1)\"" : ""
        sync.transport.script(
          SyncFixture.url + (number == 0 ? "" : "?p=\(number)"),
          .page("{\"items\":[\(items.joined(separator: ","))]\(next)}"))
      }
      try await check(sync, try await sync.sync())
    }
  }

  private func item(_ id: String, _ title: String?, changed: String? = nil) -> String {
    let members = [("id", id), ("title", title), ("changed", changed)].compactMap { name, value in
      value.map { "\"\(name)\":\"\($0)\"" }
    }
    return "{\(members.joined(separator: ","))}"
  }

  /// Without dates the first item of a window is the newest.
  @Test(arguments: [
    (nil, nil, false), ("2026-08-02T00:00:00Z", nil, false),
    ("2026-08-02T00:00:00Z", "2026-08-02T00:00:00Z", false),
    ("2026-08-02T00:00:00Z", "2026-08-03T00:00:00Z", true),
    ("2026-08-03T00:00:00Z", "2026-08-02T00:00:00Z", false),
  ])
  func theItemThatADuplicateIDDropsIsNamed(
    _ first: String?, _ second: String?, _ losesFirst: Bool
  ) async throws {
    // Whichever the larger hash has.
    for titles in [("One", "Two"), ("Two", "One")] {
      let (lost, stored) = losesFirst ? titles : (titles.1, titles.0)
      let page = [
        item("1", titles.0, changed: first), item("1", titles.1, changed: second),
        item("2", "Three"),
      ]
      try await withReport(of: [page]) { sync, report in
        #expect(report.new == 2 && report.skipped == 1 && report.duplicates == 1)
        #expect(report.remarks == 1 && report.rejections.first?.id == "1")
        #expect(
          report.rejections.first?.reason
            == "listed twice, so the item \"\(lost)\" was not stored")
        #expect(try sync.episode("1")?.title == stored)
        let again = try await sync.sync(isFull: true)
        #expect(again.changed == 0 && again.duplicates == 1)
      }
    }
  }

  @Test func anItemWithoutATitleIsNamedByItsAddress() async throws {
    try await withSync { sync async throws in
      // Enough different ids that the addresses are not chosen in their place.
      let items = (0..<12).map {
        "<item><guid>\(max($0, 1))</guid><link>https://e.org/\($0)</link></item>"
      }
      sync.serve(.page("<rss><channel>\(items.joined())</channel></rss>"))
      let report = try await sync.sync()
      #expect(
        report.rejections.map(\.reason) == [
          "listed twice, so the item \"https://e.org/1\" was not stored"
        ])
    }
  }

  @Test func itemsWithOneHashAreNotListedTwice() async throws {
    try await withSync { sync async throws in
      let entry = "<title>A</title><published>2026-11-20T10:00:00Z</published>"
      sync.serve(
        .page(
          "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry>\(entry)</entry>"
            + "<entry>\(entry)<summary>b</summary></entry></feed>"))
      let report = try await sync.sync()
      #expect(
        report.rejections.map(\.reason) == [
          "another item has the same values for the id, so the item \"A\" was not stored"
        ])
    }
  }

  /// The table of the items is enlarged several times in between.
  @Test(arguments: 0..<8)
  func theFirstItemIsFoundAfterManyOthers(list: Int) async throws {
    let items = (0..<200).map { item("\(list)-\($0)", "Item") } + [item("\(list)-0", "Other")]
    try await withReport(of: [items]) { _, report in
      #expect(report.new == 200 && report.duplicates == 1)
    }
  }

  @Test func anItemThatIsRepeatedAsItIsIsOnlyCounted() async throws {
    try await withReport(of: [[item("1", "One"), item("1", "One")]]) { _, report in
      #expect(report.new == 1 && report.skipped == 1)
      #expect(report.duplicates == 0 && report.remarks == 0)
    }
  }

  /// A listing that grows while it is read repeats items.
  @Test func anItemOfTwoPagesIsOnlyCounted() async throws {
    let pages = [[item("1", "One"), item("2", "Two")], [item("2", "New"), item("3", "Three")]]
    try await withReport(of: pages) { _, report in
      #expect(report.new == 3 && report.skipped == 1)
      #expect(report.duplicates == 0 && report.remarks == 0)
    }
  }

  @Test func manyDuplicatesAreCountedAndTheFirstAreListed() async throws {
    let page = (0..<60).map { item("\($0 / 2)", "t\($0)") }
    try await withReport(of: [page]) { _, report in
      #expect(report.duplicates == 30 && report.remarks == 30)
      #expect(report.rejections.count == DocumentLimits.rejectionsListedMax)
    }
  }
}
