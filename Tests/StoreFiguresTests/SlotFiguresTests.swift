import DurableJobs
import FeedSync
import Foundation
import TestSupport
import Testing

@testable import StoreFigures

struct SlotFiguresTests {
  @Test func allFiguresSurviveTheirStoredForm() throws {
    var figures = SlotFigures()
    for outcome in [SyncReport.Outcome.synced, .notModified, .fresh, .incomplete] {
      figures.count(.made(outcome, new: 3, changed: 1 << 40), seconds: 0.25)
    }
    figures.count(.failed("timeout"), seconds: 30)
    figures.count(.failed("badStatus", status: 503), seconds: 1)
    figures.jobsRetried = 7
    figures.gauges.feedsLate = 0
    figures.gauges.storeBytes = 1 << 40
    let read = try #require(SlotFigures(figures.data))
    #expect(read == figures && read.runs == 6)
    #expect(read.errors == ["timeout": 1, "5xx": 1])
    #expect(read.gauges.feedsLate == 0 && read.gauges.jobsReady == nil)
    #expect(read.runTimes.count == 6)
    let json = try JSONEncoder().encode(figures)
    #expect(try JSONDecoder().decode(SlotFigures.self, from: json) == figures)
  }

  @Test func countsOfOtherVersionsAreSkippedOrZero() throws {
    // Two counts, no gauges, no errors, no histogram.
    let older = try #require(SlotFigures(Data([1, 2, 5, 6, 0, 0])))
    #expect(older.synced == 5 && older.notModified == 6 && older.runs == 11)
    let counts = [UInt8](repeating: 9, count: 40)
    let newer = try #require(SlotFigures(Data([1, 40] + counts + [0, 0])))
    #expect(newer.jobsFailed == 9)
    #expect(SlotFigures(Data([2, 0, 0, 0])) == nil && SlotFigures(Data()) == nil)
  }

  @Test func randomBytesAreNoFigures() {
    var random = SeededRandom(seed: testSeed(3))
    for round in 0..<5_000 {
      let bytes = [1] + random.bytes(count: Int.random(in: 0..<60, using: &random))
      if let figures = SlotFigures(Data(bytes)) {
        #expect(figures.data.count <= Limits.slotBytesMax, "seed \(random.seed), round \(round)")
      }
    }
  }

  @Test func hostileErrorsAreCutAndCountedTogether() throws {
    var figures = SlotFigures()
    for number in 0..<500 {
      let code = String(repeating: "\u{1F4A9}\u{0}\u{202E}", count: 1_000) + "\(number)"
      figures.count(
        .failed(number % 2 == 0 ? code : "kind\(number)"), seconds: pow(2, Double(number)))
    }
    #expect(figures.errors.count == Limits.errorKindsMax + 1)
    #expect(figures.errors.keys.allSatisfy { $0.utf8.count <= Limits.errorKindBytesMax })
    #expect(figures.errors.values.reduce(0, +) == 500)
    let data = figures.data
    #expect(data.count <= Limits.slotBytesMax)
    let read = try #require(SlotFigures(data))
    #expect(read.errors.values.reduce(0, +) == 500 && read.failed == 500)
  }

  @Test func countsDoNotOverflow() throws {
    var figures = SlotFigures()
    for _ in 0..<3 { figures.count(.made(.synced, new: .max, changed: -5), seconds: -1) }
    var sum = figures
    for _ in 0..<3 { sum.add(figures) }
    #expect(sum.newItems == Limits.countMax && sum.changedItems == 0)
    #expect(SlotFigures(sum.data) == sum)
  }

  @Test func cutTextsEndAtACharacter() {
    for bytesMax in 3..<20 {
      let cut = "aä€😀aä€😀aä€😀".cut(toBytes: bytesMax)
      #expect(cut.utf8.count <= bytesMax && !cut.contains("\u{FFFD}"))
    }
    #expect("short".cut(toBytes: 5) == "short")
  }
}

struct FeedDaysTests {
  private let first: Int64 = 20_000

  private func runs(_ days: FeedDays) -> [Int] { days.days.map(\.runs) }

  @Test func theLastDaysAreKept() throws {
    var days = FeedDays()
    for day in 0..<20 { days.add([day + 1, 0, 0, 2, 1], day: first + Int64(day)) }
    days.add([100, 50, 3, 0, 0], day: first + 19)
    #expect(runs(days) == Array(7...19) + [120])
    let last = try #require(days.days.last)
    #expect(last.unchangedRuns == 50 && last.failures == 3 && last.newItems == 2)
    #expect(FeedDays(days.data) == days)
    let json = try JSONEncoder().encode(days)
    #expect(try JSONDecoder().decode(FeedDays.self, from: json).days == days.days)
  }

  @Test func missedDaysHaveNoCounts() {
    var days = FeedDays()
    days.add([1, 0, 0, 0, 0], day: first)
    days.add([2, 0, 0, 0, 0], day: first + 5)
    #expect(runs(days) == [1, 2])
    days.add([3, 0, 0, 0, 0], day: first + 5_000)
    #expect(runs(days) == [3])
  }

  @Test func aClockThatIsSetBackBeginsAgainOnlyIfItIsFar() {
    var days = FeedDays()
    days.add([1, 0, 0, 0, 0], day: first)
    days.add([2, 0, 0, 0, 0], day: first - 13)
    #expect(runs(days) == [2, 1])
    days.add([3, 0, 0, 0, 0], day: first - 14)
    #expect(runs(days) == [3])
    days.add([4, 0, 0, 0, 0], day: -5)
    days.add([5, 0, 0, 0, 0], day: .max)
    #expect(runs(days) == [5])
  }

  @Test func countsAreSaturatedAndTheSizeIsFixed() {
    var days = FeedDays()
    let empty = days.data.count
    for day in 0..<14 {
      for _ in 0..<2 { days.add([40_000, 1 << 40, -1, 70_000, 1], day: first + Int64(day)) }
    }
    #expect(days.days.allSatisfy { $0.runs == 65_535 && $0.failures == 0 && $0.changedItems == 2 })
    #expect(days.data.count == empty && empty == 145)
    #expect(FeedDays(days.data.dropLast()) == nil)
  }
}
