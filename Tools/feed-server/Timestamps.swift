/// Times as the feed and HTTP write them, from seconds since 1970; no clock and no locale.
enum Timestamps {
  /// 2026-01-01T00:00:00Z, the time of the feed's first version.
  static let start = 1_767_225_600

  /// RFC 3339 with milliseconds: `2026-01-01T00:00:00.250Z`.
  static func rfc3339(seconds: Int, milliseconds: Int = 0) -> String {
    let time = Civil(seconds: seconds)
    return "\(time.year)-\(two(time.month))-\(two(time.day))T\(time.clock)"
      + ".\(padded(milliseconds, to: 3))Z"
  }

  /// IMF-fixdate of RFC 9110 section 5.6.7: `Thu, 01 Jan 2026 00:00:00 GMT`.
  static func imfFixdate(seconds: Int) -> String {
    let time = Civil(seconds: seconds)
    return "\(Civil.weekdays[time.weekday]), \(two(time.day)) \(Civil.months[time.month - 1])"
      + " \(padded(time.year, to: 4)) \(time.clock) GMT"
  }

  private struct Civil {
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    let year, month, day, weekday: Int
    let clock: String

    init(seconds: Int) {
      let days = Int((Double(seconds) / 86_400).rounded(.down))
      let second = seconds - days * 86_400
      clock = "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))"
      weekday = (days % 7 + 11) % 7

      // Years begin in March here, so that the leap day is the last of its year. 719,468 days
      // lie between 0000-03-01 and 1970-01-01; no file and no feed is older.
      let sinceYearZero = days + 719_468
      let era = sinceYearZero / 146_097
      let dayOfEra = sinceYearZero % 146_097
      let yearOfEra =
        (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let marchMonth = (5 * dayOfYear + 2) / 153
      day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
      month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
      year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }
  }

  private static func two(_ number: Int) -> String {
    padded(number, to: 2)
  }

  private static func padded(_ number: Int, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
