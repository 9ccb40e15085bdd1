import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

@testable import FeedSync

/// Feed items that the store rejects.
@Suite(.serialized) struct StoreRefusalTests {
  private static let uniqueTitles = MigrationSource(embedded: [
    (
      "0001_titles",
      Array(
        """
        line: local
        summary: No two episodes have the same title
        requires: [homefeed@1]
        steps:
          - createIndex: { on: Episode, name: byTitle, keys: [title], unique: true }
        """.utf8)
    )
  ])

  private func page(_ titles: String...) -> ScriptedTransport.Answer {
    .page(
      HomeFeedText(
        titles.enumerated().map { .init("ep:\($0)", 1, title: $1) }
      ).text)
  }

  @Test func aRefusalIsStoredWithTheFeedAndClearedByTheNextSuccessfulRun() async throws {
    try await withSync(migrations: [Self.uniqueTitles]) { sync async throws in
      for errors in 1...2 {
        sync.serve(page("Same", "Same"))
        let error = try await #require(throws: StoreError.self) {
          try await sync.sync(ignoresWait: true)
        }
        #expect(error.code == .uniqueViolation)
        #expect(try sync.feed.errors == Int64(errors))
        #expect(try sync.feed.lastError == error.description)
        let run = try #require(try Feeds(sync.store).runs(of: sync.feedID).first)
        #expect(run.outcome == "failed" && run.error == error.description)
        #expect(try sync.episode("ep:0") == nil, "all of a commit or nothing")
      }
      sync.serve(page("Same", "Other"))
      #expect(try await sync.sync(ignoresWait: true).new == 2)
      #expect(try sync.feed.errors == 0 && sync.feed.lastError == nil)
    }
  }
}
