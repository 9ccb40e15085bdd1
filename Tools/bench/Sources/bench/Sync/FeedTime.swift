import Glibc

/// Times as the feed writes them.
enum FeedTime {
  private static let secondsFrom1970To2001 = 978_307_200.0

  /// `2026-01-02T03:04:05Z` of whole seconds since 2001.
  static func text(_ date: Double) -> String {
    var seconds = time_t(date + secondsFrom1970To2001)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
    let time = [(parts.tm_hour, 2), (parts.tm_min, 2), (parts.tm_sec, 2)]
    return day.map(digits).joined(separator: "-") + "T" + time.map(digits).joined(separator: ":")
      + "Z"
  }
}
