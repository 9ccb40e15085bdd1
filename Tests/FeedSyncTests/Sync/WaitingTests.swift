import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct WaitingTests {
  private let page = HomeFeedText.full(.init("a", 1))

  @Test(arguments: [429, 503])
  func retryAfterIsHonored(_ status: Int) async throws {
    try await withSync { sync async throws in
      sync.serve(.response(status: status, retryAfter: 120))
      #expect(try await sync.syncError().code == .waiting)
      #expect(try sync.feed.waitUntil == sync.clock.now.addingTimeInterval(120))
      #expect(try sync.feed.errors == 1)
      _ = sync.transport.takeRequests()
      sync.serve(.page(page))
      sync.clock.advance(by: 119)
      let error = try await sync.syncError()
      #expect(error.code == .waiting)
      #expect(error.description.contains("2026-11-20T10:02:00Z"))
      #expect(sync.transport.takeRequests().isEmpty)
      sync.clock.advance(by: 1)
      #expect(try await sync.sync().new == 1)
      #expect(try sync.feed.waitUntil == nil)
      #expect(try sync.feed.errors == 0)
    }
  }

  @Test func aRunMayIgnoreTheWait() async throws {
    try await withSync { sync async throws in
      sync.serve(.response(status: 429, retryAfter: 3_600))
      _ = try await sync.syncError()
      sync.serve(.page(page))
      #expect(try await sync.sync(ignoresWait: true).new == 1)
      #expect(try sync.feed.waitUntil == nil)
    }
  }

  @Test func retryAfterIsLimitedToAWeek() async throws {
    try await withSync { sync async throws in
      sync.serve(.response(status: 503, retryAfter: .max))
      _ = try await sync.syncError()
      #expect(try sync.feed.waitUntil == sync.clock.now.addingTimeInterval(7 * 86_400))
    }
  }

  @Test func aFeedThatIsGonePausesAndKeepsItsRecords() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page))
      try await sync.sync()
      sync.serve(.status(410))
      #expect(try await sync.syncError().code == .gone)
      #expect(try sync.feed.isPaused)
      #expect(try sync.episode("a") != nil)
      _ = sync.transport.takeRequests()
      #expect(try await sync.syncError().code == .paused)
      #expect(sync.transport.takeRequests().isEmpty)
      try await Feeds(sync.store).update(sync.feedID) { $0.isPaused = false }
      sync.serve(.page(page))
      #expect(try await sync.sync().outcome == .notModified)
      #expect(try sync.feed.errors == 0)
    }
  }

  @Test(arguments: [400, 401, 403, 404, 418, 500, 502])
  func anyOtherStatusIsAnErrorThatIsRememberedWithTheFeed(_ status: Int) async throws {
    try await withSync { sync async throws in
      sync.serve(.status(status))
      for errors in 1...2 {
        let error = try await sync.syncError()
        // Those below 500 come again.
        #expect(error.code == (status == 404 ? .notFound : status < 500 ? .refused : .badStatus))
        #expect(error.description.contains(String(status)))
        #expect(try sync.feed.errors == Int64(errors))
        #expect(try sync.feed.lastError == error.description)
      }
    }
  }

  @Test func aCancelledRunIsNoErrorOfTheFeed() async throws {
    try await withSync { sync async throws in
      sync.serve(.failure(HTTPError(.cancelled, "the test")))
      await #expect(throws: HTTPError.self) { try await sync.sync() }
      #expect(try sync.feed.errors == 0)
    }
  }

  @Test func aSecondConcurrentRunFailsAndNamesTheProcess() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page))
      sync.transport.beforeAnswer { [sync] _ in
        sync.transport.beforeAnswer(nil)
        let error = try await sync.syncError()
        #expect(error.code == .busy)
        #expect(error.description.contains("process: \(getpid())"))
      }
      #expect(try await sync.sync().new == 1)
      #expect(try await sync.sync().outcome == .notModified)
    }
  }
}
