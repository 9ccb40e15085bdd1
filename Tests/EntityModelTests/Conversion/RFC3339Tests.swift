import EntityModel
import Foundation
import TestSupport
import Testing

@Suite struct RFC3339Tests {
  @Test(arguments: [
    ("2001-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00Z", -978_307_200),
    ("2026-11-20T10:00:00Z", 816_861_600), ("2026-11-20t18:00:00+08:00", 816_861_600),
    ("2026-11-20T10:00:00z", 816_861_600), ("2026-11-19T23:30:00-10:30", 816_861_600),
    ("2026-11-20T10:00:00-00:00", 816_861_600), ("2026-11-20T10:00:00.123Z", 816_861_600.123),
    ("2026-11-20T10:00:00.5000000000000000000000001Z", 816_861_600.5),
    ("2026-11-20T10:00:00.0Z", 816_861_600), ("2024-02-29T00:00:00Z", 730_857_600),
    ("2000-02-29T12:00:00Z", -26_481_600), ("2016-12-31T23:59:60Z", 504_921_600),
    ("2017-01-01T07:59:60+08:00", 504_921_600), ("0000-01-01T00:00:00Z", -63_145_526_400),
    ("9999-12-31T23:59:59Z", 252_423_993_599),
  ])
  func readsTimes(text: String, seconds: Double) {
    #expect(DateText.rfc3339(text)?.timeIntervalSinceReferenceDate == seconds)
  }

  /// Times of 20 characters with capital letters are read by code of their own.
  @Test func theLettersOfATimeMayHaveAnyCase() throws {
    var random = SeededRandom(seed: testSeed(71))
    var times = 0
    for round in 0..<20_000 {
      var bytes = Array("2026-11-20T10:00:00Z".utf8)
      for place in bytes.indices where bytes[place] < UInt8(ascii: "A") && random.oneIn(2) {
        bytes[place] = random.oneIn(40) ? random.pick(Array("/:-T.9 ".utf8)) : bytes[place]
        if (0x30...0x39).contains(bytes[place]) {
          bytes[place] = 0x30 + UInt8(random.number(0...9))
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let seconds = DateText.rfc3339(text)?.timeIntervalSinceReferenceDate
      let other = DateText.rfc3339(text.lowercased())?.timeIntervalSinceReferenceDate
      try #require(seconds == other, "seed \(random.seed), round \(round): \(text)")
      if seconds != nil { times += 1 }
    }
    #expect(times > 100)
  }

  @Test(arguments: [
    "", "2026", "2026-11-20", "2026-11-20T10:00:00", "2026-11-20 10:00:00Z", "2026-11-20T10:00Z",
    "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z", "2026-11-20T10:00:61Z", "2026-11-20T10:00:60Z",
    "2026-02-29T10:00:00Z", "2100-02-29T10:00:00Z", "2026-04-31T10:00:00Z", "2026-00-10T10:00:00Z",
    "2026-13-10T10:00:00Z", "2026-11-00T10:00:00Z", "2026-11-20T10:00:00.Z",
    "2026-11-20T10:00:00,5Z",
    "2026-11-20T10:00:00+0800", "2026-11-20T10:00:00+08", "2026-11-20T10:00:00+24:00",
    "2026-11-20T10:00:00+08:60", "2026-11-20T10:00:00ZZ", " 2026-11-20T10:00:00Z",
    "2026-11-20T10:00:00Z ", "26-11-20T10:00:00Z", "+2026-11-20T10:00:00Z", "2026-11-20T10:00:00 Z",
    "２０２６-11-20T10:00:00Z", "2026-1-20T10:00:00Z", "-001-11-20T10:00:00Z",
  ])
  func refusesWhatIsNoTime(text: String) {
    #expect(DateText.rfc3339(text) == nil)
  }

  @Test func agreesWithFoundationOnRandomTimes() throws {
    let seed: UInt64 = 3_339
    var numbers = SeededRandom(seed: seed)
    for round in 0..<2_000 {
      let whole = Double(Int.random(in: -12_000_000_000...60_000_000_000, using: &numbers))
      let offset = Int.random(in: -1_079...1_079, using: &numbers)
      let zone = try #require(TimeZone(secondsFromGMT: offset * 60))
      let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone)
      let text = Date(timeIntervalSinceReferenceDate: whole).formatted(style)
      #expect(
        DateText.rfc3339(text)?.timeIntervalSinceReferenceDate == whole,
        "seed \(seed), round \(round): \(text)")
    }
  }

  @Test func knowsEveryDayOfFourHundredYears() {
    let days = 146_097
    let style = Date.ISO8601FormatStyle()
    for day in stride(from: 0, to: days, by: 7) {
      let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
      #expect(DateText.rfc3339(date.formatted(style)) == date)
    }
  }
}
