import DurableJobs
import Foundation
import TestSupport
import Testing

@Suite struct CronOracleTests {
  /// Around changes of an hour, of half an hour, of a day, at midnight, and for good.
  static let changes = [
    ("Europe/Berlin", "2026-03-27T00:00:00Z"), ("Europe/Berlin", "2026-10-23T00:00:00Z"),
    ("America/New_York", "2026-03-06T00:00:00Z"), ("America/New_York", "2026-10-30T00:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-03T00:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-02T00:00:00Z"),
    ("Pacific/Apia", "2011-12-28T00:00:00Z"), ("Pacific/Kwajalein", "1993-08-19T00:00:00Z"),
    ("America/Sao_Paulo", "2018-11-02T00:00:00Z"), ("America/Sao_Paulo", "2018-02-16T00:00:00Z"),
    ("Africa/Cairo", "2026-04-22T00:00:00Z"), ("Asia/Beirut", "2026-03-27T00:00:00Z"),
    ("America/Caracas", "2016-04-29T00:00:00Z"), ("Asia/Pyongyang", "2015-08-13T00:00:00Z"),
    ("Europe/Moscow", "2014-10-24T00:00:00Z"), ("Asia/Kolkata", "2028-02-27T00:00:00Z"),
    ("UTC", "2027-02-27T00:00:00Z"), ("UTC", "2026-12-30T00:00:00Z"),
  ]

  @Test(arguments: changes)
  func theTimesEqualThoseOfASearchByMinutes(_ name: String, _ start: String) throws {
    let seed = testSeed(51)
    var random = SeededRandom(seed: seed)
    let zone = try zone(name)
    let clock = try WalkedClock(zone, from: instant(start), days: 4)
    for round in 0..<(isThorough ? 3000 : 80) {
      let drawn = RandomExpression(&random)
      let expression = try CronExpression(drawn.text)
      let walked = clock.times(of: drawn)
      let note: Comment = "seed \(seed), round \(round): \(drawn.text) in \(name)"
      let times = expression.times(after: clock.start - 1, before: clock.end, in: zone)
      try #require(times == walked, note)
      // From any instant between, not only from one time to the next.
      for _ in 0..<10 {
        let instant = clock.start + Double.random(in: 0..<(4 * 86400), using: &random)
        let next = expression.next(after: instant, in: zone).flatMap { $0 < clock.end ? $0 : nil }
        try #require(next == walked.first { $0 > instant }, "\(note), after \(instant)")
      }
    }
  }

  /// Times that are years away, beyond a search by minutes: a search by days proves that none is
  /// missed.
  @Test func rareDaysEqualThoseOfASearchByDays() throws {
    let seed = testSeed(52)
    var random = SeededRandom(seed: seed)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let start = try instant("1895-01-01T00:00:00Z")
    let days = (0..<(45 * 366)).map {
      calendar.dateComponents([.month, .day, .weekday], from: start + Double($0 * 86400))
    }
    for round in 0..<200 {
      let leapDay = round % 4 == 0
      let day =
        leapDay ? "29" : ["31", "*/30", "30,31", "13"][Int.random(in: 0..<4, using: &random)]
      let month = leapDay ? "feb" : ["*", "5", "1,8,10"][Int.random(in: 0..<3, using: &random)]
      let weekday = ["*", "*/7", "*/4"][Int.random(in: 0..<3, using: &random)]
      let expression = try CronExpression("0 0 \(day) \(month) \(weekday)")
      let first = Int.random(in: 0..<(4 * 365), using: &random)
      let fits = days.indices.dropFirst(first + 1).first {
        guard let ofMonth = days[$0].day, let ofYear = days[$0].month,
          let ofWeek = days[$0].weekday
        else { return false }
        return numbers(day, 1...31).contains(ofMonth) && numbers(month, 1...12).contains(ofYear)
          && numbers(weekday, 0...6).contains(ofWeek - 1)
      }
      let expected = try #require(fits.map { start + Double($0 * 86400) })
      let next = expression.next(after: start + Double(first * 86400), in: .gmt)
      try #require(next == expected, "seed \(seed), round \(round): \(expression)")
    }
  }

  private func numbers(_ text: String, _ range: ClosedRange<Int>) -> Set<Int> {
    if text == "*" { return Set(range) }
    if text == "feb" { return [2] }
    if let step = text.hasPrefix("*/") ? Int(text.dropFirst(2)) : nil {
      return Set(stride(from: range.lowerBound, through: range.upperBound, by: step))
    }
    return Set(text.split(separator: ",").compactMap { Int($0) })
  }

  /// Checks every time zone over many years: the search relies on the zone to report each change.
  @Test func everyTimeShowsItsFieldsOnTheClockUnlessItFollowsAJump() throws {
    let seed = testSeed(53)
    var random = SeededRandom(seed: seed)
    for name in TimeZone.knownTimeZoneIdentifiers {
      let zone = try zone(name)
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      let drawn = RandomExpression(&random)
      let expression = try CronExpression(drawn.text)
      var last =
        try instant("1900-01-01T00:00:00Z")
        + Double.random(in: 0...(4e9), using: &random)
      for _ in 0..<20 {
        let time = try #require(expression.next(after: last, in: zone))
        let note: Comment = "seed \(seed): \(drawn.text) in \(name) after \(last)"
        try #require(time > last, note)
        last = time
        let isAfterJump =
          zone.secondsFromGMT(for: time) > zone.secondsFromGMT(for: time - 1)
        guard !isAfterJump else { continue }
        let face = calendar.dateComponents(
          [.month, .day, .hour, .minute, .second, .weekday], from: time)
        try #require(face.second == 0, note)
        try #require(
          drawn.matches(
            minute: face.minute ?? -1, hour: face.hour ?? -1, day: face.day ?? -1,
            month: face.month ?? -1, weekday: (face.weekday ?? 0) - 1), note)
      }
    }
  }
}
