import EntityModel
import EntityStore
import Foundation
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct HostTests {
  private let page = HomeFeedText.full(.init("a", 1))
  private let other = "https://feed.example/other"

  /// Runs `body` with a second feed of the same host, and its number.
  private func withTwoFeeds(
    _ body: (SyncFixture, Int64) async throws -> Void
  ) async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).add(other)
      sync.transport.script(other, .page(page))
      try await body(sync, try Feeds(sync.store).find(other).id)
    }
  }

  @Test func a429OfOneFeedAppliesToAllFeedsOfItsHostInAllProcesses() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.response(status: 429, retryAfter: 3_600))
      #expect(try await sync.syncError().code == .waiting)
      _ = sync.transport.takeRequests()
      sync.clock.advance(by: 3_500)
      let error = try await #require(throws: SyncError.self) { try await sync.sync(otherID) }
      #expect(error.code == .waiting && error.description.contains("host"))
      #expect(sync.transport.takeRequests().isEmpty)
      #expect(try Feeds(sync.store).find(other).feed.errors == 0, "it has not failed")
      sync.clock.advance(by: 101)
      #expect(try await sync.sync(otherID).new == 1)
    }
  }

  @Test func a503AppliesToItsFeedOnly() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.response(status: 503, retryAfter: 3_600))
      #expect(try await sync.syncError().code == .waiting)
      #expect(try await sync.sync(otherID).new == 1)
    }
  }

  @Test func a429WithoutATimeCausesAWaitOfTenMinutes() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.status(429))
      _ = try await sync.syncError()
      sync.clock.advance(by: 599)
      await #expect(throws: SyncError.self) { try await sync.sync() }
      await #expect(throws: SyncError.self) { try await sync.sync(otherID) }
      sync.clock.advance(by: 2)
      #expect(try await sync.sync(otherID).new == 1)
    }
  }

  @Test func aWaitOfAWeekIsNotClampedDown() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.response(status: 429, retryAfter: 30 * 86_400))
      _ = try await sync.syncError()
      sync.clock.advance(by: 7 * 86_400 - 1)
      await #expect(throws: SyncError.self) { try await sync.sync() }
      await #expect(throws: SyncError.self) { try await sync.sync(otherID) }
      sync.clock.advance(by: 1)
      #expect(try await sync.sync(otherID).new == 1)
    }
  }

  @Test func aSuccessfulRunThatIgnoresTheWaitClearsTheHostsWait() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.response(status: 429, retryAfter: 3_600))
      _ = try await sync.syncError()
      #expect(try await sync.sync(otherID, ignoresWait: true).new == 1)
      sync.serve(.page(page))
      let error = try await sync.syncError()
      #expect(error.code == .waiting, "the feed itself was asked to wait")
      #expect(try await sync.sync(otherID).outcome == .notModified)
    }
  }

  @Test func waitsFromBeforeTheClockWasSetBackAreRemoved() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.response(status: 429, retryAfter: 3_600))
      _ = try await sync.syncError()
      sync.clock.advance(by: -3 * 86_400)
      // Whatever the answer is, the next wait is counted from the new time.
      sync.serve(.status(500))
      #expect(try await sync.syncError().code == .badStatus)
      #expect(try sync.feed.waitUntil == nil)
      #expect(try await sync.sync(otherID).new == 1)
    }
  }

  @Test func expiredWaitsOfHostsAreRemoved() async throws {
    try await withSync { sync async throws in
      for number in 0..<5 {
        let host = "host\(number).example"
        let until = sync.clock.now.addingTimeInterval(100)
        try await sync.store.write { [now = sync.clock.now] in
          try Hosts.record(host, waitUntil: until, now: now, in: $0)
        }
        sync.clock.advance(by: 101)
      }
      #expect(try sync.store.read { try $0.count(of: "_Host") } == 1)
    }
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("::1", true), ("[fe80::1]", true), ("192.168.1.2", true),
    ("localhost", true), ("nas", true), ("nas.local", true), ("a.home.arpa", true),
    ("8.8.8.8", false), ("feed.example", false), ("local.example", false),
    ("mylocalhost.example", false),
  ])
  func aHostOfThePrivateNetworkIsRecognizedByItsName(_ host: String, _ isPrivate: Bool) {
    #expect(Hosts.isPrivate(host) == isPrivate)
  }

  @Test func theLaterOfTwoWaitsOfAHostCounts() async throws {
    try await withSync { sync async throws in
      let now = sync.clock.now
      for (wait, latest) in [(500.0, 500.0), (90, 500), (700, 700)] {
        try await sync.store.write {
          try Hosts.record(
            "a.example", waitUntil: now.addingTimeInterval(wait), now: now, in: $0)
        }
        let until = try sync.store.read { try Hosts.wait(for: "a.example", in: $0) }
        #expect(until == now.addingTimeInterval(latest))
      }
      // One beyond all bounds is of a clock that was wrong.
      let past = now.addingTimeInterval(-1_000_000)
      try await sync.store.write {
        try Hosts.record("a.example", waitUntil: past.addingTimeInterval(60), now: past, in: $0)
      }
      let until = try sync.store.read { try Hosts.wait(for: "a.example", in: $0) }
      #expect(until == past.addingTimeInterval(60))
    }
  }

  @Test func a429WithAWaitOfZeroCausesAWaitOfAMinute() async throws {
    try await withSync { sync async throws in
      sync.serve(.response(status: 429, retryAfter: 0))
      _ = try await sync.syncError()
      #expect(try sync.feed.waitUntil == sync.clock.now.addingTimeInterval(60))
    }
  }

  @Test(arguments: [true, false])
  func aRunThatWaitedForItsTurnChecksAgainWhetherItMayStart(_ isPaused: Bool) async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.page(page))
      let (store, clock, feedID) = (sync.store, sync.clock, sync.feedID)
      try await sync.sync()
      _ = sync.transport.takeRequests()
      var waiting = SyncEngine(store: store, transport: sync.transport, now: { clock.now })
      waiting.sleep = { wait in
        clock.advance(by: wait / .seconds(1))
        if isPaused {
          return try await Feeds(store).update(otherID) { $0.isPaused = true }
        }
        let until = clock.now.addingTimeInterval(500)
        try await store.write {
          try Hosts.record("feed.example", waitUntil: until, now: clock.now, in: $0)
        }
      }
      let engine = waiting
      let error = try await #require(throws: SyncError.self) { try await engine.sync(otherID) }
      #expect(error.code == (isPaused ? .paused : .waiting))
      #expect(sync.transport.takeRequests().isEmpty)
      #expect(Feeds(store).lastRun(of: otherID) == nil && feedID != otherID)
    }
  }

  // MARK: Spacing

  @Test func startsAtOneHostAreSpacedAndThoseAtOtherHostsAreNot() {
    let pace = HostPace()
    let now = Date(timeIntervalSince1970: 1_000_000)
    func reserve(_ host: String, others: [Double] = [], after: Double = 0) -> Double {
      pace.reserve(
        host, spacing: .seconds(2), others: others.map { now.addingTimeInterval($0) },
        now: now.addingTimeInterval(after)
      ).timeIntervalSince(now)
    }
    #expect(reserve("a") == 0)
    #expect(reserve("a") == 2)
    #expect(reserve("b") == 0)
    #expect(reserve("a", after: 1) == 4)
    #expect(reserve("a", after: 10) == 10)
    #expect(reserve("a", after: 9) == 12, "that is no step of the clock")
    #expect(reserve("a", after: -500_000) == -500_000, "the clock was set back")
    // Another process has asked a second ago.
    #expect(reserve("c", others: [-50, -1]) == 1)
    #expect(reserve("d", others: [1_000]) == 0, "a clock that was wrong holds up nobody")
  }

  @Test func aRunWaitsForItsTurnAtAPublicHost() async throws {
    try await withTwoFeeds { sync, otherID async throws in
      sync.serve(.page(page))
      let before = sync.clock.now
      try await sync.sync()
      #expect(sync.clock.now == before)
      // Another engine is another process: it knows only what the store's folder tells.
      try await sync.sync(otherID)
      #expect(abs(sync.clock.now.timeIntervalSince(before) - 2) < 0.01)
      let last = try #require(Feeds(sync.store).lastRun(of: otherID))
      #expect(abs(last.at.timeIntervalSince(before) - 2) < 0.01)
    }
  }
}
