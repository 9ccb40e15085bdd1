import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

/// Permanent redirects: believed when they have proved themselves, forgotten when they fail.
@Suite(.serialized) struct MovedFeedTests {
  private let target = "https://new.example/home"
  private let page = HomeFeedText.full(.init("a", 1))

  private func moved(
    _ statuses: [Int] = [301], to target: String, from: String = SyncFixture.url,
    _ headers: [(String, String)] = []
  ) -> ScriptedTransport.Answer {
    var (here, redirects) = (from, [HTTPResponse.Redirect]())
    for (number, status) in statuses.enumerated() {
      let next = number == statuses.count - 1 ? target : "https://step.example/\(number)"
      redirects.append(.init(status: status, from: here, to: next))
      here = next
    }
    return .response(
      status: 200, headers: headers, body: Array(page.utf8), redirects: redirects)
  }

  @Test func aMoveIsLearnedAfterTenEqualOnesOverThreeDaysAndTheIdentityStays() async throws {
    try await withSync { sync async throws in
      sync.serve(moved([301, 308], to: target))
      sync.transport.script(target, .page(page))
      for run in 1...10 {
        try await sync.sync()
        #expect(try sync.feed.learnedURL == (run < 10 ? nil : target))
        if run < 10 { #expect(try sync.feed.movedCount == Int64(run)) }
        sync.clock.advance(by: 86_400 / 2)
      }
      _ = sync.transport.takeRequests()
      try await sync.sync()
      #expect(sync.transport.takeRequests().map(\.url) == [target])
      #expect(try Feeds(sync.store).find(SyncFixture.url).id == sync.feedID)
      #expect(try sync.episode("a") != nil)
    }
  }

  @Test func tenMovesInOneHourAreNoProof() async throws {
    try await withSync { sync async throws in
      sync.serve(moved(to: target))
      for _ in 0..<20 {
        sync.clock.advance(by: 60)
        try await sync.sync()
      }
      #expect(try sync.feed.learnedURL == nil)
      sync.clock.advance(by: 3 * 86_400)
      try await sync.sync()
      #expect(try sync.feed.learnedURL == target)
    }
  }

  @Test(arguments: [[302], [301, 302], [307, 301]])
  func aMoveWithATemporaryRedirectIsNotLearned(_ statuses: [Int]) async throws {
    try await withSync { sync async throws in
      sync.serve(moved(statuses, to: target))
      for _ in 0..<12 {
        sync.clock.advance(by: 86_400)
        try await sync.sync()
      }
      #expect(try sync.feed.learnedURL == nil && sync.feed.movedCount == 0)
    }
  }

  @Test func anAnswerWithoutTheMoveResetsTheCount() async throws {
    try await withSync { sync async throws in
      for answer in [moved(to: target), .page(page), moved(to: target), moved(to: target + "2")] {
        sync.serve(answer)
        sync.clock.advance(by: 86_400)
        try await sync.sync()
        #expect(try sync.feed.movedCount <= 1)
      }
      #expect(try sync.feed.movedTo == target + "2")
    }
  }

  /// A captive portal answers everything with a move to its own page.
  @Test func onlyADocumentProvesAMove() async throws {
    try await withSync { sync async throws in
      sync.transport.script(
        SyncFixture.url,
        .response(
          status: 200, headers: [("Content-Type", "text/html")],
          body: Array("<html>Please log in</html>".utf8),
          redirects: [.init(status: 301, from: SyncFixture.url, to: "https://portal.example/")]))
      for _ in 0..<12 {
        sync.clock.advance(by: 86_400)
        #expect(try await sync.syncError().code == .badDocument)
      }
      #expect(try sync.feed.movedCount == 0 && sync.feed.learnedURL == nil)
      // Nor is a document that is labelled as a page.
      sync.serve(moved(to: target, [("Content-Type", "text/HTML; charset=utf-8")]))
      try await sync.sync()
      #expect(try sync.feed.movedCount == 0)
    }
  }

  @Test func fromHTTPToHTTPSOfTheSameHostIsLearnedAtOnce() async throws {
    try await withSync { sync async throws in
      let old = "http://feed.example/other"
      for (target, isLearned) in [
        ("https://feed.example/other", true), ("https://evil.example/other", false),
      ] {
        let url = old + (isLearned ? "" : "2")
        try await Feeds(sync.store).add(url)
        let id = try Feeds(sync.store).find(url).id
        sync.transport.script(url, moved(to: target, from: url))
        try await sync.sync(id)
        #expect(try Feeds(sync.store).find(url).feed.learnedURL == (isLearned ? target : nil))
      }
    }
  }

  @Test(arguments: [404, 410])
  func aLearnedURLThatIsGoneIsDroppedAndTheOperatorsURLIsUsed(
    _ status: Int
  ) async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).update(sync.feedID) { [target] in $0.learnedURL = target }
      sync.transport.script(target, .status(status))
      _ = try await sync.syncError()
      #expect(try sync.feed.learnedURL == nil && !sync.feed.isPaused)
      sync.serve(.page(page))
      #expect(try await sync.sync().new == 1)
    }
  }

  @Test func aLearnedURLThatRepeatedlyReturnsNoFeedIsDropped() async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).update(sync.feedID) { [target] in $0.learnedURL = target }
      for errors in 1...SyncLimits.learnedErrorsMax {
        sync.transport.script(target, errors == 2 ? .page("<html>") : .status(500))
        _ = try await sync.syncError()
        #expect(try (sync.feed.learnedURL == nil) == (errors == SyncLimits.learnedErrorsMax))
      }
    }
  }

  @Test func unrelatedFailuresDoNotCountAgainstALearnedURL() async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).update(sync.feedID) { [target] in $0.learnedURL = target }
      for code in [HTTPError.Code.unreachable, .timeout, .tls] {
        sync.transport.script(target, .failure(HTTPError(code, "the test")))
        for _ in 0..<SyncLimits.learnedErrorsMax {
          await #expect(throws: HTTPError.self) { try await sync.sync() }
        }
      }
      for status in [401, 403, 429, 503] {
        sync.transport.script(target, .status(status))
        for _ in 0..<SyncLimits.learnedErrorsMax {
          await #expect(throws: SyncError.self) { try await sync.sync(ignoresWait: true) }
        }
      }
      #expect(try sync.feed.learnedURL == target && sync.feed.errors == 35)
      // Nor do failures before a good answer.
      for _ in 0..<2 {
        sync.transport.script(target, .status(500))
        for _ in 1..<SyncLimits.learnedErrorsMax {
          await #expect(throws: SyncError.self) { try await sync.sync(ignoresWait: true) }
        }
        sync.transport.script(target, .page(page))
        try await sync.sync(ignoresWait: true)
      }
      #expect(try sync.feed.learnedURL == target)
    }
  }

  @Test func aFeedThatMovedToHTTPSIsNotRequestedOverHTTPUnlessItIsGone() async throws {
    try await withSync { sync async throws in
      let (old, new) = ("http://feed.example/other", "https://feed.example/other")
      try await Feeds(sync.store).add(old)
      let id = try Feeds(sync.store).find(old).id
      try await Feeds(sync.store).update(id) { $0.learnedURL = new }
      sync.transport.script(new, .status(500))
      for _ in 0..<2 * SyncLimits.learnedErrorsMax {
        await #expect(throws: SyncError.self) { try await sync.sync(id) }
      }
      #expect(try Feeds(sync.store).find(old).feed.learnedURL == new)
      sync.transport.script(new, .status(404))
      await #expect(throws: SyncError.self) { try await sync.sync(id) }
      #expect(try Feeds(sync.store).find(old).feed.learnedURL == nil)
    }
  }

  @Test func aLearnedURLMayNotLeadToAPrivateAddress() async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).update(sync.feedID) { [target] in $0.learnedURL = target }
      sync.transport.script(target, .page(page))
      try await sync.sync()
      #expect(sync.transport.takeRequests().map(\.allowsPrivateAddresses) == [false])
      // Of the own network its server's word counts as the operator's.
      let own = "http://nas.local/feed"
      try await Feeds(sync.store).add(own)
      let id = try Feeds(sync.store).find(own).id
      try await Feeds(sync.store).update(id) { [target] in $0.learnedURL = target }
      try await sync.sync(id)
      #expect(sync.transport.takeRequests().map(\.allowsPrivateAddresses) == [true])
    }
  }

  // MARK: Validators of a feed that has moved

  @Test func validatorsAreSentOnlyToTheURLThatGaveThem() async throws {
    try await withSync { sync async throws in
      sync.serve(moved([302], to: target, [("ETag", "\"new\"")]))
      try await sync.sync()
      let conditions = try sync.feed.conditions(since: nil)
      #expect(conditions == HTTPConditions(url: target, etag: "\"new\""))
      _ = sync.transport.takeRequests()
      sync.serve(
        .response(
          status: 304, redirects: [.init(status: 302, from: SyncFixture.url, to: target)]))
      #expect(try await sync.sync().outcome == .notModified)
      #expect(sync.transport.takeRequests().map(\.conditions) == [conditions])
      // Without the redirect the validators are not sent, so that a 304 is one nobody asked for.
      sync.serve(.status(304))
      #expect(try await sync.syncError().code == .unaskedNotModified)
    }
  }
}
