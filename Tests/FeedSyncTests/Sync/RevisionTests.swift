import Foundation
import HomeFeed
import Testing

@testable import FeedSync

@Suite(.serialized) struct RevisionTests {
  private func titleAfter(_ pages: [HomeFeedText.Item]...) async throws -> (String?, SyncReport?) {
    var title: String?
    var report: SyncReport?
    try await withSync { sync async throws in
      for page in pages {
        sync.serve(.page(HomeFeedText(page).text))
        report = try await sync.sync()
      }
      title = try sync.episode("a")?.title
    }
    return (title, report)
  }

  @Test func aLowerRevisionIsSkipped() async throws {
    let (title, report) = try await titleAfter([.init("a", 5)], [.init("a", 4)])
    #expect(title == "a r5" && report?.skipped == 1)
  }

  @Test func anEqualRevisionWithEqualContentIsNothing() async throws {
    let (_, report) = try await titleAfter(
      [.init("a", 5, attributes: "\"duration\":1")],
      [.init("a", 5, attributes: "\"duration\":1 ")])
    #expect(report?.unchanged == 1 && report?.revisionClashes == 0)
  }

  @Test func twoContentsOfOneRevisionResolveTheSameWayInBothOrders() async throws {
    let contents = ["one", "two", "three"].map { HomeFeedText.Item("a", 5, title: $0) }
    var titles: Set<String> = []
    for first in contents {
      for second in contents where second.title != first.title {
        for third in contents where ![first.title, second.title].contains(third.title) {
          let (apart, report) = try await titleAfter([first], [second], [third])
          #expect(report?.revisionClashes == 1)
          titles.insert(try #require(apart))
          titles.insert(try #require(try await titleAfter([first, second, third]).0))
        }
      }
    }
    #expect(titles.count == 1)
  }

  @Test func theLaterDateWinsAClash() async throws {
    var late = HomeFeedText.Item("a", 5, title: "late")
    var early = HomeFeedText.Item("a", 5, title: "early")
    var undated = HomeFeedText.Item("a", 5, title: "undated")
    (late.updatedAt, early.updatedAt) = ("2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z")
    undated.updatedAt = nil
    for order in [[late, early, undated], [undated, early, late], [early, late, undated]] {
      #expect(try await titleAfter([order[0]], [order[1]], [order[2]]).0 == "late")
      #expect(try await titleAfter(order).0 == "late")
    }
  }

  @Test func aHigherRevisionWithTheSameContentStillOutranksLateCopies() async throws {
    let (title, report) = try await titleAfter(
      [.init("a", 5, title: "A")], [.init("a", 7, title: "A")], [.init("a", 6, title: "B")])
    #expect(title == "A" && report?.skipped == 1)
  }

  @Test func theHighestRevisionOfARepeatedIdentifierCounts() async throws {
    for order in [[5, 7, 6], [7, 5, 6], [6, 5, 7]] as [[Int64]] {
      let (title, report) = try await titleAfter(order.map { .init("a", $0) })
      #expect(title == "a r7" && report?.skipped == 2 && report?.new == 1)
    }
  }

  @Test func pagesThatShareACommitKeepToTheRulesAmongEachOther() async throws {
    let listings: [[HomeFeedText.Item]] = [
      [.init("a", 7)], [.init("a", 5), .init("b", 1)],
      [.init("a", 6), .init("b", 2), .init("c", 1)],
    ]
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
      try await withSync { sync async throws in
        sync.serve(HomeFeedText.pages(order.map { listings[$0] }, url: SyncFixture.url))
        let report = try await sync.sync()
        #expect(try sync.episode("a")?.title == "a r7", "\(order)")
        #expect(try sync.episode("b")?.title == "b r2", "\(order)")
        #expect(report.items == 6, "\(order)")
      }
    }
  }

  @Test func aDeletionOnOnePageOutranksAnOlderCopyOnTheNextOfTheSameCommit() async throws {
    for order in [[0, 1], [1, 0]] {
      try await withSync { sync async throws in
        sync.serve(.page(HomeFeedText.full(.init("a", 1), .init("b", 1), checkpoint: "c1")))
        try await sync.sync()
        try await sync.edit("a") { $0.progress = 0.3 }
        let pages = [[HomeFeedText.Item.deleted("a", 9)], [.init("a", 8), .init("b", 2)]]
        var first = HomeFeedText(pages[order[0]], next: "?page=1")
        var second = HomeFeedText(pages[order[1]], checkpoint: "c2")
        (first.mode, second.mode) = ("delta", "delta")
        sync.transport.script(SyncFixture.url + "?since=c1", .page(first.text))
        sync.transport.script(SyncFixture.url + "?page=1", .page(second.text))
        try await sync.sync()
        #expect(try sync.episode("a") == nil, "\(order)")
        sync.transport.script(
          SyncFixture.url + "?since=c2", .page(HomeFeedText.delta(.init("a", 10), version: 3)))
        try await sync.sync()
        #expect(try sync.episode("a")?.progress == 0.3, "\(order)")
      }
    }
  }

  @Test func anItemThatChangesItsKindIsAnotherRecord() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(HomeFeedText.full(.init("a", 1), .init("b", 1))))
      try await sync.sync()
      var path = HomeFeedText.Item("a", 2)
      path.kind = "LearningPath"
      sync.serve(.page(HomeFeedText.full(path, .init("b", 1))))
      let report = try await sync.sync()
      #expect(report.new == 1 && report.deleted == 1)
      #expect(try sync.episode("a") == nil)
      #expect(try sync.store.records(of: "LearningPath").count == 1)
    }
  }

  @Test func unknownKindsAreCountedAndSkipped() async throws {
    try await withSync { sync async throws in
      var podcast = HomeFeedText.Item("p", 1)
      podcast.kind = "Podcast"
      var system = HomeFeedText.Item("f", 1)
      system.kind = "_Feed"
      sync.serve(.page(HomeFeedText.full(.init("a", 1), podcast, system), ("ETag", "\"1\"")))
      let report = try await sync.sync()
      #expect(report.unknownKinds == 2 && report.new == 1 && report.outcome == .synced)
      #expect(report.unknownKindNames == ["Podcast", "_Feed"])
      #expect(try sync.feed.etag == "\"1\"")
    }
  }
}
