/// A day of the proleptic Gregorian calendar, by arithmetic alone: neither the machine's time zone
/// nor its language has a part in it.
struct CalendarDay {
  var year: Int
  /// From 1.
  var month: Int
  var day: Int

  /// `nil` for a day that does not exist.
  init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.days(in: month, of: year)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// - Parameter days: Since 2001-01-01, not before the year 0.
  init(days: Int) {
    // Years begin in March, so that the leap day is the last of its year; eras have 400 years.
    let (era, ofEra) = Self.divide(days + Self.daysToReferenceDay, by: 146_097)
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * ofYear + 2) / 153
    day = ofYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  /// Days since 2001-01-01.
  var days: Int {
    let (era, yearOfEra) = Self.divide(month > 2 ? year : year - 1, by: 400)
    let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
    return era * 146_097 + ofEra - Self.daysToReferenceDay
  }

  /// 2001-01-01 was a Monday. From Monday, 0.
  static func weekday(days: Int) -> Int { divide(days, by: 7).remainder }

  /// Rounds down, where `/` rounds toward zero.
  static func divide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// From 0000-03-01.
  private static let daysToReferenceDay = 730_791

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
