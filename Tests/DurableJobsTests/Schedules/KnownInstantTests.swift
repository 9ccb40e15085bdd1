import DurableJobs
import Foundation
import Testing

/// Times that were worked out by hand from the rules of the zones.
@Suite struct KnownInstantTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let zone: String
    let expression: String
    let after: String
    let times: [String]

    init(_ zone: String, _ expression: String, after: String, _ times: String...) {
      self.zone = zone
      self.expression = expression
      self.after = after
      self.times = times
    }

    var testDescription: String { "\(expression) in \(zone) after \(after)" }
  }

  /// From 02:00 to 03:00 on 29 March, and back on 25 October.
  static let berlin = [
    Case(
      "Europe/Berlin", "30 2 * * *", after: "2026-03-28T00:00:00Z",
      "2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
    Case(
      "Europe/Berlin", "30 2 * * *", after: "2026-10-24T00:00:00Z",
      "2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
    Case(
      "Europe/Berlin", "*/15 2 * * *", after: "2026-03-29T00:59:00Z",
      "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"),
    Case(
      "Europe/Berlin", "0 2,3 * * *", after: "2026-03-29T00:00:00Z",
      "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"),
    Case(
      "Europe/Berlin", "*/15 * * * *", after: "2026-03-29T00:30:00Z",
      "2026-03-29T00:45:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"),
    Case(
      "Europe/Berlin", "*/15 * * * *", after: "2026-10-25T00:30:00Z",
      "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:15:00Z",
      "2026-10-25T01:30:00Z", "2026-10-25T01:45:00Z", "2026-10-25T02:00:00Z"),
    Case(
      "Europe/Berlin", "0 */2 * * *", after: "2026-03-28T23:30:00Z",
      "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z", "2026-03-29T04:00:00Z"),
    Case(
      "Europe/Berlin", "0 */2 * * *", after: "2026-10-24T22:30:00Z",
      "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z"),
    Case("Europe/Berlin", "@daily", after: "2026-07-01T00:00:00Z", "2026-07-01T22:00:00Z"),
  ]

  /// From 02:00 to 03:00 on 8 March, and from 02:00 to 01:00 on 1 November.
  static let newYork = [
    Case(
      "America/New_York", "30 2 * * *", after: "2026-03-08T00:00:00Z",
      "2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"),
    Case(
      "America/New_York", "30 1 * * *", after: "2026-11-01T00:00:00Z",
      "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"),
    Case(
      "America/New_York", "30 1 * * *", after: "2026-11-01T06:10:00Z", "2026-11-02T06:30:00Z"),
    Case(
      "America/New_York", "0 * * * *", after: "2026-11-01T04:30:00Z",
      "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"),
  ]

  /// Half an hour: from 02:00 to 01:30 on 5 April, and from 02:00 to 02:30 on 4 October.
  static let lordHowe = [
    Case(
      "Australia/Lord_Howe", "45 1 * * *", after: "2026-04-04T00:00:00Z",
      "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"),
    Case(
      "Australia/Lord_Howe", "15 2 * * *", after: "2026-10-03T00:00:00Z",
      "2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"),
    Case(
      "Australia/Lord_Howe", "0,30 * * * *", after: "2026-04-04T14:00:00Z",
      "2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:30:00Z"),
  ]

  /// Samoa had no 30 December 2011; Sitka had its 18 October 1867 after noon twice, and kept local
  /// mean time; the others have days that do not begin at midnight.
  static let rare = [
    Case(
      "Pacific/Apia", "0 12 * * *", after: "2011-12-29T00:00:00Z",
      "2011-12-29T22:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"),
    Case(
      "Pacific/Apia", "0 * * * *", after: "2011-12-30T08:30:00Z",
      "2011-12-30T09:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T11:00:00Z"),
    Case(
      "Pacific/Apia", "* * 30 12 *", after: "2011-12-01T00:00:00Z", "2012-12-29T10:00:00Z"),
    Case(
      "America/Juneau", "30 14 * * *", after: "1867-10-18T12:00:00Z",
      "1867-10-18T23:27:41Z", "1867-10-20T23:27:41Z"),
    Case(
      "America/Sao_Paulo", "0 0 * * *", after: "2018-11-03T12:00:00Z",
      "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"),
    Case(
      "Africa/Cairo", "0 0 * * fri", after: "2026-04-23T12:00:00Z",
      "2026-04-23T22:00:00Z", "2026-04-30T21:00:00Z"),
    Case(
      "Asia/Beirut", "@daily", after: "2026-03-28T12:00:00Z",
      "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"),
    Case(
      "Asia/Kolkata", "0 9 * * mon-fri", after: "2026-11-20T12:00:00Z", "2026-11-23T03:30:00Z"),
  ]

  static let days = [
    Case(
      "UTC", "0 0 31 * *", after: "2026-01-31T00:00:00Z",
      "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"),
    Case("UTC", "0 0 29 2 *", after: "2024-03-01T00:00:00Z", "2028-02-29T00:00:00Z"),
    Case("UTC", "0 0 29 2 *", after: "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),
    Case("UTC", "0 0 29 2 */7", after: "2088-03-01T00:00:00Z", "2128-02-29T00:00:00Z"),
    // Either day, and both if one begins with a star.
    Case(
      "UTC", "0 0 13 * fri", after: "2026-12-05T00:00:00Z",
      "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z", "2026-12-18T00:00:00Z"),
    Case(
      "UTC", "0 0 */10 * mon", after: "2026-01-01T00:00:00Z",
      "2026-05-11T00:00:00Z", "2026-06-01T00:00:00Z"),
    Case(
      "UTC", "0 0 * * 7", after: "2026-11-21T00:00:00Z",
      "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z"),
    Case(
      "UTC", "0 0 * * sat-sun", after: "2026-11-20T00:00:00Z",
      "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", "2026-11-28T00:00:00Z"),
    Case("UTC", "@yearly", after: "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    Case("UTC", "@monthly", after: "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
    Case("UTC", "@weekly", after: "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z"),
    Case("UTC", "@hourly", after: "1969-12-31T22:00:00Z", "1969-12-31T23:00:00Z"),
    Case(
      "Europe/Berlin", "@every 90s", after: "2026-11-21T00:00:00Z",
      "2026-11-21T00:01:30Z", "2026-11-21T00:03:00Z"),
    Case("UTC", "@every 2h", after: "1969-12-31T21:00:00Z", "1969-12-31T22:00:00Z"),
  ]

  @Test(arguments: berlin + newYork + lordHowe + rare + days)
  func theTimesAreThoseOfTheZone(_ known: Case) throws {
    let expression = try CronExpression(known.expression)
    let zone = try zone(known.zone)
    var last = try instant(known.after)
    for time in known.times {
      last = try #require(expression.next(after: last, in: zone))
      #expect(try last == instant(time))
    }
  }

  @Test func aTimeIsAfterTheInstantAlsoWithinASecond() throws {
    let hourly = try CronExpression("@hourly")
    let hour = try instant("2026-11-21T10:00:00Z")
    let utc = try zone("UTC")
    #expect(hourly.next(after: hour.addingTimeInterval(-0.001), in: utc) == hour)
    #expect(hourly.next(after: hour, in: utc) == hour.addingTimeInterval(3600))
    #expect(hourly.next(after: hour.addingTimeInterval(0.5), in: utc) == hour + 3600)
  }

  @Test func noTimeComesAfterTheYear9999() throws {
    let utc = try zone("UTC")
    for text in ["* * * * *", "0 0 29 2 *", "@every 1s"] {
      let expression = try CronExpression(text)
      #expect(expression.next(after: try instant("9999-12-31T23:59:59Z"), in: utc) == nil)
      #expect(expression.next(after: Date(timeIntervalSince1970: .infinity), in: utc) == nil)
      #expect(expression.next(after: Date(timeIntervalSince1970: .nan), in: utc) != nil)
      #expect(expression.next(after: .distantPast, in: utc) != nil)
    }
  }
}
