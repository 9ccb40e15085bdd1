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

  /// Seconds from the last run until the feed is due.
  private func wait(_ plan: FeedPlan, _ feed: Feed, ago: Double = 100) throws -> Double {
    let last = now.addingTimeInterval(-ago)
    let entry = try #require(plan.entry(1, feed, lastRun: last, now: now))
    return entry.dueAt.timeIntervalSince(last)
  }

  // MARK: When a feed is due

  @Test func aFeedThatHasNeverRunIsDueSinceItWasAdded() throws {
    let feed = feed()
    let entry = try #require(plan(jitter: 1).entry(7, feed, lastRun: nil, now: now))
    #expect(entry == .init(feed: 7, host: "feed.example", dueAt: feed.addedAt))
  }

  @Test func aFeedIsDueAfterItsOwnIntervalOrTheUsualOne() throws {
    #expect(try wait(plan(interval: 900), feed()) == 900)
    #expect(try wait(plan(interval: 900), feed { $0.every = 60 }) == 60)
    #expect(try wait(plan(interval: 900), feed { $0.every = 7_200 }) == 7_200)
  }

  @Test func aFeedThatIsPausedOrRemovedIsLeftAlone() {
    for lastRun in [nil, now] {
      let paused = feed { $0.isPaused = true }
      #expect(plan().entry(1, paused, lastRun: lastRun, now: now) == nil)
      let removed = feed { $0.isRemoved = true }
      #expect(plan().entry(1, removed, lastRun: lastRun, now: now) == nil)
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

  @Test func theJitterIsAnotherOneForEachFeedAndEachRun() throws {
    let plan = plan(interval: 1_000, jitter: 1)
    let one = feed("https://feed.example/1")
    let waits = try (0..<50).map { try wait(plan, one, ago: Double($0)) }
    #expect(Set(waits).count > 45)
    let others = try (0..<50).map { try wait(plan, feed("https://feed.example/\($0)")) }
    #expect(Set(others).count > 45)
  }

  @Test func errorsDoubleTheIntervalUpToADay() throws {
    let waits = try (0...9).map { errors in try wait(plan(), feed { $0.errors = errors }) }
    #expect(waits == [900, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400, 86_400])
    for errors in [17, 1_000, Int64.max] {
      #expect(try wait(plan(), feed { $0.errors = errors }) == 86_400)
      #expect(try wait(plan(interval: 1), feed { $0.errors = errors }) <= 86_400)
    }
    #expect(try wait(plan(), feed { $0.errors = -1 }) == 900)
  }

  @Test func anIntervalOfMoreThanADayIsKeptToWithErrors() throws {
    let rare = feed {
      $0.every = 200_000
      $0.errors = 12
    }
    #expect(try wait(plan(), rare) == 200_000)
  }

  @Test func aServerThatAsksToWaitIsNotAskedBefore() throws {
    let until = now.addingTimeInterval(5_000)
    let waiting = feed { $0.waitUntil = until }
    #expect(plan().entry(1, waiting, lastRun: nil, now: now)?.dueAt == until)
    #expect(plan().entry(1, waiting, lastRun: now, now: now)?.dueAt == until)
    // One that asked for less than the interval changes nothing.
    let soon = feed { $0.waitUntil = now.addingTimeInterval(5) }
    #expect(try wait(plan(), soon) == 900)
  }

  @Test func aClockThatWasSetBackPutsNoFeedOff() throws {
    let lastRun = now.addingTimeInterval(1_000_000)
    let entry = try #require(plan().entry(1, feed(), lastRun: lastRun, now: now))
    #expect(entry.dueAt == now.addingTimeInterval(900))
  }

  // MARK: The feeds of one host

  @Test func theFeedsOfOneHostStartOneAfterTheOtherAndThoseOfOthersAtOnce() {
    let due = [("b", 3), ("a", 2), ("a", 1), ("a", 4)].map { host, feed in
      FeedPlan.Entry(
        feed: Int64(feed), host: host, dueAt: now.addingTimeInterval(Double(feed) - 100))
    }
    var taken: [String: Date] = [:]
    let starts = plan(hostSpacing: 2).starts(of: due, now: now, taken: &taken)
    #expect(starts.map(\.entry.feed) == [1, 2, 3, 4])
    #expect(starts.map { $0.at.timeIntervalSince(now) } == [0, 2, 0, 4])
    #expect(taken["a"] == now.addingTimeInterval(6) && taken["b"] == now.addingTimeInterval(2))
  }

  @Test func startsOfOneHostKeepTheirDistanceWhenMoreBecomesDue() {
    var random = SeededRandom(seed: testSeed(2))
    for _ in 0..<200 {
      let spacing = Double(Int.random(in: 0...10, using: &random))
      let plan = plan(hostSpacing: spacing)
      var taken: [String: Date] = [:]
      var starts: [String: [Date]] = [:]
      var time = now
      for _ in 0..<5 {
        let due = (0..<Int.random(in: 0...8, using: &random)).map { _ in
          FeedPlan.Entry(
            feed: Int64.random(in: 1...20, using: &random),
            host: ["a", "b", "c"].randomElement(using: &random) ?? "a",
            dueAt: time.addingTimeInterval(-Double(Int.random(in: 0...50, using: &random))))
        }
        let planned = plan.starts(of: due, now: time, taken: &taken)
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

  @Test func whoIsDueFirstStartsFirstAndHostsThatAreFreeAreForgotten() {
    var random = SeededRandom(seed: testSeed(3))
    var taken = ["gone": now, "busy": now.addingTimeInterval(7)]
    let due = (0..<20).map { number in
      FeedPlan.Entry(
        feed: Int64(number), host: "busy",
        dueAt: now.addingTimeInterval(-Double(Int.random(in: 0...5, using: &random))))
    }.shuffled(using: &random)
    let starts = plan(hostSpacing: 1).starts(of: due, now: now, taken: &taken)
    let order = starts.map { ($0.entry.dueAt, $0.entry.feed) }
    #expect(zip(order, order.dropFirst()).allSatisfy { $0 < $1 })
    #expect(starts.first?.at == now.addingTimeInterval(7))
    #expect(taken == ["busy": now.addingTimeInterval(27)])
  }

  @Test func aHostIsOneHoweverItIsWritten() throws {
    let hosts = try ["https://Feed.Example/a", "http://feed.example:8080/b"].map { url in
      try #require(plan().entry(1, feed(url), lastRun: nil, now: now)).host
    }
    #expect(hosts == ["feed.example", "feed.example"])
  }
}
