import EntityModel
import EntityStore
import FeedSync
import Foundation
import Migrations
import TestSupport
import Testing

@testable import DurableJobs
@testable import StoreFigures

@Suite(.timeLimit(.minutes(5))) struct FigureRecorderTests {
  @Test func aRunIsCountedInItsMinuteHourAndDay() async throws {
    try await withFigures { temporary in
      let (clock, recorder) = (temporary.clock, temporary.recorder)
      recorder.record(.made(.synced, new: 2), at: clock.now)
      #expect(try await recorder.flush(to: temporary.store) == .written(feedsLeftOut: 0))
      clock.advance(by: 60)
      recorder.record(.made(.notModified), at: clock.now)
      recorder.record(.failed("timeout"), 2, at: clock.now)
      try await recorder.flush(to: temporary.store)
      let minutes = try temporary.slots(.minute)
      #expect(minutes.map(\.figures.runs) == [1, 2])
      #expect(minutes[1].start == minutes[0].start + 60)
      for resolution in [FigureResolution.hour, .day] {
        let slots = try temporary.slots(resolution)
        #expect(slots.map(\.figures.runs) == [3] && slots[0].figures.newItems == 2)
        #expect(slots[0].figures.errors == ["timeout": 1])
      }
      let since = try temporary.figures {
        try $0.slots(.minute, from: clock.now, to: clock.now).map(\.figures.runs)
      }
      #expect(since == [2])
    }
  }

  @Test func anIdleRecorderCommitsNothing() async throws {
    try await withFigures { temporary in
      var gauges = FigureGauges()
      gauges.feedsLate = 3
      temporary.recorder.set(gauges)
      try await temporary.recorder.flush(to: temporary.store)
      let before = try temporary.store.statistics().lastTransaction
      for minute in 0..<10 {
        temporary.clock.advance(by: 60)
        gauges.storeBytes = Int64(minute)
        gauges.oldestReadySeconds = Int64(minute) * 60
        temporary.recorder.set(gauges)
        #expect(try await temporary.recorder.flush(to: temporary.store) == .nothing)
      }
      #expect(try temporary.store.statistics().lastTransaction == before)
      gauges.feedsLate = 4
      temporary.recorder.set(gauges)
      #expect(try await temporary.recorder.flush(to: temporary.store) != .nothing)
      let last = try #require(try temporary.slots(.day).last)
      #expect(last.figures.gauges == gauges && last.figures.runs == 0)
    }
  }

  @Test func jobsAreCountedByTheirEnds() async throws {
    try await withFigures { temporary in
      let ends: [(JobState?, String?)] = [
        (.succeeded, nil), (.scheduled, "later"), (.ready, nil), (.discarded, "no"),
        (.poisoned, "dead"), (.cancelled, nil), (nil, nil),
      ]
      for (state, error) in ends {
        temporary.recorder.record(
          attempt: EndedAttempt(
            job: JobID(rawValue: 1), kind: "a", queue: "q", attempt: 1, state: state, error: error,
            waited: .zero, ran: .zero))
      }
      try await temporary.recorder.flush(to: temporary.store)
      let figures = try #require(try temporary.slots(.hour).first).figures
      #expect(figures.jobsSucceeded == 1 && figures.jobsRetried == 1 && figures.jobsFailed == 2)
    }
  }

  @Test func aFlushThatFailsIsWrittenByTheNextOne() async throws {
    try await withFigures { temporary in
      let clock = temporary.clock
      let readOnly = try openFigures(
        temporary.folder, clock, temporary.recorder, isReadOnly: true)
      for minute in 0..<200 {
        temporary.recorder.record(.made(.synced, new: 1), Int64(minute % 7), at: clock.now)
        let error = await #expect(throws: StoreError.self) {
          try await temporary.recorder.flush(to: readOnly)
        }
        #expect(error?.code == .readOnly)
        clock.advance(by: 60)
      }
      #expect(try temporary.slots(.day).isEmpty)
      try await temporary.recorder.flush(to: temporary.store)
      let minutes = try temporary.slots(.minute)
      // The oldest minutes have become one.
      #expect(minutes.count == Limits.pendingMinutesMax)
      #expect(minutes.map(\.figures.newItems).reduce(0, +) == 200)
      #expect(try temporary.slots(.day).map(\.figures.runs).reduce(0, +) == 200)
      let feed = try #require(try temporary.figures { try $0.feed(3) })
      #expect(feed.days.days.map(\.runs).reduce(0, +) == 29)
      readOnly.close()
    }
  }

  @Test(arguments: [UInt64(5), 6]) func twoRecordersAddUp(seed: UInt64) async throws {
    try await withFigures(seed: seed) { temporary in
      let other = try temporary.other()
      let clock = temporary.clock
      var random = temporary.random
      var expected: [Int64: Int] = [:]
      for _ in 0..<60 {
        for recorder in [temporary.recorder, other.recorder] {
          for _ in 0..<Int.random(in: 0..<4, using: &random) {
            let feed = Int64.random(in: 1...5, using: &random)
            recorder.record(.made(.synced, new: 1), feed, at: clock.now)
            expected[feed, default: 0] += 1
          }
        }
        async let one = temporary.recorder.flush(to: temporary.store)
        async let two = other.recorder.flush(to: other.store)
        _ = try await (one, two)
        clock.advance(by: Double.random(in: 0..<200, using: &random))
      }
      let all = expected.values.reduce(0, +)
      for resolution in FigureResolution.allCases {
        let slots = try temporary.slots(resolution)
        #expect(slots.map { Int($0.figures.newItems) }.reduce(0, +) == all, "seed \(random.seed)")
        #expect(Set(slots.map(\.start)).count == slots.count)
      }
      for (feed, runs) in expected {
        let days = try #require(try temporary.figures { try $0.feed(feed) }).days.days
        #expect(days.map(\.runs).reduce(0, +) == runs && days.map(\.newItems).reduce(0, +) == runs)
      }
      other.store.close()
    }
  }

  @Test func theTimesOfAFeedFollowItsRuns() async throws {
    try await withFigures { temporary in
      let start = temporary.clock.now
      func brief() throws -> FeedFigures.Brief {
        var briefs: [FeedFigures.Brief] = []
        try temporary.figures { try $0.eachFeed { briefs.append($0) } }
        return try #require(briefs.first)
      }
      let recorder = temporary.recorder
      func run(_ report: SyncReport, flushes: Bool = true) async throws {
        temporary.clock.advance(by: 60)
        recorder.record(report, at: temporary.clock.now)
        if flushes { try await recorder.flush(to: temporary.store) }
      }
      try await run(.failed("timeout"))
      try await run(.failed("timeout"))
      var now = try brief()
      #expect(now.askedAt == start + 120 && now.failedSince == start + 60 && now.succeededAt == nil)
      try await run(.made(.notModified))
      now = try brief()
      #expect(
        now.askedAt == start + 180 && now.failedSince == nil && now.succeededAt == start + 180)
      // A success between two failures of one flush.
      try await run(.failed("timeout"))
      try await run(.made(.synced), flushes: false)
      try await run(.failed("timeout"), flushes: false)
      try await run(.failed("timeout"))
      now = try brief()
      #expect(now.succeededAt == start + 300 && now.failedSince == start + 360)
      let feed = try #require(try temporary.figures { try $0.feed(now.id) })
      #expect(feed.askedAt == start + 420 && feed.days.days.map(\.failures) == [5])
      #expect(try temporary.figures { try $0.feed(99) } == nil)
    }
  }

  @Test func theFiguresOfARemovedFeedGo() async throws {
    try await withFigures(migrations: [.books, .feeds, .figures]) { temporary in
      let store = temporary.store
      let ids = try await store.write { transaction in
        try (0..<3).map { number in
          try transaction.insert(
            "_Feed",
            [
              "url": .string("https://example.org/\(number)"), "entity": .string("Book"),
              "addedAt": .date(transaction.now),
            ]
          ).number
        }
      }
      for id in ids + [999] {
        temporary.recorder.record(.made(.synced), id, at: temporary.clock.now)
      }
      try await temporary.recorder.flush(to: store)
      func recorded() throws -> [Int64] {
        var feeds: [Int64] = []
        try temporary.figures { try $0.eachFeed { feeds.append($0.id) } }
        return feeds
      }
      #expect(try recorded() == ids)
      try await store.write { transaction in
        try transaction.update(ObjectID(entity: "_Feed", number: ids[1])) {
          try $0.set("isRemoved", to: .bool(true))
        }
      }
      temporary.clock.advance(by: 3_600)
      temporary.recorder.record(.made(.synced), ids[0], at: temporary.clock.now)
      try await temporary.recorder.flush(to: store)
      #expect(try recorded() == [ids[0], ids[2]])
    }
  }

  @Test func aStoreWithoutFiguresRecordsNothing() async throws {
    try await withFigures(migrations: [.books]) { temporary in
      temporary.recorder.record(.made(.synced), at: temporary.clock.now)
      #expect(try await temporary.recorder.flush(to: temporary.store) == .absent)
      // A program that knows them may only read it, and finds none.
      let newer = try openFigures(temporary.folder, temporary.clock, temporary.recorder)
      temporary.recorder.record(.made(.synced), at: temporary.clock.now)
      #expect(try await temporary.recorder.flush(to: newer) == .absent)
      try newer.read { transaction in
        let figures = StoreFigures(transaction)
        #expect(!figures.areRecorded)
        #expect(try figures.slots(.day, from: .distantPast, to: .distantFuture).isEmpty)
        #expect(try figures.feed(1) == nil && figures.slowFetches().isEmpty)
        #expect(try figures.indexUses().isEmpty)
        try figures.eachFeed { _ in Issue.record("there are no feeds") }
        #expect(try figures.indexAdvice(now: .distantFuture).allSatisfy { $0.reason == .duplicate })
      }
      _ = try newer.migrate()
      temporary.recorder.record(.made(.synced), at: temporary.clock.now)
      #expect(try await temporary.recorder.flush(to: newer) == .written(feedsLeftOut: 0))
      newer.close()
    }
  }

  @Test func figuresWriteNoHistory() async throws {
    try await withFigures { temporary in
      let before = try temporary.store.read { try $0.historyToken() }
      temporary.recorder.record(.made(.synced), at: temporary.clock.now)
      try await temporary.recorder.flush(to: temporary.store)
      #expect(try temporary.store.read { try $0.history(after: before) }.isEmpty)
    }
  }
}
