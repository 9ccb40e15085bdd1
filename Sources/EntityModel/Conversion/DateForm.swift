import Foundation
import TextFormats

extension Conversion {
  /// The form of a date that is written as a number or a text. All are times of UTC, in the years 1
  /// to 9999.
  ///
  /// Numbers may be given as texts. Dates are exact to the microsecond: nanoseconds that are read
  /// and written again may differ in the last three digits.
  public enum DateForm: String, Codable, Hashable, Sendable, CaseIterable {
    case unixSeconds, unixMilliseconds, unixMicroseconds, unixNanoseconds
    /// Seconds since 1970 modulo 2³² in an unsigned column: 1902 to 2038.
    case wrappedUnixSeconds
    /// Time since 2001, as Core Data and `Date` count.
    case coreDataSeconds, coreDataNanoseconds
    /// Microseconds since 1601, as Chrome counts.
    case webKitMicroseconds
    /// Tenths of a microsecond since 1601, as Windows counts.
    case fileTime
    /// Tenths of a microsecond since the year 1, as .NET counts.
    case ticks
    /// Days since noon of 4714-11-24 BC, to the millisecond, as SQLite reads them.
    case julianDay
    /// Texts of one exact form: `2026-11-20T10:00:00.25Z`.
    case rfc3339
    /// Texts as databases write them: RFC 3339, and also `2026-11-20`, `2026-11-20 10:00:00`,
    /// offsets as `+0800`.
    case iso8601
    /// Texts as in mail and RSS: `Fri, 20 Nov 2026 10:00:00 +0800`.
    case rfc822

    /// True for a form that is written as text only.
    package var isText: Bool {
      switch self {
      case .rfc3339, .iso8601, .rfc822: true
      default: false
      }
    }

    /// True for a form whose texts may lack the offset from UTC.
    package var mayLackZone: Bool { self == .iso8601 || self == .rfc822 }
  }
}

extension Conversion.DateForm {
  /// The dates from the year 1 to the end of the year 9999, in seconds since 2001.
  private static let range = -63_113_904_000.0..<252_423_993_600.0

  // MARK: Reading

  func date(of value: Value, zoneMinutes: Int?) throws(ConversionFailure) -> Value {
    let found: Double? =
      switch value {
      case .string(let text) where isText: date(of: text, zoneMinutes)
      case _ where isText: throw .init(.typeMismatch, value, "is no text that could be a date")
      case .int64(let number): seconds(of: number)
      case .double(let number): seconds(of: number)
      case .decimal(let number): ExactNumber(number).flatMap(seconds)
      case .string(let text): ExactNumber(text).flatMap(seconds)
      default: throw .init(.typeMismatch, value, "is neither a number nor a text of one")
      }
    guard let found else { throw .init(.badDate, value, "is no date in \(name)") }
    guard Self.range.contains(found) else {
      throw .init(.outOfRange, value, "is no date of the years 1 to 9999 in \(name)")
    }
    return .date(Date(timeIntervalSinceReferenceDate: found))
  }

  private func date(of text: String, _ zoneMinutes: Int?) -> Double? {
    let date =
      switch self {
      case .rfc3339: DateText.rfc3339(text)
      case .iso8601: DateText.iso8601(text, zoneMinutes: zoneMinutes)
      default: DateText.rfc822(text, zoneMinutes: zoneMinutes)
      }
    return date?.timeIntervalSinceReferenceDate
  }

  private func seconds(of number: ExactNumber) -> Double? {
    if case .exactly(let whole) = number.integer(nil) { return seconds(of: whole) }
    return (number.double?.nearest).flatMap(seconds)
  }

  /// Returns the seconds since 2001; `nil` for a number that `wrappedUnixSeconds` cannot hold.
  private func seconds(of number: Int64, fraction: Double = 0) -> Double? {
    switch self {
    case .julianDay: return seconds(of: Double(number))
    case .wrappedUnixSeconds:
      guard (Int64(Int32.min)...Int64(UInt32.max)).contains(number), fraction == 0 else {
        return nil
      }
      return Double(Int32(truncatingIfNeeded: number)) + epoch
    default:
      let (whole, rest) = Int(number).dividedFlooring(by: Int(perSecond))
      return Double(whole) + epoch + (Double(rest) + fraction) / perSecond
    }
  }

  private func seconds(of number: Double) -> Double? {
    guard number.isFinite else { return nil }
    if self == .julianDay {
      return ((number - Self.julianDayOf2001) * 86_400_000).rounded() / 1_000
    }
    let floor = number.rounded(.down)
    // The whole part and the fraction are converted separately, so that the fraction keeps its
    // digits.
    if let whole = Int64(exactly: floor) { return seconds(of: whole, fraction: number - floor) }
    return self == .wrappedUnixSeconds ? nil : number / perSecond + epoch
  }

  // MARK: Writing

  /// Returns the date in this form: a text or a whole number, or a double if the number is not
  /// whole.
  ///
  /// - Parameter asDouble: True if a double is wanted in any case.
  /// - Parameter mayRound: True if the form may have fewer fractional digits than the date.
  func value(
    of date: Date, zoneMinutes: Int?, asDouble: Bool, mayRound: Bool
  ) throws(ConversionFailure) -> Value {
    let seconds = date.timeIntervalSinceReferenceDate
    let shown = self == .rfc822 ? seconds.rounded() : seconds
    let local = shown + Double(zoneMinutes ?? 0) * 60
    // A date less than half a microsecond before the year 10000 would be written as that year.
    guard Self.range.contains(seconds), Self.range.contains(local + 0.000_000_5) else {
      throw .init(.outOfRange, .date(date), "is not in the years 1 to 9999")
    }
    if isText { return .string(try text(of: seconds, zoneMinutes, mayRound: mayRound)) }
    if !asDouble, let whole = try wholeNumber(of: seconds) { return .int64(whole) }
    let number = self.number(of: seconds)
    guard mayRound || self.seconds(of: number).map({ isSame($0, seconds) }) == true else {
      throw .init(.inexact, .date(date), "has more digits than \(name); say how to round")
    }
    return .double(number)
  }

  private func text(
    of seconds: Double, _ zoneMinutes: Int?, mayRound: Bool
  ) throws(ConversionFailure) -> String {
    guard self == .rfc822 else {
      return DateText.rfc3339(seconds: seconds, zoneMinutes: zoneMinutes)
    }
    guard mayRound || isSame(seconds, seconds.rounded()) else {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      throw .init(.inexact, .date(date), "has a fraction of a second; say how to round")
    }
    return DateText.rfc822(seconds: seconds.rounded(), zoneMinutes: zoneMinutes)
  }

  /// Returns the date as a whole number of units; `nil` if it lies between two of them.
  private func wholeNumber(of seconds: Double) throws(ConversionFailure) -> Int64? {
    let floor = seconds.rounded(.down)
    if self == .julianDay {
      let days = (seconds / 86_400 + Self.julianDayOf2001).rounded()
      return isSame((days - Self.julianDayOf2001) * 86_400, seconds) ? Int64(days) : nil
    }
    let rest = Int64(((seconds - floor) * perSecond).rounded())
    let (product, overflow) = Int64(floor - epoch).multipliedReportingOverflow(
      by: Int64(perSecond))
    let (number, carry) = product.addingReportingOverflow(rest)
    let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
    if overflow || carry { throw .init(.outOfRange, date, "is beyond 64 bits of \(name)") }
    if self == .wrappedUnixSeconds {
      guard isSame(Double(number) + epoch, seconds) else { return nil }
      guard let signed = Int32(exactly: number) else {
        throw .init(.outOfRange, date, "is beyond 32 bits of \(name)")
      }
      return Int64(UInt32(bitPattern: signed))
    }
    return self.seconds(of: number).map { isSame($0, seconds) } == true ? number : nil
  }

  private func number(of seconds: Double) -> Double {
    if self == .julianDay { return seconds / 86_400 + Self.julianDayOf2001 }
    let floor = seconds.rounded(.down)
    return (floor - epoch) * perSecond + (seconds - floor) * perSecond
  }

  /// Compares two dates to the microsecond, or to the precision of a double at that distance from
  /// 2001.
  private func isSame(_ first: Double, _ second: Double) -> Bool {
    abs(first - second) <= max(0.000_000_5, second.ulp)
  }

  // MARK: Units

  private static let julianDayOf2001 = 2_451_910.5

  private var perSecond: Double {
    switch self {
    case .unixMilliseconds: 1_000
    case .unixMicroseconds, .webKitMicroseconds: 1_000_000
    case .fileTime, .ticks: 10_000_000
    case .unixNanoseconds, .coreDataNanoseconds: 1_000_000_000
    default: 1
    }
  }

  /// The start of the count, in seconds since 2001.
  private var epoch: Double {
    switch self {
    case .coreDataSeconds, .coreDataNanoseconds: 0
    case .webKitMicroseconds, .fileTime: -12_622_780_800
    case .ticks: -63_113_904_000
    default: -978_307_200
    }
  }

  /// The name of the form in plans and errors.
  var name: String {
    switch self {
    case .unixSeconds: "unix seconds"
    case .unixMilliseconds: "unix milliseconds"
    case .unixMicroseconds: "unix microseconds"
    case .unixNanoseconds: "unix nanoseconds"
    case .wrappedUnixSeconds: "32-bit unix seconds"
    case .coreDataSeconds: "seconds since 2001"
    case .coreDataNanoseconds: "nanoseconds since 2001"
    case .webKitMicroseconds: "microseconds since 1601"
    case .fileTime: "Windows file times"
    case .ticks: ".NET ticks"
    case .julianDay: "Julian days"
    case .rfc3339: "RFC 3339"
    case .iso8601: "ISO 8601"
    case .rfc822: "RFC 822"
    }
  }
}
