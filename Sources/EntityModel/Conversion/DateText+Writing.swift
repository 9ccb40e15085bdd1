extension DateText {
  /// A date as RFC 3339 has it, with as many places of a second as it needs, at most six.
  ///
  /// - Parameter seconds: Since 2001, between the years 1 and 9999.
  /// - Parameter zoneMinutes: What the text is ahead of UTC; without it, it ends with `Z`.
  package static func rfc3339(seconds: Double, zoneMinutes: Int?) -> String {
    let (whole, micros) = parts(of: seconds, zoneMinutes)
    let (days, second) = CalendarDay.divide(whole, by: 86_400)
    let day = CalendarDay(days: days)
    var text = "\(padded(day.year, 4))-\(padded(day.month, 2))-\(padded(day.day, 2))"
    text += "T" + clock(second)
    if micros > 0 {
      var fraction = padded(micros, 6)
      while fraction.last == "0" { fraction.removeLast() }
      text += "." + fraction
    }
    return text + (zoneMinutes.map { offset($0, ":") } ?? "Z")
  }

  /// A date as RFC 5322 has it. A fraction of a second is lost.
  static func rfc822(seconds: Double, zoneMinutes: Int?) -> String {
    let (whole, _) = parts(of: seconds.rounded(.down), zoneMinutes)
    let (days, second) = CalendarDay.divide(whole, by: 86_400)
    let day = CalendarDay(days: days)
    return "\(weekdays[CalendarDay.weekday(days: days)]), \(padded(day.day, 2)) "
      + "\(months[day.month - 1]) \(padded(day.year, 4)) \(clock(second)) "
      + offset(zoneMinutes ?? 0, "")
  }

  /// `+08:00`, or without the colon.
  package static func offset(_ minutes: Int, _ colon: String = ":") -> String {
    let size = Int(minutes.magnitude)
    return (minutes < 0 ? "-" : "+") + padded(size / 60, 2) + colon + padded(size % 60, 2)
  }

  private static func parts(of seconds: Double, _ zoneMinutes: Int?) -> (whole: Int, micros: Int) {
    let floor = seconds.rounded(.down)
    let micros = Int(((seconds - floor) * 1_000_000).rounded())
    let whole = Int(floor) + (zoneMinutes ?? 0) * 60
    return micros == 1_000_000 ? (whole + 1, 0) : (whole, micros)
  }

  private static func clock(_ second: Int) -> String {
    "\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
