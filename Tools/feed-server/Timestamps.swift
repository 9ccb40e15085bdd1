import TextFormats

/// Times as the feed and HTTP write them, from seconds since 1970; no clock and no locale.
enum Timestamps {
  /// 2026-01-01T00:00:00Z, the time of the feed's first version.
  static let start = 1_767_225_600

  /// RFC 3339 with milliseconds: `2026-01-01T00:00:00.250Z`.
  static func rfc3339(seconds: Int, milliseconds: Int = 0) -> String {
    let (date, clock) = parts(seconds)
    return "\(date.year)-\(date.month.padded(to: 2))-\(date.day.padded(to: 2))T\(clock)"
      + ".\(milliseconds.padded(to: 3))Z"
  }

  /// IMF-fixdate of RFC 9110 section 5.6.7: `Thu, 01 Jan 2026 00:00:00 GMT`.
  static func imfFixdate(seconds: Int) -> String {
    let (date, clock) = parts(seconds)
    return "\(weekdays[date.weekday]), \(date.day.padded(to: 2)) \(months[date.month - 1])"
      + " \(date.year.padded(to: 4)) \(clock) GMT"
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func parts(_ seconds: Int) -> (CivilDate, clock: String) {
    let (days, second) = seconds.dividedFlooring(by: 86_400)
    let clock = [second / 3_600, second / 60 % 60, second % 60].map { $0.padded(to: 2) }
    return (CivilDate(daysSince1970: days), clock.joined(separator: ":"))
  }
}
