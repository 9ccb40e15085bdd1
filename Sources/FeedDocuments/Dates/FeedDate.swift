import EntityModel
package import Foundation
import TextFormats

/// Reads the dates of feeds: RFC 822, W3C-DTF and the variants that occur in practice.
///
/// Accepted beyond the two: names of months and zones of other lengths, month before day, missing
/// weekdays, commas, seconds, times and zones (UTC then), ISO 8601 without hyphens and with ordinal
/// days, the order of C's `asctime`, slashes, clocks of 12 hours, and the words of Greek, Hungarian
/// and Korean servers.
package enum FeedDate {
  /// The longest text that is read.
  static let bytesMax = 100

  /// The rules by which a text that is in no standard form becomes a date.
  package enum Rules {
    case current
    /// Those of earlier versions, by which hashes of dates were made that are stored as ids: a
    /// clock of 12 hours counted as one of 24, and a day with anything after it was a date.
    case ofStoredIDs
  }

  /// Returns the time in RFC 3339, in UTC and with the fraction that the text has; nil if the text
  /// is no date.
  static func rfc3339(_ text: String, _ rules: Rules = .current) -> String? {
    date(text, rules).map {
      DateText.rfc3339(seconds: $0.timeIntervalSinceReferenceDate, zoneMinutes: nil)
    }
  }

  /// Returns the time; nil if the text is no date of the years 1 to 9999.
  package static func date(_ text: String, _ rules: Rules = .current) -> Date? {
    guard let date = exactDate(text) ?? otherDate(text.trimmed, rules),
      (-63_113_904_000..<252_423_993_599).contains(date.timeIntervalSinceReferenceDate)
    else { return nil }
    return date
  }

  /// Reads the two forms that nearly all feeds have.
  private static func exactDate(_ text: String) -> Date? {
    DateText.rfc3339(text) ?? DateText.rfc822(text, zoneMinutes: 0)
  }

  private static func otherDate(_ text: String, _ rules: Rules) -> Date? {
    guard !text.isEmpty, text.utf8.count <= bytesMax else { return nil }
    if let date = exactDate(text) { return date }
    var text = translated(text.lowercased())
    if rules == .current || text.hasSuffix("m +09:00") { text = withClockOf24Hours(text) }
    let words = text.split(whereSeparator: \.isWhitespace)
    return w3cDate(text, rules) ?? mailDate(words, rules) ?? asctimeDate(words, rules)
      ?? slashDate(words, rules) ?? compactDate(text, rules)
      ?? (rules == .ofStoredIDs ? beginning(of: text) : nil)
  }

  // MARK: W3C-DTF

  /// `2003-12-31T10:14:55Z` and less: without a day, a time, seconds or a zone, with spaces, with
  /// numbers of fewer digits.
  private static func w3cDate(_ text: String, _ rules: Rules) -> Date? {
    var parts = text.split(separator: "t", omittingEmptySubsequences: false)
    let isSpaced =
      rules == .current && parts[0].split(whereSeparator: \.isWhitespace).count > 1
    if parts.count == 1 || isSpaced { parts = text.split(whereSeparator: \.isWhitespace) }
    if isSpaced, parts[0].last == "," { parts[0].removeLast() }
    guard (1...3).contains(parts.count), let day = day(parts[0]) else { return nil }
    guard parts.count > 1 else { return moment(day, "00:00:00", "z", rules) }
    var clock = parts[1], zone = parts.count > 2 ? parts[2] : ""
    if let sign = clock.firstIndex(where: { $0 == "+" || $0 == "-" }) {
      zone = clock[sign...]
      clock = clock[..<sign]
    } else if clock.hasSuffix("z") {
      clock = clock.dropLast()
    } else if let letter = clock.firstIndex(where: \.isLetter) {
      zone = clock[letter...]
      clock = clock[..<letter]
    }
    return moment(day, trimmed(clock), trimmed(zone), rules, rollsOver: true)
  }

  /// Reads the day at the beginning of a text whose rest is no time.
  private static func beginning(of text: String) -> Date? {
    guard text.utf8.count > 10, let day = day(text.prefix(10)) else { return nil }
    return moment(day, "00:00:00", "", .ofStoredIDs)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop(while: \.isWhitespace)
    return start.prefix { !$0.isWhitespace }
  }

  private static func day(_ text: Substring) -> Day? {
    let parts = trimmed(text).split(separator: "-", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), parts[0].count == 4, let year = Int(parts[0]) else {
      return nil
    }
    guard let month = parts.count > 1 ? Int(parts[1]) : 1,
      let day = parts.count > 2 ? Int(parts[2]) : 1
    else { return nil }
    return Day(year: year, month: month, day: day)
  }

  // MARK: RFC 822

  /// `Thu, 01 Jan 2004 19:48:21 GMT` and less.
  private static func mailDate(_ words: [Substring], _ rules: Rules) -> Date? {
    var words = words
    if let first = words.first, weekdays.contains(String(first.prefix(3))) {
      words.removeFirst()
      // "Thu,01 Jan 2004" has no space that separates them.
      if let comma = first.firstIndex(of: ","), first.index(after: comma) < first.endIndex {
        words.insert(first[first.index(after: comma)...], at: 0)
      }
    }
    guard words.count >= 3 else { return nil }
    let day: Int, month: Int
    if let number = number(words[0]), let name = self.month(words[1]) {
      (day, month) = (number, name)
    } else if let number = number(words[1]), let name = self.month(words[0]) {
      (day, month) = (number, name)
    } else {
      return nil
    }
    let last = rules == .current ? number(words[2]) : Int(words[2])
    guard var year = last, year >= 0 else { return nil }
    if words[2].prefix(while: \.isNumber).count <= 2 {
      year += year < 90 ? 2_000 : 1_900
    }
    return moment(
      Day(year: year, month: month, day: day), words.count > 3 ? words[3] : "00:00:00",
      words.count > 4 ? words[4] : "", rules)
  }

  /// `Sun Jan 4 16:29:06 2004`, perhaps with a zone before the year.
  private static func asctimeDate(_ words: [Substring], _ rules: Rules) -> Date? {
    guard words.count == 5 || words.count == 6, weekdays.contains(String(words[0].prefix(3))),
      let month = month(words[1]), let day = number(words[2]),
      let year = words.last.flatMap({ Int($0) })
    else { return nil }
    return moment(
      Day(year: year, month: month, day: day), words[3], words.count == 6 ? words[4] : "", rules)
  }

  /// `Fri, 2006/09/15 08:19:53 EDT`
  private static func slashDate(_ words: [Substring], _ rules: Rules) -> Date? {
    let words = words.first?.hasSuffix(",") == true ? Array(words.dropFirst()) : words
    guard let first = words.first else { return nil }
    let parts = first.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, first.prefix(while: { $0 != "/" }).count == 4, let year = parts[0],
      let month = parts[1], let day = parts[2]
    else { return nil }
    return moment(
      Day(year: year, month: month, day: day), words.count > 1 ? words[1] : "00:00:00",
      words.count > 2 ? words[2] : "", rules)
  }

  // MARK: ISO 8601

  /// `20040105`, `2004-005`, `040105`, `20040105T10:00Z`.
  private static func compactDate(_ text: String, _ rules: Rules) -> Date? {
    let parts = text.split(separator: "t", maxSplits: 1, omittingEmptySubsequences: false)
    let hasHyphen = parts[0].contains("-")
    let digits = parts[0].filter { $0 != "-" }
    guard digits.utf8.allSatisfy({ Ascii.isDigit($0) }),
      digits.utf8.count == parts[0].utf8.count || (hasHyphen && parts[0].first != "-")
    else { return nil }
    func number(_ from: Int, _ count: Int) -> Int {
      Int(digits.dropFirst(from).prefix(count)) ?? 0
    }
    let day: Day
    switch digits.utf8.count {
    case 8: day = Day(year: number(0, 4), month: number(4, 2), day: number(6, 2))
    case 7: day = Day(year: number(0, 4), month: 1, day: number(4, 3))
    case 6: day = Day(year: 2_000 + number(0, 2), month: number(2, 2), day: number(4, 2))
    case 5: day = Day(year: 2_000 + number(0, 2), month: 1, day: number(2, 3))
    default: return nil
    }
    guard parts.count == 2 else { return moment(day, "00:00:00", "", rules) }
    let clock = parts[1].prefix { !"+-z".contains($0) }
    return moment(day, clock, parts[1].dropFirst(clock.count), rules)
  }

  // MARK: The moment

  private struct Day {
    var year: Int
    var month: Int
    /// May exceed the length of the month if the date has an ordinal day.
    var day: Int
  }

  /// - Parameter rollsOver: True if the 31st of June counts as the 1st of July and 24:00 as 0:00 of
  ///   the next day, as in C's `mktime`.
  private static func moment(
    _ day: Day, _ clock: Substring, _ zone: Substring, _ rules: Rules, rollsOver: Bool = false
  ) -> Date? {
    guard (1...9_998).contains(day.year), (1...(rollsOver ? 19 : 12)).contains(day.month),
      let seconds = seconds(clock, rules, rollsOver: rollsOver),
      let minutes = minutes(zone, rules)
    else { return nil }
    let (year, month) = (day.year + (day.month - 1) / 12, (day.month - 1) % 12 + 1)
    let isOrdinal = !rollsOver && day.month == 1 && day.day > 31
    guard (1...(isOrdinal ? 366 : rollsOver ? 39 : 31)).contains(day.day),
      rollsOver || isOrdinal || date(year, month, day.day) != nil,
      let first = date(year, month, 1)
    else { return nil }
    return first + Double(day.day - 1) * 86_400 + seconds - Double(minutes) * 60
  }

  private static func date(_ year: Int, _ month: Int, _ day: Int) -> Date? {
    DateText.rfc3339(
      "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))T00:00:00Z")
  }

  /// `10:14:55.25`, `10:14`, `10`.
  private static func seconds(
    _ clock: some StringProtocol, _ rules: Rules, rollsOver: Bool
  ) -> Double? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var values = [0.0, 0, 0]
    for (index, part) in parts.enumerated() {
      let part = part.replacingOccurrences(of: ",", with: ".")
      guard part.utf8.allSatisfy({ Ascii.isDigit($0) || $0 == UInt8(ascii: ".") }),
        let value = Double(part)
      else { return nil }
      values[index] = index == 2 ? value : value.rounded(.down)
    }
    let limits =
      rollsOver && rules == .ofStoredIDs ? [100.0, 100, 100] : [rollsOver ? 25 : 24, 60, 61]
    guard zip(values, limits).allSatisfy({ $0 < $1 }) else { return nil }
    return values[0] * 3_600 + values[1] * 60 + values[2]
  }

  /// Returns the minutes that the zone is ahead of UTC; 0 for an unknown name.
  private static func minutes(_ zone: some StringProtocol, _ rules: Rules) -> Int? {
    var zone = zone.trimmingPrefix("etc/")
    if zone.hasPrefix("gmt"), zone.count > 3 { zone = zone.dropFirst(3) }
    if zone.hasPrefix("utc"), zone.count > 3 { zone = zone.dropFirst(3) }
    guard let sign = zone.first, sign == "+" || sign == "-" else {
      if let hours = zones[String(zone)] { return hours * 60 }
      let isName = zone.utf8.count <= zoneBytesMax && zone.utf8.allSatisfy(Ascii.isLetter)
      return isName || rules == .ofStoredIDs ? 0 : nil
    }
    let digits = String(zone.dropFirst().filter { $0 != ":" })
    guard (1...4).contains(digits.count), digits.utf8.allSatisfy({ Ascii.isDigit($0) }),
      let hours = Int(digits.prefix(2)), let rest = Int("0" + digits.dropFirst(2)), hours < 25,
      rest < 60
    else { return nil }
    return (sign == "-" ? -1 : 1) * (hours * 60 + rest)
  }

  // MARK: Words

  private static func number(_ word: Substring) -> Int? {
    Int(word.last == "," || word.last == "." ? word.dropLast() : word)
  }

  private static func month(_ word: Substring) -> Int? {
    months.firstIndex(of: String(word.prefix(3))).map { $0 + 1 }
  }

  /// The longest name of a zone that is not known.
  private static let zoneBytesMax = 5

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  private static let weekdays: Set<String> = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  /// Hours ahead of UTC, those of RFC 822 and the ones that follow its pattern.
  private static let zones = [
    "adt": -3, "ast": -4, "at": -4, "edt": -4, "est": -5, "et": -5, "cdt": -5, "cst": -6,
    "ct": -6, "mdt": -6, "mst": -7, "mt": -7, "pdt": -7, "pst": -8, "pt": -8, "a": -1, "n": 1,
    "m": -12, "y": 12, "met": 1, "mest": 2, "cet": 1, "cest": 2, "bst": 1, "jst": 9,
  ]
}
