import EntityModel
import EntityStore
import Foundation
import HomeFeed
import TestSupport
import Testing

@testable import FeedDocuments
@testable import FeedSync

/// Records that appear between the comparison of a page and its write.
@Suite struct ConcurrentInsertTests {
  @Test func anItemThatAnotherWriterHasInsertedIsUpdated() async throws {
    try await withSync { sync async throws in
      let changes = try changes(of: [item("1", rev: 2), item("2", rev: 2)], sync)
      try await sync.store.write { transaction in
        _ = try transaction.insert(
          "Episode",
          [
            "id": .string("1"), "feedID": .int64(sync.feedID), "title": .string("Theirs"),
            "feedRevision": .int64(1), "favoriteAt": .date(sync.clock.now),
          ])
      }
      let counts = try await write(changes, sync)
      #expect((counts.new, counts.changed) == (1, 1))
      #expect(try sync.store.read { try $0.count(of: "Episode") } == 2)
      let episode = try sync.episode("1")
      #expect(episode?.title == "Title 1")
      #expect(episode?.favoriteAt == sync.clock.now)
    }
  }

  @Test func anItemThatAnotherWriterHasDeletedStaysDeleted() async throws {
    try await withSync { sync async throws in
      let changes = try changes(of: [item("1", rev: 2)], sync)
      let target = try #require(try sync.store.read { try FeedTarget.all(in: $0)["Episode"] })
      try await sync.store.write { transaction in
        try Tombstones.leave(
          for: "1", of: target, feedID: sync.feedID, revision: 3, deletedAt: nil, row: nil,
          in: transaction)
      }
      let counts = try await write(changes, sync)
      #expect((counts.new, counts.skipped) == (0, 1))
      #expect(try sync.episode("1") == nil)
    }
  }

  @Test func anItemThatWasNotLookedUpIsComparedWithItsRecord() async throws {
    try await withSync { sync async throws in
      _ = try await write(try changes(of: [item("1", rev: 2)], sync), sync)
      let again = try changes(
        of: [item("1", rev: 2), item("2", rev: 2)], sync, hasRecords: false)
      #expect(again.items.map(\.isNew) == [true, true])
      let counts = try await write(again, sync)
      #expect((counts.new, counts.unchanged) == (1, 1))
      #expect(try sync.store.read { try $0.count(of: "Episode") } == 2)
    }
  }

  /// Its entry is stored once, from the time before.
  @Test func anItemWithAnEntryReturnsAfterItsDeletion() async throws {
    try await withSync { sync async throws in
      for _ in 1...2 {
        var changes = try changes(of: [item("1", rev: 2)], sync)
        changes.users = [
          UserEntry(id: "1", revision: 1, values: [Field(name: "progress", value: .double(0.5))])
        ]
        #expect(try await write(changes, sync).new == 1)
        #expect(try sync.store.read { try $0.count(of: "_UserState") } == 1)
        let feedID = sync.feedID
        try await sync.store.write { transaction in
          let id = try transaction.objectID(
            "Episode", by: ["id": .string("1"), "feedID": .int64(feedID)])
          try transaction.delete(try #require(id))
        }
      }
    }
  }

  private let rules = ListingRules(mode: .delta, isNewEpoch: false, isNewMapping: false)

  private func item(_ id: String, rev: Int64) -> FeedItem {
    FeedItem(
      kind: "Episode", id: id, revision: rev,
      fields: [
        Field(name: "title", value: .string("Title \(id)")), Field(name: "type", value: .int64(1)),
        Field(name: "updatedAt", value: .string("2026-11-19T08:00:00Z")),
      ])
  }

  /// Compares items with the store as it is now.
  private func changes(
    of items: [FeedItem], _ sync: SyncFixture, hasRecords: Bool = true
  ) throws -> PageChanges {
    try sync.store.read { transaction in
      var report = SyncReport(feed: SyncFixture.url)
      var mapper = ItemMapper(
        targets: try FeedTarget.all(in: transaction), defaultEntity: "Episode",
        feedID: sync.feedID, now: sync.clock.now)
      var page = FeedPage(format: .homeFeed1, mode: .delta)
      page.items = items
      let mapped = try mapper.map(page, &report)
      try #require(mapped.count == items.count, "\(report)")
      var (changes, seen) = (PageChanges(), SeenRecords())
      try changes.add(
        mapped, feedID: sync.feedID, rules, hasRecords: hasRecords, pending: [], seen: &seen,
        &report, in: transaction)
      return changes
    }
  }

  private func write(_ changes: PageChanges, _ sync: SyncFixture) async throws -> WriteCounts {
    try await sync.store.write { [rules] transaction in
      var (counts, seen) = (WriteCounts(), SeenRecords())
      let writer = try PageWriter(
        feedID: sync.feedID, rules: rules, targets: try FeedTarget.all(in: transaction),
        hasUserStates: false, in: transaction)
      try writer.write(changes, seen: &seen, &counts)
      return counts
    }
  }
}
