import DurableJobs
import Foundation
import TestSupport
import Testing

@Suite struct DueRunsTests {
  private func recurrence(
    _ expression: String, _ missed: MissedRuns, in name: String = "UTC"
  ) throws -> Recurrence {
    try Recurrence(CronExpression(expression), in: zone(name), missed: missed)
  }

  @Test(arguments: [
    (MissedRuns.skip, [], 6), (.once, ["05"], 5), (.all(max: 3), ["03", "04", "05"], 3),
    (.all(max: 64), ["00", "01", "02", "03", "04", "05"], 0),
  ])
  func afterADowntimeThePolicyDecides(
    _ missed: MissedRuns, _ hours: [String], _ skipped: Int
  ) throws {
    let due = try recurrence("@hourly", missed)
      .due(nextAt: instant("2026-11-21T00:00:00Z"), now: instant("2026-11-21T05:30:00Z"))
    #expect(try due.times == hours.map { try instant("2026-11-21T\($0):00:00Z") })
    #expect(due.skipped == skipped)
    #expect(try due.next == instant("2026-11-21T06:00:00Z"))
  }

  @Test(arguments: [MissedRuns.skip, .once, .all(max: 64)])
  func aTimeThatHasJustComeRunsUnderEachPolicy(_ missed: MissedRuns) throws {
    let hour = try instant("2026-11-21T05:00:00Z")
    for late in [0, 0.25, 30, 60] {
      let due = try recurrence("@hourly", missed).due(nextAt: hour, now: hour + late)
      #expect(due.times == [hour] && due.skipped == 0 && due.next == hour + 3600, "\(late) late")
    }
  }

  @Test func aTimeIsMissedAfterTheGrace() throws {
    let hour = try instant("2026-11-21T05:00:00Z")
    for late in [60.5, 61, 3599] {
      let due = try recurrence("@hourly", .skip).due(nextAt: hour, now: hour + late)
      #expect(due.times == [] && due.skipped == 1 && due.next == hour + 3600, "\(late) late")
    }
  }

  @Test func beforeTheStoredTimeNothingIsDue() throws {
    let hour = try instant("2026-11-21T05:00:00Z")
    for early in [0.5, 1, 1e8] {
      let due = try recurrence("@hourly", .all(max: 64)).due(nextAt: hour, now: hour - early)
      #expect(due.times == [] && due.skipped == 0 && due.next == hour, "\(early) early")
    }
  }

  @Test func aStoredTimeRunsAlsoIfTheExpressionHasChangedSince() throws {
    let stored = try instant("2026-11-21T04:17:31Z") + 0.5
    let due = try recurrence("@hourly", .all(max: 64)).due(nextAt: stored, now: stored + 3600)
    #expect(try due.times == [stored, instant("2026-11-21T05:00:00Z")])
    #expect(try due.next == instant("2026-11-21T06:00:00Z"))
  }

  /// Two thousand years are a thousand million minutes: no test that counted them would end.
  @Test(arguments: ["* * * * *", "@every 1s", "*/7 3 * * *", "0 0 29 2 *", "* * 1 1 *"])
  func yearsOfDowntimeTakeFewSteps(_ text: String) throws {
    let now = try instant("2026-11-21T05:00:30Z")
    let expression = try CronExpression(text)
    for name in ["UTC", "Europe/Berlin"] {
      let due = try recurrence(text, .all(max: 100), in: name)
        .due(nextAt: .distantPast, now: now)
      #expect(due.times.count == 100)
      #expect(due.skipped == (text.contains("29") ? 392 : DueRuns.skippedMax))
      let oldest = try #require(due.times.first)
      let walked = try expression.times(after: oldest - 1, before: now + 1, in: zone(name))
      #expect(due.times == walked)
      #expect(try due.next == expression.next(after: now, in: zone(name)))
    }
  }

  @Test func theNewestMissedTimesEqualThoseOfALinearSearch() throws {
    let seed = testSeed(61)
    var random = SeededRandom(seed: seed)
    let zones = ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"]
    for round in 0..<300 {
      let text = RandomExpression(&random).text
      let name = zones.randomElement(using: &random) ?? "UTC"
      let expression = try CronExpression(text)
      let start = try instant("2011-12-20T00:00:00Z") + Double.random(in: 0...86400, using: &random)
      let nextAt = try #require(expression.next(after: start, in: zone(name)))
      let now = nextAt + Double.random(in: 0...(20 * 86400), using: &random)
      let max = Int.random(in: 1...40, using: &random)
      let due = try recurrence(text, .all(max: max), in: name).due(nextAt: nextAt, now: now)
      let walked = try expression.times(after: nextAt - 1, before: now + 0.001, in: zone(name))
      let note: Comment = "seed \(seed), round \(round): \(text) in \(name), \(nextAt) to \(now)"
      try #require(due.times == walked.suffix(max), note)
      try #require(due.skipped == min(walked.count - due.times.count, DueRuns.skippedMax), note)
    }
  }

  /// The clock may be set forward and back; a time that has run is never due again.
  @Test(arguments: [MissedRuns.skip, .once, .all(max: 5)])
  func noTimeIsDueTwice(_ missed: MissedRuns) throws {
    let seed = testSeed(62)
    var random = SeededRandom(seed: seed)
    let recurrence = try recurrence("*/20 * * * *", missed, in: "Europe/Berlin")
    var now = try instant("2026-10-24T20:00:00Z")
    var nextAt = try #require(recurrence.next(after: now))
    var last = Date.distantPast
    for round in 0..<500 {
      now += Double.random(in: -3000...3600, using: &random)
      let due = recurrence.due(nextAt: nextAt, now: now)
      for time in due.times {
        try #require(time > last, "seed \(seed), round \(round)")
        last = time
      }
      let next = try #require(due.next)
      try #require(next >= nextAt && (next > now), "seed \(seed), round \(round)")
      nextAt = next
    }
  }
}
