import DurableJobs
import Foundation
import Testing

@Suite struct RecurrenceTests {
  @Test(arguments: [
    "UTC", "GMT", "Europe/Berlin", "Australia/Lord_Howe", "Etc/GMT+5", "US/Pacific",
  ])
  func aZoneOfTheDatabaseIsKnown(_ name: String) throws {
    let zone = try Recurrence.zone(named: name)
    #expect(try zone == Recurrence.zone(named: zone.identifier))
    // Foundation has one name for both.
    #expect(zone.identifier == (name == "UTC" ? "GMT" : name))
  }

  @Test(arguments: [
    ("europe/berlin", "did you mean \"Europe/Berlin\"?"),
    ("Europe/Berlim", "did you mean \"Europe/Berlin\"?"),
    ("utc", "did you mean \"UTC\"?"),
    ("EST", "write UTC, or area and place as Europe/Berlin"),
    ("GMT+1", "write UTC, or area and place as Europe/Berlin"),
    ("+01:00", "write UTC, or area and place as Europe/Berlin"),
    ("", "write UTC, or area and place as Europe/Berlin"),
    ("Etc/Unknown", "write UTC, or area and place as Europe/Berlin"),
    ("../../etc/localtime", "write UTC, or area and place as Europe/Berlin"),
  ])
  func anUnknownZoneIsRefused(_ name: String, _ advice: String) {
    let error = #expect(throws: JobError.self) { try Recurrence.zone(named: name) }
    #expect(error?.description == "a zone is unknown (zone: \"\(name)\"); \(advice)")
  }

  @Test(arguments: [
    ("skip", MissedRuns.skip, "skip"), ("once", .once, "once"), ("all", .all(max: 64), "all:64"),
    ("all:1000", .all(max: 1000), "all:1000"),
  ])
  func whatIsMissedHasAText(_ text: String, _ missed: MissedRuns, _ description: String) throws {
    #expect(try MissedRuns(text) == missed)
    #expect(missed.description == description)
    #expect(try MissedRuns(description) == missed)
  }

  @Test(arguments: [
    (
      "ALL",
      "what becomes of missed runs cannot be read (text: \"ALL\"); write skip, once, all or"
        + " all:10"
    ),
    (
      "all:x",
      "what becomes of missed runs cannot be read (text: \"all:x\"); write skip, once, all"
        + " or all:10"
    ),
    ("all:0", "the number of missed runs is out of its range (max: 0); write 1 to 1000"),
    ("all:1001", "the number of missed runs is out of its range (max: 1001); write 1 to 1000"),
  ])
  func anUnknownMissedRunPolicyIsRefused(_ text: String, _ message: String) {
    let error = #expect(throws: JobError.self) { try MissedRuns(text) }
    #expect(error?.description == message)
  }

  @Test func valuesOutOfRangeAreRefused() throws {
    let hourly = try CronExpression("@hourly")
    let utc = try zone("UTC")
    #expect(throws: JobError.self) { try Recurrence(hourly, in: utc, missed: .all(max: 0)) }
    let negative = #expect(throws: JobError.self) {
      try Recurrence(hourly, in: utc, jitter: .seconds(-1))
    }
    #expect(
      negative?.description
        == "a jitter is out of its range (jitter: -1.0 seconds); write 0 to 86400 seconds")
    #expect(throws: JobError.self) { try Recurrence(hourly, in: utc, jitter: .seconds(86_401)) }
    _ = try Recurrence(hourly, in: utc, jitter: Recurrence.jitterMax)
  }

  @Test func jitterStaysInItsRangeAndReachesItsEnds() throws {
    let jittered = try Recurrence(
      CronExpression("@hourly"), in: zone("UTC"), jitter: .milliseconds(3))
    let start = try instant("2026-11-21T00:00:00Z")
    let drawn = (0..<400).map { jittered.jitter(of: start + 3600 * Double($0), named: "prune") }
    for milliseconds in 0...3 {
      // About a hundred each.
      #expect(drawn.count { $0 == .milliseconds(milliseconds) } > 60)
    }
    #expect(drawn.allSatisfy { (.zero ... .milliseconds(3)).contains($0) })
    let plain = try Recurrence(CronExpression("@hourly"), in: zone("UTC"))
    #expect(plain.jitter(of: start, named: "prune") == .zero)
  }

  /// Processes of different versions may read one schedule: these numbers must not change.
  @Test func jitterIsTheSameInEveryProcess() throws {
    let jittered = try Recurrence(
      CronExpression("@hourly"), in: zone("UTC"), jitter: .seconds(600))
    let start = try instant("2026-11-21T00:00:00Z")
    #expect(jittered.jitter(of: start, named: "prune") == .milliseconds(321_265))
    #expect(jittered.jitter(of: start + 0.9, named: "prune") == .milliseconds(321_265))
    #expect(jittered.jitter(of: start + 3600, named: "prune") == .milliseconds(540_805))
    #expect(jittered.jitter(of: start, named: "sync") == .milliseconds(320_650))
  }
}
