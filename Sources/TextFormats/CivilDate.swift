/// A day of the proleptic Gregorian calendar, by arithmetic alone: the time zone and the language
/// of the machine are not used.
@frozen
@usableFromInline
package struct CivilDate: Hashable, Sendable {
  @usableFromInline
  package var year: Int
  /// The month, from 1 to 12.
  @usableFromInline
  package var month: Int
  /// The day of the month, from 1.
  @usableFromInline
  package var day: Int

  /// Creates a day from its parts.
  ///
  /// - Returns: `nil` for a day that does not exist, or is outside of the years 0 to 9999.
  @inlinable
  package init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    guard day <= daysInMonth else { return nil }
  }

  /// Creates a day from its number.
  ///
  /// - Parameter days: The number of days since 1970-01-01.
  @inlinable
  package init(daysSince1970 days: Int) {
    // Years are counted from March, so that the leap day is the last of its year. The calendar
    // repeats every 400 years or 146097 days (Hinnant, "chrono-Compatible Low-Level Date
    // Algorithms").
    let (era, ofEra) = (days + Self.daysTo1970).dividedFlooring(by: Self.daysOfEra)
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * ofYear + 2) / 153
    day = ofYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  @inlinable
  package var daysSince1970: Int {
    let (era, yearOfEra) = (month > 2 ? year : year - 1).dividedFlooring(by: 400)
    let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
    return era * Self.daysOfEra + ofEra - Self.daysTo1970
  }

  /// The day of the week; 0 is Sunday.
  package var weekday: Int { Self.weekday(daysSince1970: daysSince1970) }

  /// Returns the day of the week; 0 is Sunday. 1970 began on a Thursday.
  package static func weekday(daysSince1970 days: Int) -> Int {
    (days + 4).dividedFlooring(by: 7).remainder
  }

  @inlinable
  package var daysInMonth: Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Changes the day to the first one of the next month.
  package mutating func advanceToNextMonth() {
    (year, month, day) = month == 12 ? (year + 1, 1, 1) : (year, month + 1, 1)
  }

  @inlinable
  static var daysOfEra: Int { 146_097 }

  /// The number of days from 0000-03-01 to 1970-01-01.
  @inlinable
  static var daysTo1970: Int { 719_468 }
}

extension Int {
  /// Divides and rounds down, where `/` rounds toward zero.
  @inlinable
  package func dividedFlooring(by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// Returns the number in decimal digits, with leading zeros up to a width.
  package func padded(to width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
  }
}
