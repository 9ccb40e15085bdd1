import Foundation
import TextFormats

/// Dates in the text form of `timestamptz`.
enum TimestampText {
  /// The microseconds since 2000 that PostgreSQL can represent: 4714-11-24 BC to 294276-12-31.
  private static let range = -211_813_488_000_000_000..<9_223_371_331_200_000_000
  /// More than any date of the range.
  private static let secondsMax = 9_223_372_000_000 - secondsTo2001
  private static let perSecond = 1_000_000
  private static let secondsPerDay = 86_400
  /// The seconds from 2000 to 2001, where dates of Swift begin.
  private static let secondsTo2001 = 366 * secondsPerDay
  /// The days from 1970 to 2000.
  private static let daysTo2000 = 10_957

  /// Returns the date, rounded to microseconds, in UTC: `2026-11-22 10:00:00.000000+00`, with `BC`
  /// at the end for the year 0 and earlier ones; `infinity` or `-infinity` for an infinite date.
  ///
  /// - Returns: `nil` for a date that PostgreSQL cannot represent.
  static func of(_ date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds.isInfinite { return seconds < 0 ? "-infinity" : "infinity" }
    // The product of all seconds has no microseconds any more after three centuries.
    let whole = seconds.rounded(.down)
    guard let wholeSeconds = Int(exactly: whole), abs(wholeSeconds) < secondsMax else { return nil }
    let microseconds = Int(((seconds - whole) * Double(perSecond)).rounded())
    let since2000 = (wholeSeconds + secondsTo2001) * perSecond + microseconds
    guard range.contains(since2000) else { return nil }
    let (days, ofDay) = since2000.dividedFlooring(by: secondsPerDay * perSecond)
    let day = CivilDate(daysSince1970: days + daysTo2000)
    let (second, fraction) = ofDay.quotientAndRemainder(dividingBy: perSecond)
    let year = day.year > 0 ? day.year : 1 - day.year
    let date = [year.padded(to: 4), day.month.padded(to: 2), day.day.padded(to: 2)]
    let time = [second / 3_600, second / 60 % 60, second % 60].map { $0.padded(to: 2) }
    return date.joined(separator: "-") + " " + time.joined(separator: ":")
      + ".\(fraction.padded(to: 6))+00" + (day.year > 0 ? "" : " BC")
  }
}
