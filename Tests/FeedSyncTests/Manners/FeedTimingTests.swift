import Foundation
import TestSupport
import Testing

@testable import FeedSync

@Suite struct FeedTimingTests {
  private let now = Date(timeIntervalSince1970: 1_795_168_800)

  private func feed(_ change: (inout Feed) -> Void = { _ in }) -> Feed {
    var feed = Feed(
      url: "https://feed.example/home", entity: "Episode", addedAt: now.addingTimeInterval(-5_000))
    change(&feed)
    return feed
  }

  private func asked(
    _ ago: Double, hasEnded: Bool = true, hostWait: Double? = nil
  ) -> FeedTiming.Circumstances {
    .init(
      lastRun: LastRun(at: now.addingTimeInterval(-ago), hasEnded: hasEnded),
      hostWait: hostWait.map { now.addingTimeInterval($0) }, now: now)
  }

  // MARK: Promises

  @Test func aFeedIsFreshExactlyUntilItsPromiseEnds() {
    let fresh = feed { $0.freshFor = 900 }
    #expect(
      FeedTiming.promise(fresh, asked(899))
        == NextRun(at: now.addingTimeInterval(1), reason: .fresh))
    #expect(FeedTiming.promise(fresh, asked(900)) == nil)
    #expect(FeedTiming.promise(feed(), asked(0)) == nil, "nothing was promised")
  }

  @Test func onlyASuccessfulRunCanBeFresh() {
    #expect(FeedTiming.promise(feed { $0.freshFor = 900 }, asked(1, hasEnded: false)) == nil)
    let failed = feed {
      $0.freshFor = 900
      $0.errors = 1
    }
    #expect(FeedTiming.promise(failed, asked(1)) == nil)
    #expect(FeedTiming.promise(feed { $0.freshFor = 900 }, .init(lastRun: nil, now: now)) == nil)
  }

  @Test func theLastOfAllPromisesCounts() {
    let waiting = feed {
      $0.freshFor = 900
      $0.waitUntil = now.addingTimeInterval(50)
    }
    #expect(FeedTiming.promise(waiting, asked(600))?.reason == .fresh)
    #expect(FeedTiming.promise(waiting, asked(880))?.reason == .waiting)
    let both = FeedTiming.promise(waiting, asked(600, hostWait: 5_000))
    #expect(both == NextRun(at: now.addingTimeInterval(5_000), reason: .hostWaiting))
  }

  @Test func aServerMayAskForAWeekAndWhatIsBeyondComesFromAWrongClock() {
    let week = 7 * 86_400.0
    #expect(
      FeedTiming.promise(feed { $0.waitUntil = now.addingTimeInterval(week) }, asked(0))?.at
        == now.addingTimeInterval(week))
    #expect(
      FeedTiming.promise(feed { $0.waitUntil = now.addingTimeInterval(week + 1) }, asked(0)) == nil)
    #expect(FeedTiming.promise(feed(), asked(0, hostWait: week + 1)) == nil)
    #expect(
      FeedTiming.promise(feed { $0.freshFor = 900 }, asked(-1_000_000)) == nil,
      "the last run began in the future")
  }

  @Test func noWaitOutlastsAClockThatWasSetBackFar() {
    let days = 3 * 86_400.0
    let waiting = feed { $0.waitUntil = now.addingTimeInterval(days + 60) }
    #expect(FeedTiming.promise(waiting, asked(-days)) == nil)
    #expect(FeedTiming.promise(feed(), asked(-days, hostWait: days + 60)) == nil)
    #expect(FeedTiming().next(waiting, asked(-days)) == NextRun(at: now, reason: .clock))
    // A clock that is a little late until it is set again does not end it.
    #expect(FeedTiming.promise(waiting, asked(-600))?.reason == .waiting)
  }

  // MARK: The schedule

  @Test func theNextRunIsAfterThePromiseWithAJitterForEachFeed() throws {
    let timing = FeedTiming(interval: .seconds(900), jitter: 0.1)
    var waits: Set<Double> = []
    for number in 0..<100 {
      var feed = feed { $0.freshFor = 36_000 }
      feed.url = "https://feed.example/\(number)"
      let next = try #require(timing.next(feed, asked(0)))
      #expect(next.reason == .fresh)
      let wait = next.at.timeIntervalSince(now)
      #expect((36_000..<39_600).contains(wait), "never shorter than the promise")
      waits.insert(wait)
    }
    #expect(waits.count > 90)
  }

  @Test func failuresDoubleTheBoundOfTheWaitAndTheWaitIsDrawnWithinIt() throws {
    for (status, cap) in [(nil, 86_400.0), (500, 86_400), (404, 7 * 86_400.0)] as [(Int64?, Double)]
    {
      for errors in [1, 2, 3, 8, 11, 14, 20, 1_000, Int64.max] {
        let bound = min(60 * pow(2, Double(min(errors - 1, 30))), cap)
        let waits = try (0..<200).map { number in
          var failing = feed {
            $0.errors = errors
            $0.lastStatus = status
          }
          failing.url = "https://feed.example/\(number)"
          let next = try #require(FeedTiming().next(failing, asked(0)))
          #expect(next.reason == .failing)
          return next.at.timeIntervalSince(now)
        }
        #expect(waits.allSatisfy { (60...max(60, bound)).contains($0) })
        if bound > 1_000 {
          #expect(waits.contains { $0 > bound * 0.9 } && waits.contains { $0 < bound * 0.2 })
        }
      }
    }
  }

  @Test func aStepOfTheClockIsCorrectedAtOnce() throws {
    let next = try #require(FeedTiming().next(feed(), asked(-1_000_000)))
    #expect(next == NextRun(at: now, reason: .clock))
    // A feed that was added in the future is new all the same.
    let late = feed { $0.addedAt = now.addingTimeInterval(1_000_000) }
    #expect(
      FeedTiming().next(late, .init(lastRun: nil, now: now)) == NextRun(at: now, reason: .new))
  }
}
