import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient
import HomeFeed
import LoopbackHTTP
import StrictYAML
import TestSupport
import Testing

@testable import FeedSync

/// Feeds that are read by a mapping, from the first request to the last transaction.
@Suite(.serialized) struct MappedSyncTests {
  private static let url = SyncFixture.url

  private func mapping(_ more: String, mode: String = "window") -> String {
    """
    mapping: m
    mode: \(mode)
    items: $.items[*]
    id: /id
    updatedAt: /changed
    attributes:
      title: /title
      duration: { at: /views, volatile: true }
    \(more)
    """
  }

  private func use(_ text: String, _ sync: SyncFixture) async throws {
    try await Feeds(sync.store).add(
      Self.url, .init(mapping: FeedMappingText(text, file: "m.yaml")))
  }

  private func item(_ id: String, _ title: String, _ more: String = "") -> String {
    "{\"id\":\"\(id)\",\"title\":\"\(title)\"\(more)}"
  }

  private func page(_ items: [String], _ more: String = "") -> String {
    "{\"items\":[\(items.joined(separator: ","))]\(more)}"
  }

  // MARK: Settings

  @Test func aMappingIsCheckedWhenItIsGivenAndKeptAsItWasWritten() async throws {
    try await withSync { sync async throws in
      await #expect(throws: YAMLError.self) {
        try await use(mapping("").replacing("title:", with: "titel:"), sync)
      }
      #expect(try sync.feed.mapping == nil)
      let text = mapping("")
      try await use(text, sync)
      #expect(try sync.feed.mapping == text)
      #expect(try sync.feed.effectiveMapping?.fullText == text)
    }
  }

  @Test func aBuiltInMappingIsKeptByName() async throws {
    try await withSync { sync async throws in
      let builtIn = try #require(FeedMappingText.builtIn("json-feed/1.1"))
      try await Feeds(sync.store).add(Self.url, .init(mapping: builtIn))
      #expect(try sync.feed.mapping == "json-feed/1.1")
      #expect(try sync.feed.effectiveMapping?.fullText.contains("mapping: json-feed\n") == true)
      #expect(FeedMappingText.builtIn("json-feed") == nil)
    }
  }

  // MARK: Pages over the wire

  @Test(arguments: [
    ("next: /next", #","next":"/feed?n=1""#, "/feed?n=1"),
    ("next: { token: /next, param: cursor }", #","next":"x/y""#, "/feed?cursor=x%2Fy"),
    ("next: { page: /p, pages: /q, param: page }", #","p":1,"q":2"#, "/feed?page=2"),
    (
      "next: { offset: /o, limit: /l, total: /t, param: skip }", #","o":0,"l":1,"t":2"#,
      "/feed?skip=1"
    ),
    ("next: link", "", "/feed?link=1"),
    ("next: rfc5005", #","_feed":{"prev_archive":"/archive"}"#, "/archive"),
  ])
  func theNextPageIsFetchedAndItsItemsAreStored(
    _ next: String, _ members: String, _ target: String
  ) async throws {
    let first = page([item("a", "A")], members)
    let last = page([item("b", "B")], #","p":2,"q":2,"o":1,"l":1,"t":2"#)
    try await withServedFeed(
      .init(mapping: FeedMappingText(mapping(next), file: "m"))
    ) { request, connection in
      let isFirst = request.target == "/feed"
      try connection.send(
        Response(
          headers: isFirst && next == "next: link"
            ? [("Link", "</feed?prev>; rel=prev"), ("Link", "</feed?link=1>; rel=\"next\"")] : [],
          text: isFirst ? first : last))
    } _: { _, server, sync async throws in
      let report = try await sync()
      #expect(report.new == 2 && report.pages == 2)
      #expect(server.requests.map(\.target) == ["/feed", target])
    }
  }

  @Test func aSecondSyncWithAMappingSendsValidatorsAndWritesNothing() async throws {
    try await withSync { sync async throws in
      try await use(mapping(""), sync)
      sync.serve(.page(page([item("a", "A")]), ("ETag", "\"1\"")))
      #expect(try await sync.sync().new == 1)
      sync.serve(.status(304))
      let before = try sync.store.dataBytes()
      #expect(try await sync.sync().outcome == .notModified)
      #expect(sync.transport.takeRequests().last?.header("If-None-Match") == "\"1\"")
      #expect(try sync.store.dataBytes() == before)
    }
  }

  // MARK: Checkpoints

  @Test(arguments: [
    ("checkpoint: /c", "https://feed.example/changes?t=1", "/changes?t=1"),
    ("checkpoint: { token: /c, param: since }", "https://feed.example/v1/home?since=t%261", "t&1"),
  ])
  func theNextRunBeginsWithTheCheckpointAndIsADelta(
    _ checkpoint: String, _ url: String, _ value: String
  ) async throws {
    try await withSync { sync async throws in
      try await use(mapping(checkpoint + "\ndeleted: /gone", mode: "full"), sync)
      sync.serve(.page(page([item("a", "A"), item("b", "B")], ",\"c\":\"\(value)\"")))
      #expect(try await sync.sync().new == 2)
      #expect(try sync.feed.checkpoint == url)
      sync.transport.script(
        url, .page(page([item("c", "C"), item("a", "A", ",\"gone\":true")], ",\"c\":\"n\"")))
      let delta = try await sync.sync()
      #expect(delta.mode == "delta" && delta.new == 1 && delta.deleted == 1)
      #expect(try sync.episode("b") != nil, "absence means nothing in a delta")
    }
  }

  @Test(arguments: [400, 404, 410])
  func anExpiredCheckpointIsFollowedByAFullRun(_ status: Int) async throws {
    try await withSync { sync async throws in
      try await use(mapping("checkpoint: /c", mode: "full"), sync)
      sync.serve(.page(page([item("a", "A"), item("b", "B")], #","c":"/changes""#)))
      try await sync.sync()
      sync.serve(.page(page([item("b", "B")], #","c":"/changes""#)))
      sync.transport.script("https://feed.example/changes", .status(status))
      let report = try await sync.sync()
      #expect(report.mode == "full" && report.deleted == 1)
    }
  }

  @Test func aCheckpointOnAnotherServerIsRefused() async throws {
    try await withSync { sync async throws in
      try await use(mapping("checkpoint: /c"), sync)
      sync.serve(.page(page([item("a", "A")], #","c":"https://evil.example/x""#)))
      #expect(try await sync.syncError().code == .foreignPage)
    }
  }

  // MARK: What changes

  @Test func aVolatileValueIsWrittenButIsNoChange() async throws {
    try await withSync { sync async throws in
      try await use(mapping(""), sync)
      sync.serve(.page(page([item("a", "A", #","views":1"#)])))
      try await sync.sync()
      let changedAt = try sync.feed.changedAt
      sync.clock.advance(by: 3_600)
      sync.serve(.page(page([item("a", "A", #","views":2"#)])))
      let report = try await sync.sync()
      #expect(report.changed == 0 && report.unchanged == 1)
      #expect(try sync.episode("a")?.duration == 2)
      #expect(try sync.feed.changedAt == changedAt)
      sync.serve(.page(page([item("a", "B", #","views":2"#)])))
      #expect(try await sync.sync().changed == 1)
    }
  }

  @Test func extraMembersAreWrittenButAreNoChange() async throws {
    try await withSync { sync async throws in
      try await use(mapping("extra: summary"), sync)
      sync.serve(.page(page([item("a", "A", #","x":1,"y":{"p":1,"q":2}"#)])))
      try await sync.sync()
      #expect(try sync.episode("a")?.summary == #"{"x":1,"y":{"p":1,"q":2}}"#)
      sync.clock.advance(by: 3_600)
      let before = try sync.store.history(of: ["Episode"]).count
      sync.serve(.page(page([item("a", "A", #","y":{"q":2, "p":1},"x":1"#)])))
      #expect(try await sync.sync().unchanged == 1)
      #expect(try sync.store.history(of: ["Episode"]).count == before, "another order is nothing")
      sync.clock.advance(by: 3_600)
      sync.serve(.page(page([item("a", "A", #","x":2"#)])))
      let report = try await sync.sync()
      #expect(report.changed == 0 && report.unchanged == 1)
      #expect(try sync.episode("a")?.summary == #"{"x":2}"#)
      sync.clock.advance(by: 3_600)
      sync.serve(.page(page([item("a", "A")])))
      try await sync.sync()
      #expect(try sync.episode("a")?.summary == nil)
    }
  }

  @Test func oversizedExtraMembersAreReported() async throws {
    try await withSync { sync async throws in
      try await use(mapping("extra: summary"), sync)
      let large = String(repeating: "x", count: 20_000)
      sync.serve(.page(page([item("a", "A", ",\"x\":\"\(large)\",\"y\":1")])))
      let report = try await sync.sync()
      #expect(report.extraLeftOut == 1 && report.new == 1)
      #expect(try sync.episode("a")?.summary == #"{"y":1}"#)
      let run = try #require(try Feeds(sync.store).runs(of: sync.feedID).first)
      #expect(try run.report.extraLeftOut == 1)
    }
  }

  @Test func anotherMappingCausesOneUnconditionalFullRun() async throws {
    try await withSync { sync async throws in
      try await use(mapping("revision: /rev"), sync)
      let text = page([item("a", "A", #","rev":3,"text":"x""#)])
      sync.serve(.page(text, ("ETag", "\"1\"")))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      try await use(
        mapping("revision: /rev").replacing("title: /title", with: "title: /text"), sync)
      let report = try await sync.sync()
      #expect(report.changed == 1 && report.revisionClashes == 0)
      #expect(try sync.episode("a")?.title == "x")
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
      _ = try await sync.sync()
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == ["\"1\""])
    }
  }

  @Test func anotherMappingIgnoresTheCheckpoint() async throws {
    try await withSync { sync async throws in
      let text = mapping("checkpoint: /c", mode: "full")
      try await use(text, sync)
      sync.serve(.page(page([item("a", "A", #","text":"x""#)], #","c":"/changes""#)))
      try await sync.sync()
      _ = sync.transport.takeRequests()
      try await use(text.replacing("title: /title", with: "title: /text"), sync)
      let report = try await sync.sync()
      #expect(report.mode == "full" && report.changed == 1)
      #expect(sync.transport.takeRequests().map(\.url) == [Self.url])
    }
  }

  @Test func driftIsReported() async throws {
    try await withSync { sync async throws in
      try await use(mapping(""), sync)
      sync.serve(.page(page([item("a", "A", #","views":"many","extra":1"#), item("b", "B")])))
      let report = try await sync.sync()
      #expect(report.unknownMembers == 1 && report.unknownNames == ["extra"])
      #expect(report.typeChanges == ["duration": 1] && report.dropped == 1)
    }
  }

  @Test func itemsThatWereSalvagedAreReported() async throws {
    try await withSync { sync async throws in
      let items = "<item><guid>a</guid></item><item><guid>b</guid></item>"
      for (title, salvaged) in [("A &amp; B", 0), ("A & B", 2)] {
        sync.serve(
          .page("<rss version=\"2.0\"><channel><title>\(title)</title>\(items)</channel></rss>"))
        let report = try await sync.sync(isFull: true)
        #expect(report.salvagedItems == salvaged && report.rejected == 0)
        sync.clock.advance(by: 1)
      }
      let run = try #require(try Feeds(sync.store).runs(of: sync.feedID).first)
      #expect(try run.report.salvagedItems == 2)
    }
  }

  @Test func theIdentityThatWasChosenIsKept() async throws {
    func feed(_ items: String) -> String {
      #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[\#(items)]}"#
    }
    try await withSync { sync async throws in
      sync.serve(.page(feed(#"{"id":"x","url":"u"},{"id":"x","url":"v"}"#)))
      #expect(try await sync.sync().new == 2)
      #expect(try sync.feed.identity == "/url")
      sync.serve(.page(feed(#"{"id":"a","url":"u"},{"id":"b","url":"v"}"#)))
      #expect(try await sync.sync().new == 0)
    }
  }
}
