import TextFormats

/// The five fields as sets of numbers, and the search for local times that match them.
///
/// A local time is what a clock on the wall shows, in seconds since it showed 1970-01-01 00:00.
/// Local times have no gaps; `LocalSpan` maps them to instants.
struct CronFields: Sendable, Hashable {
  var minutes = CronValues()
  var hours = CronValues()
  var daysOfMonth = CronValues()
  var months = CronValues()
  /// The weekdays; 0 is Sunday.
  var weekdays = CronValues()
  /// True if neither day field begins with `*`.
  var eitherDay = false

  /// The first matching minute in `from..<end`.
  func first(from: Int, before end: Int) -> Int? {
    guard from < end else { return nil }
    let minute = (from + 59).dividedFlooring(by: 60).quotient
    let day = minute.dividedFlooring(by: minutesOfDay).quotient
    let match: Int?
    if matches(CivilDate(daysSince1970: day)),
      let time = firstTime(from: minute - day * minutesOfDay)
    {
      match = day * minutesOfDay + time
    } else if let time = firstTime(from: 0),
      let later = firstDay(
        from: day + 1, before: end.dividedFlooring(by: 60 * minutesOfDay).quotient + 1)
    {
      match = later * minutesOfDay + time
    } else {
      match = nil
    }
    guard let match, match * 60 < end else { return nil }
    return match * 60
  }

  /// The first matching time of day from this one on, in minutes since midnight.
  private func firstTime(from time: Int) -> Int? {
    let hour = time / 60
    if hours.contains(hour), let minute = minutes.least(from: time % 60) {
      return hour * 60 + minute
    }
    guard let later = hours.least(from: hour + 1), let minute = minutes.least(from: 0) else {
      return nil
    }
    return later * 60 + minute
  }

  private func firstDay(from day: Int, before end: Int) -> Int? {
    var (day, date) = (day, CivilDate(daysSince1970: day))
    while day < end {
      if months.contains(date.month) {
        for _ in date.day...date.daysInMonth {
          if matches(CivilDate(daysSince1970: day)) { return day < end ? day : nil }
          day += 1
        }
      }
      date.advanceToNextMonth()
      day = date.daysSince1970
    }
    return nil
  }

  private func matches(_ date: CivilDate) -> Bool {
    let isDay = daysOfMonth.contains(date.day)
    let isWeekday = weekdays.contains(date.weekday)
    return months.contains(date.month)
      && (eitherDay ? isDay || isWeekday : isDay && isWeekday)
  }

  /// True if some month has one of the days.
  var canMatch: Bool {
    eitherDay
      || (1...12).contains { month in
        // 2000 is a leap year.
        guard months.contains(month), let day = daysOfMonth.least(from: 1) else { return false }
        return CivilDate(year: 2000, month: month, day: day) != nil
      }
  }
}

private let minutesOfDay = 24 * 60

/// The values of a field of a cron expression: numbers from 0 to 63.
struct CronValues: Sendable, Hashable {
  private var bits: UInt64 = 0

  mutating func insert(_ number: Int) {
    bits |= 1 << UInt64(number)
  }

  func contains(_ number: Int) -> Bool {
    bits & (1 << UInt64(number)) != 0
  }

  func least(from number: Int) -> Int? {
    let rest = bits >> UInt64(number)
    return rest == 0 ? nil : number + rest.trailingZeroBitCount
  }

  var count: Int { bits.nonzeroBitCount }
}
