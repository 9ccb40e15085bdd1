import Foundation
import TestSupport
import Testing

@testable import FeedSync
@testable import WorkerService

@Suite struct FeedPlanTests {
  private let now = Date(timeIntervalSince1970: 1_795_168_800)

  private func plan(
    interval: Int = 900, jitter: Double = 0, hostSpacing: Double = 2
  ) -> FeedPlan {
    FeedPlan(interval: .seconds(interval), jitter: jitter, hostSpacing: .seconds(hostSpacing))
  }

  private func feed(
    _ url: String = "https://feed.example/home", _ change: (inout Feed) -> Void = { _ in }
  ) -> Feed {
    var feed = Feed(url: url, entity: "Episode", addedAt: now.addingTimeInterval(-5_000))
    change(&feed)
    return feed
  }

  private func circumstances(_ lastRun: Date?) -> FeedTiming.Circumstances {
    .init(lastRun: lastRun.map { LastRun(at: $0, hasEnded: true) }, now: now)
  }

  /// Seconds from the last run until the feed is due.
  private func wait(_ plan: FeedPlan, _ feed: Feed, ago: Double = 100) throws -> Double {
    let last = now.addingTimeInterval(-ago)
    let entry = try #require(plan.entry(1, feed, circumstances(last)))
    return entry.dueAt.timeIntervalSince(last)
  }

  // MARK: When a feed is due

  @Test func aFeedThatHasNeverRunIsDueSinceItWasAdded() throws {
    let feed = feed()
    let entry = try #require(plan(jitter: 1).entry(7, feed, circumstances(nil)))
    #expect(entry == .init(feed: 7, host: "feed.example", dueAt: feed.addedAt))
  }

  @Test func aFeedIsDueAfterItsOwnIntervalOrTheDefault() throws {
    #expect(try wait(plan(interval: 900), feed()) == 900)
    #expect(try wait(plan(interval: 900), feed { $0.every = 60 }) == 60)
    #expect(try wait(plan(interval: 900), feed { $0.every = 7_200 }) == 7_200)
  }

  @Test func aFeedThatIsPausedOrRemovedIsNotSynced() {
    for lastRun in [nil, now] {
      let paused = feed { $0.isPaused = true }
      #expect(plan().entry(1, paused, circumstances(lastRun)) == nil)
      let removed = feed { $0.isRemoved = true }
      #expect(plan().entry(1, removed, circumstances(lastRun)) == nil)
    }
  }

  @Test func theJitterIsAPartOfTheIntervalAndStaysUntilTheNextRun() throws {
    var random = SeededRandom(seed: testSeed(1))
    var shares: [Double] = []
    for number in 0..<2_000 {
      let interval = Int.random(in: 1...100_000, using: &random)
      let jitter = Double.random(in: 0.01...1, using: &random)
      let plan = plan(interval: interval, jitter: jitter)
      let feed = feed("https://feed.example/\(number)")
      let ago = Double(Int.random(in: 0...1_000_000, using: &random))
      let added = try wait(plan, feed, ago: ago) - Double(interval)
      let most = Double(interval) * jitter
      #expect(added >= -0.001 && added < most + 0.001, "MOORING_SEED=\(random.seed)")
      #expect(try wait(plan, feed, ago: ago) - Double(interval) == added)
      shares.append(added / most)
    }
    // All over the interval: no tenth of it has twice its part, or half of it.
    for tenth in 0..<10 {
      let count = shares.count { Int($0 * 10) == tenth }
      #expect((100...400).contains(count), "MOORING_SEED=\(random.seed)")
    }
  }

  @Test func theJitterDiffersForEachFeedAndEachRun() throws {
    let plan = plan(interval: 1_000, jitter: 1)
    let one = feed("https://feed.example/1")
    let waits = try (0..<50).map { try wait(plan, one, ago: Double($0)) }
    #expect(Set(waits).count > 45)
    let others = try (0..<50).map { try wait(plan, feed("https://feed.example/\($0)")) }
    #expect(Set(others).count > 45)
  }

  @Test func overdueFeedsAreSpreadAfterTheStart() throws {
    let plan = plan(interval: 900)
    let overdue = circumstances(now.addingTimeInterval(-100_000))
    let delays = try (0..<500).map { number in
      let feed = feed("https://feed.example/\(number)")
      let entry = try #require(plan.entry(1, feed, overdue, begin: now))
      #expect(entry == plan.entry(1, feed, overdue, begin: now))
      return entry.dueAt.timeIntervalSince(now)
    }
    #expect(delays.allSatisfy { (0..<900).contains($0) })
    for tenth in 0..<10 {
      #expect((20...100).contains(delays.count { Int($0 / 90) == tenth }))
    }
    // What has never been asked, or becomes due later, needs no spreading.
    #expect(plan.entry(1, feed(), circumstances(nil), begin: now)?.dueAt == feed().addedAt)
    let due = try #require(plan.entry(1, feed(), circumstances(now), begin: now))
    #expect(due.dueAt == now.addingTimeInterval(900))
  }

  @Test func noFeedIsDueBeforeRetryAfter() throws {
    let until = now.addingTimeInterval(5_000)
    let waiting = feed { $0.waitUntil = until }
    #expect(plan().entry(1, waiting, circumstances(nil))?.dueAt == until)
    #expect(plan().entry(1, waiting, circumstances(now))?.dueAt == until)
    // One that asked for less than the interval changes nothing.
    let soon = feed { $0.waitUntil = now.addingTimeInterval(5) }
    #expect(try wait(plan(), soon) == 900)
  }

  @Test func aClockThatWasSetBackDelaysNoFeed() throws {
    let lastRun = now.addingTimeInterval(1_000_000)
    let entry = try #require(plan().entry(1, feed(), circumstances(lastRun)))
    // And not from one look to the next, for as long as the clock is behind.
    #expect(entry.dueAt == now)
  }

  // MARK: The feeds of one host

  @Test func theFeedsOfOneHostStartOneAfterTheOtherAndThoseOfOthersAtOnce() {
    let due = [("b", 3), ("a", 2), ("a", 1), ("a", 4)].map { host, feed in
      FeedPlan.Entry(
        feed: Int64(feed), host: host, dueAt: now.addingTimeInterval(Double(feed) - 100))
    }
    var turns = HostTurns()
    let starts = plan(hostSpacing: 2).starts(of: due, now: now, turns: &turns)
    #expect(starts.map(\.entry.feed) == [1, 2, 3, 4])
    #expect(starts.map { $0.at.timeIntervalSince(now) } == [0, 2, 0, 4])
    #expect(
      turns.free["a"] == now.addingTimeInterval(6) && turns.free["b"] == now.addingTimeInterval(2))
  }

  @Test func startsOfOneHostKeepTheirDistanceWhenMoreBecomesDue() {
    var random = SeededRandom(seed: testSeed(2))
    for _ in 0..<200 {
      let spacing = Double(Int.random(in: 0...10, using: &random))
      let plan = plan(hostSpacing: spacing)
      var turns = HostTurns()
      var starts: [String: [Date]] = [:]
      var time = now
      for _ in 0..<5 {
        let due = (0..<Int.random(in: 0...8, using: &random)).map { _ in
          FeedPlan.Entry(
            feed: Int64.random(in: 1...20, using: &random),
            host: ["a", "b", "c"].randomElement(using: &random) ?? "a",
            dueAt: time.addingTimeInterval(-Double(Int.random(in: 0...50, using: &random))))
        }
        let planned = plan.starts(of: due, now: time, turns: &turns)
        #expect(planned.count == due.count)
        #expect(planned.allSatisfy { $0.at >= time })
        for (entry, start) in planned { starts[entry.host, default: []].append(start) }
        time.addTimeInterval(Double(Int.random(in: 0...20, using: &random)))
      }
      for times in starts.values {
        for (one, next) in zip(times, times.dropFirst()) {
          #expect(next.timeIntervalSince(one) >= spacing, "MOORING_SEED=\(random.seed)")
        }
      }
    }
  }

  @Test func theEarliestDueFeedStartsFirstAndIdleHostsAreForgotten() {
    var random = SeededRandom(seed: testSeed(3))
    var turns = HostTurns(free: ["gone": now, "busy": now.addingTimeInterval(7)])
    let due = (0..<20).map { number in
      FeedPlan.Entry(
        feed: Int64(number), host: "busy",
        dueAt: now.addingTimeInterval(-Double(Int.random(in: 0...5, using: &random))))
    }.shuffled(using: &random)
    let starts = plan(hostSpacing: 1).starts(of: due, now: now, turns: &turns)
    let order = starts.map { ($0.entry.dueAt, $0.entry.feed) }
    #expect(zip(order, order.dropFirst()).allSatisfy { $0 < $1 })
    #expect(starts.first?.at == now.addingTimeInterval(7))
    #expect(turns.free == ["busy": now.addingTimeInterval(27)])
  }

  @Test func aHostIsOneHoweverItIsWritten() throws {
    let hosts = try ["https://Feed.Example/a", "http://feed.example:8080/b"].map { url in
      try #require(plan().entry(1, feed(url), circumstances(nil))).host
    }
    #expect(hosts == ["feed.example", "feed.example"])
  }
}
