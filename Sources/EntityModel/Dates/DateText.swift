package import Foundation
import TextFormats

/// Reads and writes dates as texts, independently of the machine's time zone and language.
///
/// Foundation's formatters are not used: they take several microseconds, need to know in advance if
/// there is a fraction, and accept days that do not exist.
package enum DateText {
  /// Reads a time as in RFC 3339 section 5.6: `2026-11-20T10:00:00.25+08:00`. O(length).
  ///
  /// `T` and `Z` may be lower case; a space in place of `T` is refused. The fraction may have any
  /// number of digits; the first 15 count. A leap second (23:59:60 UTC) is the second after it, as
  /// in POSIX time. The day must exist in the proleptic Gregorian calendar, from the year 0 on.
  ///
  /// - Returns: `nil` if the whole text is not such a time.
  package static func rfc3339(_ text: String) -> Date? {
    var text = text
    return text.withUTF8 { rfc3339(UnsafeRawBufferPointer($0)) }
  }

  package static func rfc3339(_ bytes: UnsafeRawBufferPointer) -> Date? {
    if let seconds = plainSeconds(bytes) { return Date(timeIntervalSinceReferenceDate: seconds) }
    var scanner = DateScanner(bytes: bytes)
    guard let day = scanner.day(), scanner.take("t", or: "T"),
      let time = scanner.timeOfDay(needsSeconds: true),
      let fraction = scanner.take(".") ? scanner.fraction() : 0,
      let offset = scanner.take("z", or: "Z") ? 0 : scanner.offset(.colon), scanner.isAtEnd
    else { return nil }
    return date(DateScanner.seconds(day, time, fraction: fraction, offset: offset))
  }

  /// Reads a time of the form that nearly all feeds write, `2026-11-20T10:00:00Z`, without the
  /// steps of the scanner.
  ///
  /// - Returns: `nil` also for times of other forms.
  private static func plainSeconds(_ bytes: UnsafeRawBufferPointer) -> Double? {
    guard bytes.count == 20, let text = bytes.baseAddress else { return nil }
    // The greatest of the digits: a byte that is none gives a greater number.
    var greatest: UInt8 = 0
    func digit(_ offset: Int) -> Int {
      // SAFETY: the text has 20 bytes, and offsets are constants less than that.
      let digit = text.load(fromByteOffset: offset, as: UInt8.self) &- UInt8(ascii: "0")
      greatest = max(greatest, digit)
      return Int(digit)
    }
    func pair(_ offset: Int) -> Int { digit(offset) &* 10 &+ digit(offset &+ 1) }
    func isAt(_ offset: Int, _ character: Unicode.Scalar) -> Bool {
      // SAFETY: as above.
      UInt32(text.load(fromByteOffset: offset, as: UInt8.self)) == character.value
    }
    guard isAt(4, "-"), isAt(7, "-"), isAt(10, "T"), isAt(13, ":"), isAt(16, ":"), isAt(19, "Z")
    else { return nil }
    let (year, month, day) = (pair(0) &* 100 &+ pair(2), pair(5), pair(8))
    let (hour, minute, second) = (pair(11), pair(14), pair(17))
    guard greatest <= 9, hour <= 23, minute <= 59, second <= 59,
      let date = CivilDate(year: year, month: month, day: day)
    else { return nil }
    let days = date.daysSince1970 &- daysTo2001
    return Double(days &* 86_400 &+ hour &* 3_600 &+ minute &* 60 &+ second)
  }

  /// Reads a day, or a day and a time, in the extended format of ISO 8601 and as databases write
  /// them: `2026-11-20`, `2026-11-20 10:00`, `2026-11-20T10:00:00,25+08`. O(length).
  ///
  /// In addition to RFC 3339 it accepts a space in place of `T` and before the offset, a comma in
  /// place of the point, a time without seconds, a day without a time, and the offsets `+0800` and
  /// `+08`.
  ///
  /// - Parameter zoneMinutes: The offset of a text that has none; without it such a text is
  ///   refused.
  package static func iso8601(_ text: String, zoneMinutes: Int?) -> Date? {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = DateScanner(bytes: UnsafeRawBufferPointer(bytes))
      guard let day = scanner.day() else { return nil }
      var time = DateScanner.TimeOfDay()
      var fraction = 0.0
      var offset = zoneMinutes
      if !scanner.isAtEnd {
        guard scanner.take("t", or: "T") || scanner.take(" "),
          let found = scanner.timeOfDay(needsSeconds: false)
        else { return nil }
        time = found
        if scanner.take(".", or: ",") {
          // A time without seconds has no fraction.
          guard found.hasSeconds, let found = scanner.fraction() else { return nil }
          fraction = found
        }
        if !scanner.isAtEnd {
          _ = scanner.take(" ")
          guard let found = scanner.take("z", or: "Z") ? 0 : scanner.offset(.any) else {
            return nil
          }
          offset = found
        }
      }
      guard scanner.isAtEnd, let offset else { return nil }
      return date(DateScanner.seconds(day, time, fraction: fraction, offset: offset))
    }
  }

  /// Reads a time as in RFC 822, 1123, 2822 and 5322: `Fri, 20 Nov 2026 10:00:00 +0800`. O(length).
  ///
  /// The day of the week is optional and is not compared with the date, because many programs write
  /// a wrong one. Seconds are optional. Years of two digits are those from 1950 to 2049. Named
  /// zones are `UT`, `UTC`, `GMT`, `Z` and the eight of North America. The text may end with a
  /// comment.
  ///
  /// - Parameter zoneMinutes: The offset of a text that has none; without it such a text is
  ///   refused.
  package static func rfc822(_ text: String, zoneMinutes: Int?) -> Date? {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = DateScanner(bytes: UnsafeRawBufferPointer(bytes))
      _ = scanner.takeSpace()
      let weekday = scanner.word()
      if !weekday.isEmpty {
        guard weekdays.contains(where: { $0.lowercased() == weekday }), scanner.take(",") else {
          return nil
        }
        _ = scanner.takeSpace()
      }
      guard let day = scanner.number(digits: 1...2)?.value, scanner.takeSpace() else { return nil }
      let monthName = scanner.word()
      guard let month = months.firstIndex(where: { $0.lowercased() == monthName }),
        scanner.takeSpace(), let year = year(&scanner), scanner.takeSpace(),
        let day = CivilDate(year: year, month: month + 1, day: day),
        let time = scanner.timeOfDay(needsSeconds: false)
      else { return nil }
      _ = scanner.takeSpace()
      guard let offset = zone(&scanner, otherwise: zoneMinutes) else { return nil }
      _ = scanner.takeSpace()
      if scanner.take("("), !scanner.takeAll(endingWith: UInt8(ascii: ")")) { return nil }
      guard scanner.isAtEnd else { return nil }
      return date(DateScanner.seconds(day, time, offset: offset))
    }
  }

  /// Returns the offset from UTC, in minutes, of `Z` or a text such as `+08:00`.
  ///
  /// - Returns: `nil` if the whole text is neither.
  package static func zoneMinutes(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = DateScanner(bytes: UnsafeRawBufferPointer(bytes))
      let minutes = scanner.take("Z") ? 0 : scanner.offset(.colon)
      return scanner.isAtEnd ? minutes : nil
    }
  }

  private static func year(_ scanner: inout DateScanner) -> Int? {
    guard let (year, digits) = scanner.number(digits: 2...4), digits != 3 else { return nil }
    return digits == 4 ? year : year < 50 ? 2_000 + year : 1_900 + year
  }

  private static func zone(_ scanner: inout DateScanner, otherwise: Int?) -> Int? {
    switch scanner.word() {
    case "": scanner.isAtEnd ? otherwise : scanner.offset(.basic)
    case "z", "ut", "utc", "gmt": 0
    case "edt": -4 * 60
    case "est", "cdt": -5 * 60
    case "cst", "mdt": -6 * 60
    case "mst", "pdt": -7 * 60
    case "pst": -8 * 60
    default: nil
    }
  }

  private static func date(_ seconds: Double?) -> Date? {
    seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
