import EntityModel
import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import EntityObjects
@testable import FeedSync

@Suite(.serialized) struct ResumeTests {
  /// Pages of one commit each, but two that share one.
  private static let pages = HomeFeedText.pages(
    [1_000, 500, 500, 1_100, 3].enumerated().map { page, count in
      (0..<count).map { .init("ep:\(page)-\($0)", 2) }
    }, url: SyncFixture.url, checkpoint: "c1")

  /// A store with things that the run changes, deletes and leaves.
  private func prepare(_ sync: SyncFixture) async throws {
    sync.serve(
      .page(HomeFeedText.full(.init("ep:0-0", 1), .init("ep:3-7", 1), .init("gone", 1))))
    try await sync.sync()
    try await sync.edit("ep:3-7") { $0.progress = 0.25 }
    sync.serve(Self.pages)
    _ = sync.transport.takeRequests()
  }

  /// The state of an uninterrupted run.
  private func wholeRun() async throws -> [String] {
    var dump: [String] = []
    try await withSync { sync async throws in
      try await prepare(sync)
      try await sync.sync()
      dump = try sync.store.contentDump()
    }
    return dump
  }

  @Test func aRunThatWasInterruptedAfterAnyPageResumesThere() async throws {
    let expected = try await wholeRun()
    for cut in 0..<Self.pages.count {
      try await withSync { sync async throws in
        try await prepare(sync)
        sync.transport.failAfter(cut)
        await #expect(throws: HTTPError.self) { try await sync.sync() }
        sync.transport.heal()
        _ = sync.transport.takeRequests()
        #expect(try sync.feed.checkpoint == nil)
        sync.clock.advance(by: 60)
        let report = try await sync.sync()
        #expect(report.isResumed == (cut > 0))
        #expect(
          sync.transport.takeRequests().map(\.url) == Self.pages[cut...].map(\.url),
          "cut off after \(cut)")
        #expect(report.items == 3_103 && report.deleted == 1, "cut off after \(cut)")
        #expect(try sync.store.contentDump() == expected, "cut off after \(cut)")
        #expect(try sync.feed.checkpoint == "c1")
        #expect(try sync.store.records(of: "_SyncPage").isEmpty)
        #expect(try sync.store.records(of: "_ChunkedWrite").isEmpty)
      }
    }
  }

  @Test func aRunThatIsInterruptedAtEveryPageHasTheSameResult() async throws {
    let expected = try await wholeRun()
    try await withSync { sync async throws in
      try await prepare(sync)
      for pages in [1, 1, 1, 2] {
        sync.transport.failAfter(pages)
        _ = try? await sync.sync()  // because each but the last fails
        sync.clock.advance(by: 1)
      }
      #expect(try sync.store.contentDump() == expected)
    }
  }

  @Test func aRunThatIsAnHourOldStartsAgain() async throws {
    try await withSync { sync async throws in
      try await prepare(sync)
      sync.transport.failAfter(2)
      await #expect(throws: HTTPError.self) { try await sync.sync() }
      sync.transport.heal()
      sync.clock.advance(by: 3_601)
      _ = sync.transport.takeRequests()
      #expect(try await !sync.sync().isResumed)
      #expect(sync.transport.takeRequests().map(\.url) == Self.pages.map(\.url))
      #expect(try sync.store.records(of: "Episode").count == 3_103)
    }
  }

  /// The bytes and names are those of the program before.
  @Test func anInterruptedRunOfThePreviousVersionIsResumed() async throws {
    let expected = try await wholeRun()
    try await withSync { sync async throws in
      try await prepare(sync)
      sync.transport.failAfter(1)
      await #expect(throws: HTTPError.self) { try await sync.sync() }
      sync.transport.heal()
      let record = try #require(
        try sync.store.fetch(FetchRequest(entityName: "_ChunkedWrite")).first)
      guard case .data(let data) = try record["frontier"] else { throw HTTPError(.other, "data") }
      let now = try JSONDecoder().decode(SyncCheckpoint.self, from: data)
      let text = """
        {"version":1,"startedAt":\(now.startedAt),"report":{"feed":"\(SyncFixture.url)",\
        "new":999,"changed":1,"mode":"full","pages":1,"requests":1},"pages":1,"epoch":"e1",\
        "next":"\(SyncFixture.url)?page=1","mode":"full","isWhole":true,"isCut":false,\
        "isPinned":true,"isNewestOnly":false,"listed":1000,"format":"homefeed/1",\
        "settings":\(try #require(now.settings)),"mappingHash":\(try #require(now.mappingHash)),\
        "visited":[\(now.visited.map(String.init).joined(separator: ","))],\
        "listings":[\(now.listings.map(String.init).joined(separator: ","))],\
        "first":{"url":"\(SyncFixture.url)","isFromPrivateAddress":false}}
        """
      try await sync.store.write { transaction in
        let all = FetchRequest(entityName: "_ChunkedWrite")
        for id in try transaction.fetchIdentifiers(all) {
          try transaction.update(id) { try $0.set("frontier", to: .data(Data(text.utf8))) }
        }
      }
      _ = sync.transport.takeRequests()
      let report = try await sync.sync()
      #expect(report.isResumed && report.items == 3_103 && report.deleted == 1)
      #expect(sync.transport.takeRequests().map(\.url) == Self.pages[1...].map(\.url))
      #expect(try sync.store.contentDump() == expected)
    }
  }

  @Test func aCheckpointThatCannotBeReadIsDiscarded() async throws {
    try await withSync { sync async throws in
      try await prepare(sync)
      let name = "sync \(sync.feedID)"
      try await sync.store.write { transaction in
        _ = try transaction.insert(
          "_ChunkedWrite",
          [
            "name": .string(name), "frontier": .data(Data("{}".utf8)), "rows": 0, "chunks": 1,
            "updatedAt": .date(transaction.now),
          ])
      }
      #expect(try await sync.sync().new == 3_101)
    }
  }

  /// Pages in any order, also with repeated items, give the same state.
  @Test(arguments: 0..<6 as Range<UInt64>)
  func pagesInAnyOrderGiveTheSameState(_ seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    var copies: [HomeFeedText.Item] = []
    for id in 0..<40 {
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let revision = Int64.random(in: 1...6, using: &random)
        copies.append(
          Int.random(in: 0..<5, using: &random) == 0
            ? .deleted("ep:\(id)", revision)
            : .init("ep:\(id)", revision, title: "t\(Int.random(in: 0..<3, using: &random))"))
      }
    }
    var expected: [String]?
    for _ in 0..<4 {
      copies.shuffle(using: &random)
      var pages: [[HomeFeedText.Item]] = []
      var rest = copies[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...30, using: &random)
        pages.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      var dump: [String] = []
      try await withSync { sync async throws in
        // Some in a run of their own, so that they meet what is committed.
        for page in pages {
          sync.serve(
            .page(
              HomeFeedText.delta().replacing(
                "\"entities\":[]", with: "\"entities\":[\(page.map(\.text).joined(separator: ","))]"
              )))
          try await sync.sync()
        }
        dump = try sync.store.contentDump()
      }
      var paged: [String] = []
      try await withSync { sync async throws in
        for (number, items) in pages.enumerated() {
          var page = HomeFeedText(items + [.init("page \(number)", 1)])
          page.mode = "delta"
          page.next = number == pages.count - 1 ? nil : "?page=\(number + 1)"
          sync.transport.script(
            number == 0 ? SyncFixture.url : SyncFixture.url + "?page=\(number)", .page(page.text))
        }
        try await sync.sync()
        paged = try sync.store.contentDump().filter { !$0.contains("id=\"page ") }
      }
      #expect(dump == expected ?? dump, "seed \(seed)")
      #expect(paged == dump, "seed \(seed)")
      expected = dump
    }
  }
}
