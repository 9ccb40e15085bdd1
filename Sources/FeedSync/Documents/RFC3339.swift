import Foundation

/// Times as RFC 3339 section 5.6 writes them: `2026-11-20T10:00:00.25+08:00`.
///
/// Foundation's ISO 8601 formatters take several microseconds, want to be told whether there is a
/// fraction, and accept days that do not exist; a feed page has thousands of times.
enum RFC3339 {
  /// The time, or nil if the text is not one. O(length), allocates nothing.
  ///
  /// `T` and `Z` may be lower case; a space in place of `T` is refused. The fraction may have any
  /// number of digits; the first 15 count. A leap second (23:59:60 UTC) is the second after it, as
  /// in POSIX time. The day must exist in the proleptic Gregorian calendar.
  static func date(_ text: String) -> Date? {
    var text = text
    return text.withUTF8 { date(UnsafeRawBufferPointer($0)) }
  }

  static func date(_ bytes: UnsafeRawBufferPointer) -> Date? {
    var scanner = Scanner(bytes: bytes)
    guard let day = scanner.day(), scanner.skip("t", or: "T"),
      let time = scanner.timeOfDay(), let fraction = scanner.fraction(),
      let offset = scanner.offset(), scanner.isAtEnd
    else { return nil }

    let minutes = time.minuteOfDay - offset
    if time.second == 60, (minutes % 1_440 + 1_440) % 1_440 != 1_439 { return nil }
    let seconds = (day - daysToReferenceDate) * 86_400 + minutes * 60 + time.second
    return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
  }

  /// Days from 0000-03-01 to 2001-01-01, where `Date` begins to count.
  private static let daysToReferenceDate = 730_791

  private struct Scanner {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    /// Days since 0000-03-01. Years begin in March, so that the leap day is the last of its year.
    mutating func day() -> Int? {
      guard let year = number(digits: 4), skip("-"), let month = number(digits: 2), skip("-"),
        let day = number(digits: 2), (1...12).contains(month), day >= 1,
        day <= Self.days(in: month, of: year)
      else { return nil }
      let marchYear = month > 2 ? year : year - 1
      let marchMonth = (month + 9) % 12
      // Year 0's January and February belong to year -1, where division must round down.
      let century = marchYear < 0 ? -1 : marchYear / 100
      let leapDays =
        (marchYear < 0 ? -1 : marchYear / 4) - century
        + (marchYear < 0 ? -1 : marchYear / 400)
      return marchYear * 365 + leapDays + (marchMonth * 153 + 2) / 5 + day - 1
    }

    private static func days(in month: Int, of year: Int) -> Int {
      switch month {
      case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
      case 4, 6, 9, 11: 30
      default: 31
      }
    }

    mutating func timeOfDay() -> (minuteOfDay: Int, second: Int)? {
      guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
        let second = number(digits: 2), hour <= 23, minute <= 59, second <= 60
      else { return nil }
      return (hour * 60 + minute, second)
    }

    /// The fraction of a second, 0 if there is none.
    mutating func fraction() -> Double? {
      guard skip(".") else { return 0 }
      var digits = 0
      var scale = 1.0
      let start = position
      while let digit = digit() {
        // Both operands of the division stay exact in a Double up to here.
        if position - start <= 15 {
          digits = digits * 10 + digit
          scale *= 10
        }
      }
      return position > start ? Double(digits) / scale : nil
    }

    /// Minutes that the text is ahead of UTC.
    mutating func offset() -> Int? {
      if skip("z", or: "Z") { return 0 }
      let sign = skip("+") ? 1 : skip("-") ? -1 : 0
      guard sign != 0, let hours = number(digits: 2), skip(":"),
        let minutes = number(digits: 2), hours <= 23, minutes <= 59
      else { return nil }
      return sign * (hours * 60 + minutes)
    }

    mutating func skip(_ byte: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
      guard position < bytes.count else { return false }
      let found = UInt32(bytes[position])
      guard found == byte.value || found == other?.value else { return false }
      position += 1
      return true
    }

    private mutating func number(digits count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    private mutating func digit() -> Int? {
      guard position < bytes.count else { return nil }
      let value = Int(bytes[position]) - 48
      guard 0...9 ~= value else { return nil }
      position += 1
      return value
    }
  }
}
