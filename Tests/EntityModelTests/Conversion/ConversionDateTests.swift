import EntityModel
import Foundation
import TestSupport
import Testing

@Suite struct ConversionDateTests {
  /// 2026-11-20T10:00:00Z in every form, as other programs compute it (Python's datetime, SQLite's
  /// julianday, PowerShell's DateTime).
  @Test(
    arguments: [
      (.unixSeconds, 1_795_168_800), (.unixMilliseconds, 1_795_168_800_000),
      (.unixMicroseconds, 1_795_168_800_000_000), (.unixNanoseconds, 1_795_168_800_000_000_000),
      (.wrappedUnixSeconds, 1_795_168_800), (.coreDataSeconds, 816_861_600),
      (.coreDataNanoseconds, 816_861_600_000_000_000),
      (.webKitMicroseconds, 13_439_642_400_000_000), (.fileTime, 134_396_424_000_000_000),
      (.ticks, 639_307_656_000_000_000), (.julianDay, 2_461_364.9166666665),
      (.rfc3339, "2026-11-20T10:00:00Z"), (.iso8601, "2026-11-20T10:00:00Z"),
      (.rfc822, "Fri, 20 Nov 2026 10:00:00 +0000"),
    ] as [(Conversion.DateForm, Value)])
  func oneInstantInEveryForm(form: Conversion.DateForm, written: Value) throws {
    let date = Value.date(Date(timeIntervalSinceReferenceDate: 816_861_600))
    let conversion = Conversion(date: form)
    #expect(try conversion.value(from: written, to: .date) == date)
    let type: AttributeType = written.kind == .double ? .double : form.isText ? .string : .int64
    #expect(try Conversion(date: form).value(from: date, to: type) == written)
    #expect(try conversion.value(from: .string(written.text), to: .date) == date)
    guard case .int64(let number) = written else { return }
    #expect(try conversion.value(from: .double(Double(number)), to: .date) == date)
    #expect(try conversion.value(from: .decimal(Decimal(number)), to: .date) == date)
    #expect(try conversion.value(from: date, to: .double) == .double(Double(number)))
    #expect(try conversion.value(from: date, to: .decimal) == .decimal(Decimal(number)))
    #expect(try conversion.value(from: date, to: .string) == .string(String(number)))
  }

  @Test(
    "Known instants",
    arguments: [
      (.unixSeconds, 0, -978_307_200), (.unixSeconds, -329_802_140, -1_308_109_340),
      (.unixSeconds, -62_135_596_800, -63_113_904_000),
      (.unixSeconds, 253_402_300_799, 252_423_993_599),
      (.unixSeconds, 1.5, -978_307_198.5), (.unixMilliseconds, -1, -978_307_200.001),
      (.unixMilliseconds, "1500", -978_307_198.5),
      (.wrappedUnixSeconds, 3_965_165_156, -1_308_109_340),
      (.wrappedUnixSeconds, -329_802_140, -1_308_109_340),
      (.wrappedUnixSeconds, 4_294_967_295, -978_307_201),
      (.wrappedUnixSeconds, 2_147_483_647, 1_169_176_447),
      (.coreDataSeconds, -2_848_789_424, -2_848_789_424), (.coreDataSeconds, 0.25, 0.25),
      (.webKitMicroseconds, 0, -12_622_780_800), (.fileTime, 116_444_736_000_000_000, -978_307_200),
      (.ticks, 0, -63_113_904_000), (.ticks, 621_355_968_000_000_000, -978_307_200),
      (.julianDay, 2_451_911, 43_200), (.julianDay, 2_440_587.5, -978_307_200),
    ] as [(Conversion.DateForm, Value, Double)])
  func knownNumbers(form: Conversion.DateForm, value: Value, seconds: Double) throws {
    let found = try Conversion(date: form).value(from: value, to: .date)
    #expect(found == .date(Date(timeIntervalSinceReferenceDate: seconds)))
  }

  @Test(
    "Invalid dates are refused",
    arguments: [
      (.unixSeconds, 253_402_300_800, .outOfRange), (.unixSeconds, -62_135_596_801, .outOfRange),
      (.unixSeconds, 123_456_789_012_345, .outOfRange), (.unixSeconds, .int64(.max), .outOfRange),
      (.unixSeconds, .int64(.min), .outOfRange), (.unixNanoseconds, .double(1e300), .outOfRange),
      (.unixSeconds, .double(.infinity), .badDate), (.unixSeconds, .double(.nan), .badNumber),
      (.coreDataSeconds, -63_114_076_800, .outOfRange), (.unixSeconds, "twelve", .badDate),
      (.unixSeconds, "", .badDate), (.unixSeconds, "1e999999999999999999999", .badDate),
      (.wrappedUnixSeconds, 4_294_967_296, .badDate), (.wrappedUnixSeconds, 1.5, .badDate),
      (.wrappedUnixSeconds, -2_147_483_649, .badDate), (.julianDay, .double(1e300), .outOfRange),
      (.ticks, 3_155_378_975_999_999_999, .outOfRange), (.julianDay, .int64(.max), .outOfRange),
      (.unixSeconds, true, .typeMismatch),
      (.rfc3339, 5, .typeMismatch), (.rfc3339, "2026-11-20", .badDate),
      (.rfc3339, "0000-12-31T23:59:59Z", .outOfRange), (.unixSeconds, .strings([]), .typeMismatch),
    ] as [(Conversion.DateForm, Value, ConversionFailure.Code)])
  func refusedDates(form: Conversion.DateForm, value: Value, code: ConversionFailure.Code) {
    let failure = #expect(throws: ConversionFailure.self) {
      try Conversion(date: form).value(from: value, to: .date)
    }
    #expect(failure?.code == code, "\(failure?.description ?? "")")
  }

  @Test(
    "ISO 8601 as databases write it",
    arguments: [
      ("2026-11-20", 816_825_600), ("2026-11-20 10:00", 816_861_600),
      ("2026-11-20 10:00:00.250", 816_861_600.25), ("2026-11-20T10:00:00,25", 816_861_600.25),
      ("2026-11-20T18:00+08", 816_861_600), ("2026-11-20 18:00:00 +0800", 816_861_600),
      ("2026-11-20 10:00:00 Z", 816_861_600), ("2026-11-20t10:00:00z", 816_861_600),
      ("2016-12-31T23:59:60Z", 504_921_600),
    ])
  func iso8601(text: String, seconds: Double) throws {
    let conversion = Conversion(date: .iso8601, zoneMinutes: 0)
    let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
    #expect(try conversion.value(from: .string(text), to: .date) == date)
  }

  @Test(
    "A text without a zone needs one", arguments: ["2026-11-20", "2026-11-20 10:00:00.1"])
  func zoneIsNotGuessed(text: String) throws {
    #expect(throws: ConversionFailure.self) {
      try Conversion(date: .iso8601).value(from: .string(text), to: .date)
    }
    let utc = try Conversion(date: .iso8601, zoneMinutes: 0).value(from: .string(text), to: .date)
    let east = try Conversion(date: .iso8601, zoneMinutes: 480).value(
      from: .string(text), to: .date)
    guard case .date(let first) = utc, case .date(let second) = east else {
      Issue.record("no dates")
      return
    }
    #expect(first.timeIntervalSince(second) == 8 * 3_600)
  }

  @Test(
    "Texts that are no ISO 8601",
    arguments: [
      "", "2026", "2026-11", "20261120", "2026-11-20T", "2026-11-20 ", "2026-11-20T10",
      "2026-11-20T10:00.5", "2026-11-20T10:00:00.", "2026-11-20T24:00", "2026-02-29",
      "2026-11-20T10:00:00+8", "2026-11-20T10:00:00+080", "2026-11-20T10:00:00 PST",
      "2026-11-20T10:00:00ZZ", "2026-11-20  10:00", "2026-11-20T10:00:60Z",
      "20\u{661}6-11-20", "2026-11-20\0",
    ])
  func noISO8601(text: String) {
    #expect(throws: ConversionFailure.self) {
      try Conversion(date: .iso8601, zoneMinutes: 0).value(from: .string(text), to: .date)
    }
  }

  @Test(
    "RFC 822 and its successors",
    arguments: [
      ("Fri, 20 Nov 2026 10:00:00 +0000", 816_861_600), ("20 Nov 2026 10:00 GMT", 816_861_600),
      ("fri,20 nov 26 10:00:00 ut", 816_861_600), ("Mon, 20 Nov 2026 18:00:00 +0800", 816_861_600),
      ("Fri, 20 Nov 2026 05:00:00 EST", 816_861_600), ("20 Nov 2026 02:00:00 PST", 816_861_600),
      ("20 Nov 2026 10:00:00 +0000 (UTC)", 816_861_600), ("1 Jan 70 00:00:00 Z", -978_307_200),
      ("20  Nov\t2026 10:00:00", 816_861_600), ("31 Dec 2016 23:59:60 GMT", 504_921_600),
    ])
  func rfc822(text: String, seconds: Double) throws {
    let conversion = Conversion(date: .rfc822, zoneMinutes: 0)
    let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
    #expect(try conversion.value(from: .string(text), to: .date) == date)
  }

  @Test(
    "Texts that are no RFC 822",
    arguments: [
      "", "Fri", "Fri,", "Fry, 20 Nov 2026 10:00:00 GMT", "Fri 20 Nov 2026 10:00:00 GMT",
      "20 Nov 2026", "20 November 2026 10:00 GMT", "20 Nov 126 10:00 GMT", "31 Nov 2026 10:00 GMT",
      "20 Nov 2026 10:00 XYZ", "20 Nov 2026 10:00 A", "20 Nov 2026 10:00 +08:00",
      "20 Nov 2026 10:00 GMT (", "20 Nov 2026 10:00 GMT x", "0 Nov 2026 10:00 GMT",
      "20 Nov 02026 10:00 GMT",
    ])
  func noRFC822(text: String) {
    #expect(throws: ConversionFailure.self) {
      try Conversion(date: .rfc822, zoneMinutes: 0).value(from: .string(text), to: .date)
    }
  }

  @Test func textsAreWrittenInTheZone() throws {
    let date = Value.date(Date(timeIntervalSinceReferenceDate: 816_861_600.25))
    #expect(
      try Conversion(date: .iso8601, zoneMinutes: -630).value(from: date, to: .string)
        == "2026-11-19T23:30:00.25-10:30")
    #expect(
      try Conversion(date: .rfc822, zoneMinutes: 480, round: .halfEven)
        .value(from: date, to: .string) == "Fri, 20 Nov 2026 18:00:00 +0800")
  }

  @Test(
    "A loss is refused unless rounding is requested",
    arguments: [
      (.unixSeconds, .int64, 0.5, .inexact), (.julianDay, .int64, 0, .inexact),
      (.julianDay, .double, 0.000_25, .inexact), (.rfc822, .string, 0.5, .inexact),
      (.unixMilliseconds, .int64, 0.000_25, .inexact),
    ] as [(Conversion.DateForm, AttributeType, Double, ConversionFailure.Code)])
  func inexactDates(
    form: Conversion.DateForm, type: AttributeType, seconds: Double, code: ConversionFailure.Code
  ) throws {
    let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
    var conversion = Conversion(date: form)
    let failure = #expect(throws: ConversionFailure.self) {
      try conversion.value(from: date, to: type)
    }
    #expect(failure?.code == code)
    conversion.round = .halfEven
    #expect(try conversion.value(from: date, to: type).kind == type.kind)
  }

  @Test func dateRoundsAsAsked() throws {
    let date = Value.date(Date(timeIntervalSinceReferenceDate: -0.25))
    func rounded(_ rounding: Conversion.Rounding) throws -> Value {
      try Conversion(date: .coreDataSeconds, round: rounding).value(from: date, to: .int64)
    }
    #expect(try rounded(.down) == -1)
    #expect(try rounded(.up) == 0)
    #expect(try rounded(.halfEven) == 0)
  }

  @Test(
    "Dates beyond the calendar are not written",
    arguments: [
      (-63_113_904_000.0).nextDown, 252_423_993_600, .infinity, -.infinity,
      252_423_993_600.0.nextDown, 1e300,
    ])
  func datesBeyondTheCalendar(seconds: Double) {
    let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
    for form in Conversion.DateForm.allCases {
      let conversion = Conversion(date: form, zoneMinutes: 480, round: .halfEven)
      #expect(throws: ConversionFailure.self) { try conversion.value(from: date, to: .string) }
    }
  }

  @Test func wholeNumbersBeyond64BitsAreOutOfRange() throws {
    let date = Value.date(Date(timeIntervalSinceReferenceDate: 100_000_000_000))
    let failure = #expect(throws: ConversionFailure.self) {
      try Conversion(date: .unixNanoseconds).value(from: date, to: .int64)
    }
    #expect(failure?.code == .outOfRange)
    let late = #expect(throws: ConversionFailure.self) {
      try Conversion(date: .wrappedUnixSeconds).value(from: date, to: .int64)
    }
    #expect(late?.code == .outOfRange)
  }

  @Test("Every form reads what it writes", arguments: Conversion.DateForm.allCases)
  func formsRoundTrip(form: Conversion.DateForm) throws {
    let seed = testSeed(41)
    var random = SeededRandom(seed: seed)
    let conversion = Conversion(date: form)
    // Beyond these a text has fewer places than microseconds, or 32 bits do not hold the seconds.
    let years: ClosedRange<Int> =
      form == .wrappedUnixSeconds
      ? -3_000_000_000...1_100_000_000 : -63_113_900_000...252_423_900_000
    for round in 0..<2_000 {
      var seconds = Double(random.number(years))
      if ![.wrappedUnixSeconds, .rfc822, .unixSeconds, .coreDataSeconds, .julianDay].contains(form)
      {
        seconds += Double(random.number(0...999)) / 1_000
      }
      if form == .julianDay { seconds = (seconds / 43_200).rounded() * 43_200 }
      let date = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
      let isLong = [.unixNanoseconds, .coreDataNanoseconds].contains(form) && abs(seconds) > 8e9
      for type in [.int64, .double, .string, .decimal] as [AttributeType] {
        if form.isText && type != .string || isLong { continue }
        if form == .julianDay && type == .int64 { continue }
        // A double has not enough digits for so small units since so long ago.
        let isFine = [.webKitMicroseconds, .fileTime, .ticks, .unixNanoseconds].contains(form)
        if isFine && type == .double { continue }
        let written = try conversion.value(from: date, to: type)
        let back = try conversion.value(from: written, to: .date)
        guard case .date(let read) = back else {
          Issue.record("no date")
          return
        }
        let difference = abs(read.timeIntervalSinceReferenceDate - seconds)
        try #require(
          difference <= max(0.000_000_5, seconds.ulp),
          "seed \(seed), round \(round): \(date.text) as \(written) is \(back.text)")
      }
    }
  }

  @Test("Whole numbers survive as dates", arguments: Conversion.DateForm.allCases)
  func numbersRoundTrip(form: Conversion.DateForm) throws {
    let seed = testSeed(42)
    var random = SeededRandom(seed: seed)
    let magnitude: Int
    switch form {
    case .unixSeconds, .coreDataSeconds: magnitude = 60_000_000_000
    case .unixMilliseconds: magnitude = 60_000_000_000_000
    // Where dates are exact to the microsecond.
    case .unixMicroseconds: magnitude = 4_000_000_000_000_000
    case .wrappedUnixSeconds: magnitude = Int(UInt32.max)
    default: return
    }
    let conversion = Conversion(date: form)
    for _ in 0..<2_000 {
      let number = random.number((form == .wrappedUnixSeconds ? 0 : -magnitude)...magnitude)
      let date = try conversion.value(from: .int64(Int64(number)), to: .date)
      let back = try conversion.value(from: date, to: .int64)
      try #require(back == .int64(Int64(number)), "seed \(seed): \(date.text)")
    }
  }

  @Test func textsAgreeWithFoundation() throws {
    let seed = testSeed(43)
    var random = SeededRandom(seed: seed)
    let wire = DateFormatter()
    wire.locale = Locale(identifier: "en_US_POSIX")
    wire.timeZone = TimeZone(secondsFromGMT: 0)
    wire.calendar = Calendar(identifier: .iso8601)
    wire.dateFormat = "EEE, dd MMM yyyy HH:mm:ss Z"
    for _ in 0..<1_000 {
      // From 1601, before which Foundation has the Julian calendar.
      let date = Date(
        timeIntervalSinceReferenceDate: Double(random.number(-12_600_000_000...252_400_000_000)))
      let value = Value.date(date)
      try #require(
        try Conversion(date: .rfc3339).value(from: value, to: .string).text == value.text,
        "seed \(seed)")
      try #require(
        try Conversion(date: .rfc822).value(from: value, to: .string).text
          == wire.string(from: date), "seed \(seed)")
    }
  }
}
