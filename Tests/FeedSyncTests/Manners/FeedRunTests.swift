import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct FeedRunTests {
  private let page = HomeFeedText.full(.init("a", 1))

  @Test func runsAreStoredWithTheirCountsNewestFirst() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page))
      try await sync.sync()
      sync.clock.advance(by: 60)
      sync.serve(.status(500))
      let error = try await sync.syncError()
      let runs = try Feeds(sync.store).runs(of: sync.feedID)
      #expect(runs.map(\.outcome) == ["failed", "synced"])
      #expect(runs[0].error == error.description && runs[1].error == nil)
      #expect(runs[0].startedAt == sync.clock.now)
      #expect(try runs[1].report.new == 1 && runs[1].report.requests == 1)
    }
  }

  @Test func aReportOfAnOlderProgramIsReadWithoutTheMissingCounts() throws {
    let old = Data(#"{"feed":"https://a.example/","new":3,"outcome":"incomplete"}"#.utf8)
    let report = try JSONDecoder().decode(SyncReport.self, from: old)
    #expect(report.new == 3 && report.outcome == .incomplete && report.faults == 0)
    var full = SyncReport(feed: "https://a.example/")
    full.typeChanges = ["title": 2]
    full.rejections = [.init(id: "a", reason: "r")]
    (full.absent, full.isResumed, full.mode) = (1, true, "full")
    let text = try JSONEncoder.sorted.encode(full)
    let again = try JSONDecoder().decode(SyncReport.self, from: text)
    #expect(try JSONEncoder.sorted.encode(again) == text)
  }

  @Test func aStoredRunKeepsTheFirstRemarkAndTheNumberOfAll() throws {
    var report = SyncReport(feed: "https://a.example/")
    #expect(report.firstRemark == nil)
    for id in ["a", nil, "c"] { report.reject(id, "no title") }
    let now = Date(timeIntervalSince1970: 0)
    let stored = try FeedRun(feedID: 1, startedAt: now, endedAt: now, report).report
    #expect(stored.rejections.count == 1 && stored.rejected == 3)
    #expect(stored.firstRemark == "a: no title (and 2 more)")
  }

  @Test func anUnusableLockIsNotReportedAsABusyFeed() async throws {
    try await withSync { sync async throws in
      let path = sync.store.folder + "/sync-\(sync.feedID).lock"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      let error = try await sync.syncError()
      #expect(error.description.contains(path), "\(error)")
      #expect(error.code != .busy)
    }
  }

  @Test func aFailedRunCountsItsRequestsHoweverItFails() async throws {
    try await withSync { sync async throws in
      var cut = HTTPError(.truncated, SyncFixture.url)
      (cut.requests, cut.wireBytes) = (3, 70)
      let answers: [(ScriptedTransport.Answer, Int, Int, String?)] = [
        (.failure(cut), 3, 70, "truncated"), (.status(404), 1, 0, "notFound"),
        (.page("no feed"), 1, 7, "badDocument"), (.status(304), 2, 0, "unaskedNotModified"),
      ]
      for (answer, requests, bytes, code) in answers {
        sync.clock.advance(by: 60)
        sync.serve(answer)
        var counts = SyncReport(feed: "")
        await #expect(throws: (any Error).self) {
          try await sync.engine.sync(sync.feedID, failed: { counts = $0 })
        }
        let run = try #require(try Feeds(sync.store).runs(of: sync.feedID).first)
        for report in [counts, try run.report] {
          #expect(report.outcome == .failed && report.errorCode == code)
          #expect(report.requests == requests && report.bytes == bytes, "\(code ?? "")")
        }
        #expect(counts.error == run.error && run.error != nil)
        #expect(counts.errorStatus == (code == "notFound" ? 404 : nil))
      }
    }
  }

  @Test func theRequestsOfThePagesBeforeAFailureCount() async throws {
    try await withSync { sync async throws in
      let pages = HomeFeedText.pages([[.init("a", 1)], [.init("b", 1)]], url: SyncFixture.url)
      sync.serve(pages)
      sync.transport.script(pages[1].url, .status(500))
      _ = try await sync.syncError()
      #expect(try Feeds(sync.store).runs(of: sync.feedID).first?.report.requests == 2)
    }
  }

  @Test func onlyTheLastTwentyAreKept() async throws {
    try await withSync { sync async throws in
      sync.serve(.status(500))
      for _ in 0..<25 {
        sync.clock.advance(by: 60)
        _ = try await sync.syncError()
      }
      let runs = try Feeds(sync.store).runs(of: sync.feedID)
      #expect(runs.count == SyncLimits.runsKept)
      #expect(runs.first?.startedAt == sync.clock.now)
      #expect(try sync.store.read { try $0.count(of: "_FeedRun") } == SyncLimits.runsKept)
    }
  }

  @Test func aFeedThatIsGoneIsReportedUntilItIsResumed() async throws {
    try await withSync { sync async throws in
      sync.serve(.status(410))
      #expect(try await sync.syncError().code == .gone)
      #expect(try sync.feed.goneAt == sync.clock.now && sync.feed.isPaused)
      let error = try await sync.syncError()
      #expect(error.code == .paused && error.description.contains("gone for good"))
      #expect(FeedTiming().next(try sync.feed, .init(lastRun: nil, now: sync.clock.now)) == nil)
      try await Feeds(sync.store).resume(sync.feedID)
      sync.serve(.page(page))
      #expect(try await sync.sync().new == 1)
      #expect(try sync.feed.goneAt == nil && sync.feed.lastStatus == nil)
    }
  }

  @Test func resumingDoesNotShortenWhatTheServerHasAskedFor() async throws {
    try await withSync { sync async throws in
      sync.serve(.response(status: 503, retryAfter: 3_600))
      _ = try await sync.syncError()
      try await Feeds(sync.store).resume(sync.feedID)
      #expect(try await sync.syncError().code == .waiting)
    }
  }
}

extension JSONEncoder {
  fileprivate static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }
}
