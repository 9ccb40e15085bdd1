import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import TestSupport
import Testing

@testable import FeedSync

/// Many feeds are added by one call.
@Suite(.serialized) struct AddedFeedsTests {
  @Test func eachURLHasItsOutcomeAndTheGoodOnesAreAdded() async throws {
    try await withSync { sync async throws in
      let urls = [
        "https://a.example/1", "ftp://a.example/", SyncFixture.url, "https://a.example/1",
        "https://u:hunter2@a.example/", "no url", "https://a.example/2",
      ]
      let feeds = Feeds(sync.store)
      let outcomes = try await feeds.add(urls, .init(every: .seconds(60)))
      #expect(
        outcomes.map(Self.text) == [
          "added", "refused", "changed", "repeated 0", "refused", "refused", "added",
        ])
      #expect(!outcomes.map { "\($0)" }.joined().contains("hunter2"))
      let all = try feeds.list().map(\.feed)
      #expect(all.map(\.url) == [SyncFixture.url, urls[0], urls[6]])
      #expect(all.allSatisfy { $0.every == 60 })
      #expect(try await feeds.add([]).isEmpty)
    }
  }

  @Test func settingsThatDoNotFitAddNothing() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      let urls = (0..<3).map { "https://a.example/\($0)" }
      let mapping = FeedMappingText("mapping: x\nitems: 7", file: "x.yaml")
      for settings in [
        Feeds.Settings(entity: "Nothing"), .init(credential: "../x"), .init(mapping: mapping),
      ] {
        await #expect(throws: (any Error).self) { try await feeds.add(urls, settings) }
      }
      #expect(try feeds.list().count == 1)
    }
  }

  /// They need one commit for some hundreds, not one for each.
  @Test func thousandsOfFeedsNeedFewCommits() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      let urls = (0..<3_000).map { "https://host\($0 % 100).example/feed/\($0)" }
      let before = try sync.store.statistics().lastTransaction
      let outcomes = try await feeds.add(urls)
      #expect(outcomes.allSatisfy { Self.text($0) == "added" })
      #expect(try feeds.list().count == 3_001)
      let commits = try sync.store.statistics().lastTransaction - before
      #expect((1...3_000 / SyncLimits.feedsPerCommit).contains(commits))
      let again = try await feeds.add(urls)
      #expect(again.allSatisfy { Self.text($0) == "changed" })
    }
  }

  private static func text(_ outcome: Feeds.Addition) -> String {
    switch outcome {
    case .added: "added"
    case .changed: "changed"
    case .repeated(let first): "repeated \(first)"
    case .refused: "refused"
    }
  }
}
