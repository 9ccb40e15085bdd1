import EntityModel
import EntityStore
import FeedTestSupport
import Foundation
import HomeFeed
import Testing

@testable import FeedSync

/// The JSON Feeds of others, synced, against what an independent parser reads in them.
@Suite(.serialized) struct CorpusSyncTests {
  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func everyJSONFeedSyncsAndTheSecondSyncWritesNothing() async throws {
    var feeds = 0
    for expected in try FeedCorpora.expectations(of: "jsonfeed") {
      try await syncTwice(try FeedCorpora.bytes(of: expected.file), expected)
      feeds += 1
    }
    #expect(feeds == 8)
  }

  private func syncTwice(_ body: [UInt8], _ expected: ExpectedFeed) async throws {
    try await withSync { sync async throws in
      // Next pages of real feeds are on servers of their own, and nothing is lost by that.
      sync.serve(.response(status: 200, headers: [("ETag", "\"1\"")], body: body))
      let report = try await sync.sync()
      #expect(report.outcome == .synced && report.rejected == 0, "\(expected.file)")
      #expect(report.items == expected.entries.count, "\(expected.file)")
      #expect(report.new == Set(expected.entries.map(\.identity)).count, "\(expected.file)")
      for entry in expected.entries {
        let episode = try #require(try sync.episode(entry.identity), "\(expected.file)")
        #expect(episode.title == entry.title, "\(expected.file)")
        #expect(episode.url?.absoluteString == entry.link, "\(expected.file)")
        #expect(episode.publishedAt == entry.published.flatMap { DateText.rfc3339($0) })
        #expect(episode.updatedAt == entry.updated.flatMap { DateText.rfc3339($0) })
      }
      let trees = try ContentTrees(sync.store)
      #expect(try await sync.sync(isFull: true).unchanged == report.new)
      #expect(try ContentTrees(sync.store) == trees, "\(expected.file)")
      let bytes = try sync.store.dataBytes()
      sync.serve(.status(304))
      #expect(try await sync.sync().outcome == .notModified)
      #expect(try sync.store.dataBytes() == bytes, "\(expected.file)")
      #expect(sync.transport.takeRequests().last?.header("If-None-Match") == "\"1\"")
    }
  }
}

extension ExpectedFeed.Entry {
  fileprivate var identity: String { id ?? link ?? "" }
}
