import EntityModel
import EntityStore
import Foundation
import HomeFeed
import Testing

@testable import FeedSync

@Suite(.serialized) struct DeletionTests {
  private func items(_ range: Range<Int>) -> [HomeFeedText.Item] {
    range.map { .init("ep:\($0)", 1) }
  }

  private func serve(_ sync: SyncFixture, _ range: Range<Int>) {
    sync.serve(.page(HomeFeedText(items(range)).text, ("ETag", "\"\(range)\"")))
  }

  @Test func aFullRunDeletesWhatItDoesNotList() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<100)
      try await sync.sync()
      serve(sync, 40..<100)
      let report = try await sync.sync()
      #expect(report.outcome == .synced && report.deleted == 40 && report.unchanged == 60)
      #expect(try sync.store.records(of: "Episode").count == 60)
      #expect(try sync.store.records(of: "_Tombstone").count == 40)
    }
  }

  @Test func aFullRunRefusesToDeleteMostOfAFeedUntilItIsAllowed() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<100)
      try await sync.sync()
      serve(sync, 0..<49)
      let refused = try await sync.sync()
      #expect(refused.outcome == .deletionsRefused && refused.refusedDeletions == 51)
      #expect(refused.deleted == 0)
      #expect(try sync.store.records(of: "Episode").count == 100)
      #expect(try sync.feed.etag == nil, "the next run must ask for everything again")
      let allowed = try await sync.sync(allowsDeletions: true)
      #expect(allowed.outcome == .synced && allowed.deleted == 51)
      #expect(try sync.store.records(of: "Episode").count == 49)
    }
  }

  @Test func replacingEveryItemCountsAsDeletingAllOfThem() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<100)
      try await sync.sync()
      serve(sync, 100..<300)
      let report = try await sync.sync()
      #expect(report.outcome == .deletionsRefused && report.refusedDeletions == 100)
      #expect(report.new == 200)
    }
  }

  @Test func upToTwentyRecordsAreDeletedWhateverTheirShare() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<21)
      try await sync.sync()
      serve(sync, 20..<21)
      #expect(try await sync.sync().deleted == 20)
    }
    try await withSync { sync async throws in
      serve(sync, 0..<22)
      try await sync.sync()
      serve(sync, 21..<22)
      #expect(try await sync.sync().refusedDeletions == 21)
    }
  }

  @Test func anItemThatAListingLeftOutForAWhileComesBackWithItsLocalValues() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<10)
      try await sync.sync()
      try await sync.edit("ep:3") { $0.progress = 0.75 }
      serve(sync, 4..<10)
      #expect(try await sync.sync().deleted == 4)
      serve(sync, 0..<10)
      #expect(try await sync.sync().new == 4, "though their revisions are the same")
      #expect(try sync.episode("ep:3")?.progress == 0.75)
    }
  }

  @Test func aListingWhoseVersionMovesDeletesNothing() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<10)
      try await sync.sync()
      var first = HomeFeedText(items(0..<3), next: "?page=1")
      var second = HomeFeedText(items(3..<5))
      (first.version, second.version) = (7, 8)
      sync.serve(.page(first.text, ("ETag", "\"2\"")))
      sync.transport.script(SyncFixture.url + "?page=1", .page(second.text))
      let report = try await sync.sync()
      #expect(report.outcome == .incomplete && report.deleted == 0)
      #expect(try sync.feed.etag == nil)
      #expect(try sync.store.records(of: "Episode").count == 10)
    }
  }

  @Test func aListingWithARejectedItemDeletesNothing() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<10)
      try await sync.sync()
      var page = HomeFeedText(items(0..<8), checkpoint: "c")
      page.entities.append("{\"id\":7,\"kind\":\"Episode\",\"rev\":1}")
      sync.serve(.page(page.text, ("ETag", "\"2\"")))
      let report = try await sync.sync()
      #expect(report.outcome == .incomplete && report.deleted == 0 && report.rejected == 1)
      #expect(try sync.feed.etag == nil)
      #expect(try sync.feed.checkpoint == nil)
    }
  }

  @Test func pagesOfTwoModesAreNoCompleteListing() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<10)
      try await sync.sync()
      sync.serve(.page(HomeFeedText(items(0..<3), next: "?page=1").text))
      sync.transport.script(
        SyncFixture.url + "?page=1", .page(HomeFeedText.delta(.init("ep:9", 1), version: 1)))
      #expect(try await sync.sync().outcome == .incomplete)
      #expect(try sync.store.records(of: "Episode").count == 10)
    }
  }

  @Test func aFeedThatLostAllItemsIsAnErrorUntilItIsAllowed() async throws {
    try await withSync { sync async throws in
      serve(sync, 0..<3)
      try await sync.sync()
      serve(sync, 0..<0)
      #expect(try await sync.syncError().code == .emptied)
      #expect(try sync.store.records(of: "Episode").count == 3)
      let emptied = try await sync.sync(isFull: true, allowsDeletions: true)
      #expect(emptied.deleted == 3 && emptied.absent == 3 && emptied.items == 0)
      #expect(try await sync.sync(isFull: true).outcome == .synced, "it is empty by now")
    }
  }

  @Test func twoFeedsWithTheSameIdentifiersDoNotTouchEachOther() async throws {
    try await withSync { sync async throws in
      let other = "https://other.example/feed"
      try await Feeds(sync.store).add(other)
      let otherID = try Feeds(sync.store).find(other).id
      sync.transport.script(
        other, .page(HomeFeedText(items(0..<4)).text.replacing("r1", with: "of the other")))
      serve(sync, 0..<4)
      try await sync.sync()
      try await sync.sync(otherID)
      #expect(try sync.episode("ep:1")?.title == "ep:1 r1")
      #expect(try sync.episode("ep:1", feedID: otherID)?.title == "ep:1 of the other")
      try await sync.edit("ep:1") { $0.progress = 0.5 }
      serve(sync, 2..<4)
      #expect(try await sync.sync().deleted == 2)
      #expect(try sync.episode("ep:1", feedID: otherID) != nil)
      #expect(try sync.episode("ep:1", feedID: otherID)?.progress == 0)
    }
  }

  @Test func localRecordsAreNotDeletedByAFeed() async throws {
    try await withSync { sync async throws in
      try await sync.store.write { transaction in
        _ = try transaction.insert(Episode(id: "ep:1", title: "mine"))
      }
      serve(sync, 0..<3)
      try await sync.sync()
      serve(sync, 2..<3)
      try await sync.sync()
      let titles = try sync.store.fetch(FetchDescriptor<Episode>()).map(\.title)
      #expect(Set(titles) == ["mine", "ep:2 r1"])
    }
  }
}
