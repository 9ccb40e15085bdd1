import Foundation
import TextFormats

/// Instants as whole seconds since 1970 in UTC, which suffice for schedules. No calculation
/// overflows between the years 1 and 9999.
enum WholeSecond {
  static let earliest = -62_135_596_800
  static let latest = 253_402_300_799

  /// The whole second at or before a date. A date outside of the years gives the nearer end, and
  /// one that is not a number the earliest second.
  static func floor(of date: Date) -> Int {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    guard seconds > Double(earliest) else { return earliest }
    return seconds < Double(latest) ? Int(seconds) : latest
  }

  static func date(_ second: Int) -> Date {
    Date(timeIntervalSince1970: Double(second))
  }

  static func next(multipleOf period: Int, after second: Int) -> Int? {
    let next = (second.dividedFlooring(by: period).quotient + 1) * period
    return next <= latest ? next : nil
  }
}
