/// A day of the Gregorian calendar without a time zone. The calendar extends before 1582.
struct CivilDate {
  /// The days since 1970-01-01.
  private(set) var day: Int
  private(set) var year: Int
  private(set) var month: Int
  private(set) var dayOfMonth: Int

  /// The calculation lets years begin in March, so that the leap day is the last, and repeat after 400
  /// years, which are 146097 days (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
  init(day: Int) {
    self.day = day
    let shifted = day + daysFromMarchOfYear0To1970
    let era = shifted.flooredQuotient(by: daysOfEra)
    let dayOfEra = shifted - era * daysOfEra
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  /// The first of a month.
  init(year: Int, month: Int) {
    let yearFromMarch = month <= 2 ? year - 1 : year
    let era = yearFromMarch.flooredQuotient(by: 400)
    let yearOfEra = yearFromMarch - era * 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    day = era * daysOfEra + dayOfEra - daysFromMarchOfYear0To1970
    self.year = year
    self.month = month
    dayOfMonth = 1
  }

  mutating func advance() {
    if dayOfMonth == lengthOfMonth {
      advanceToNextMonth()
    } else {
      day += 1
      dayOfMonth += 1
    }
  }

  mutating func advanceToNextMonth() {
    day += lengthOfMonth - dayOfMonth + 1
    dayOfMonth = 1
    year += month == 12 ? 1 : 0
    month = month == 12 ? 1 : month + 1
  }

  /// 0 is Sunday; 1970 began on a Thursday.
  var weekday: Int {
    let shifted = day + 4
    return shifted - shifted.flooredQuotient(by: 7) * 7
  }

  var lengthOfMonth: Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }
}

private let daysOfEra = 146_097
private let daysFromMarchOfYear0To1970 = 719_468
