import EntityStore
import FeedSync
import Foundation
import HomeFeed
import LoopbackHTTP
import TestSupport
import Testing

@Suite(.serialized) struct KillTests {
  /// Kills the syncing process repeatedly, right after a page was sent or at a drawn moment before
  /// the response, until a run completes. The pages before may be committed by then.
  @Test(arguments: [1, 2] as [UInt64])
  func aSyncThatIsKilledRepeatedlyEndsLikeAnUninterruptedOne(_ seed: UInt64) async throws {
    let pages = (0..<8).map { page in
      (0..<1_000).map { HomeFeedText.Item("ep:\(page)-\($0)", 1) }
    }
    let texts = HomeFeedText.pages(pages, url: "/home").map(\.text)
    let server = try KillingServer { request in
      Response(text: texts[request.queryValue("page").flatMap(Int.init) ?? 0])
    }
    defer { server.stop() }
    let url = server.url + "/home"
    let whole = try await store(of: url) { folder in
      try #require(try await server.sync(url, in: folder) != nil)
    }

    var random = SeededRandom(seed: seed)
    let killed = try await store(of: url) { folder in
      var kills = 0
      while true {
        var plan = KillingServer.Plan(
          request: random.number(2...3), wantsAnswer: random.oneIn(2))
        // With a sanitizer the pages before take longer, too.
        if !plan.wantsAnswer || isSanitized {
          plan.delay = UInt32(random.number(0...(isSanitized ? 2_000_000 : 200_000)))
        }
        if let line = try await server.sync(url, in: folder, plan) {
          #expect(line == "synced 8000 true", "seed \(seed)")
          break
        }
        kills += 1
        try #require(kills < 100, "seed \(seed): no progress")
      }
      // Each of them loses at least the page that it dies at.
      #expect(kills >= 3, "seed \(seed)")
    }
    #expect(killed == whole, "seed \(seed)")
  }

  /// Returns the content of a new store with the server's feed after `body`.
  private func store(
    of url: String, _ body: (String) async throws -> Void
  ) async throws -> [String] {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      let store = try openStore(at: path, migrations: [.homeFeed, .feeds])
      try await Feeds(store).add(url)
      try await body(path)
      try requireClean(store)
      #expect(try store.records(of: "_ChunkedWrite").isEmpty)
      #expect(try store.records(of: "_SyncPage").isEmpty)
      return try store.contentDump()
    }
  }
}
