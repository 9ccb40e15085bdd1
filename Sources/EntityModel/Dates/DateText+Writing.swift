import TextFormats

extension DateText {
  /// Writes a date as RFC 3339, with as many fractional digits as it needs, at most six.
  ///
  /// - Parameter seconds: The seconds since 2001, between the years 1 and 9999.
  /// - Parameter zoneMinutes: The offset of the text from UTC; without it the text ends with `Z`.
  package static func rfc3339(seconds: Double, zoneMinutes: Int?) -> String {
    let (whole, micros) = parts(of: seconds, zoneMinutes)
    let (days, second) = whole.dividedFlooring(by: 86_400)
    let day = CivilDate(daysSince1970: days + daysTo2001)
    var text = "\(day.year.padded(to: 4))-\(day.month.padded(to: 2))-\(day.day.padded(to: 2))"
    text += "T" + clock(second)
    if micros > 0 {
      var fraction = micros.padded(to: 6)
      while fraction.last == "0" { fraction.removeLast() }
      text += "." + fraction
    }
    return text + (zoneMinutes.map { offset($0, ":") } ?? "Z")
  }

  /// Writes a date as RFC 5322, without the fraction of a second.
  static func rfc822(seconds: Double, zoneMinutes: Int?) -> String {
    let (whole, _) = parts(of: seconds.rounded(.down), zoneMinutes)
    let (days, second) = whole.dividedFlooring(by: 86_400)
    let day = CivilDate(daysSince1970: days + daysTo2001)
    return "\(weekdays[day.weekday]), \(day.day.padded(to: 2)) "
      + "\(months[day.month - 1]) \(day.year.padded(to: 4)) \(clock(second)) "
      + offset(zoneMinutes ?? 0, "")
  }

  /// Writes an offset from UTC: `+08:00`, or with another text in place of the colon.
  package static func offset(_ minutes: Int, _ colon: String = ":") -> String {
    let size = Int(minutes.magnitude)
    return (minutes < 0 ? "-" : "+") + (size / 60).padded(to: 2) + colon + (size % 60).padded(to: 2)
  }

  private static func parts(of seconds: Double, _ zoneMinutes: Int?) -> (whole: Int, micros: Int) {
    let floor = seconds.rounded(.down)
    let micros = Int(((seconds - floor) * 1_000_000).rounded())
    let whole = Int(floor) + (zoneMinutes ?? 0) * 60
    return micros == 1_000_000 ? (whole + 1, 0) : (whole, micros)
  }

  private static func clock(_ second: Int) -> String {
    [second / 3_600, second / 60 % 60, second % 60].map { $0.padded(to: 2) }
      .joined(separator: ":")
  }

  /// The number of days from 1970-01-01 to 2001-01-01.
  static let daysTo2001 = 11_323
}
