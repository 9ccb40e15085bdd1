import Foundation
import TextFormats

// Dates in the words of people.
extension FeedDate {
  /// Returns the text with the words of three languages in English or as numbers, in lower case.
  static func translated(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) || text.contains("-") else { return text }
    let original = text
    var text = text
    // The first two bytes rule most words out.
    let pairs = Set(zip(text.utf8, text.utf8.dropFirst()).map { UInt16($0) << 8 | UInt16($1) })
    for (pair, word, other) in words where pairs.contains(pair) && text.contains(word) {
      text = text.replacingOccurrences(of: word, with: other)
    }
    if text != original, original.contains("년"), !text.contains("+") { return text + "+09:00" }
    return original.contains("오") ? koreanClock(text) : text
  }

  /// Translates `2004-05-25 오후 11:23:17`, in which the half of the day is before the clock.
  private static func koreanClock(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 3, words[1] == "오전" || words[1] == "오후" else { return text }
    return "\(words[0]) \(words[2])\(words[1] == "오후" ? "pm" : "am") +09:00"
  }

  // MARK: Clocks of 12 hours

  /// Returns the text with the hour of `04:42 pm`, `4:42pm` or `12:05:10 a.m.` as that of 24 hours.
  static func withClockOf24Hours(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard let (marker, isAfternoon) = halfOfDay(bytes) else { return text }
    let end = bytes[..<marker.lowerBound].lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
    let isClock = { (byte: UInt8) in Ascii.isDigit(byte) || byte == 0x3A || byte == 0x2E }
    let start = bytes[..<end].lastIndex { !isClock($0) }.map { $0 + 1 } ?? 0
    let digits = bytes[start..<end].prefix(while: Ascii.isDigit)
    guard (1...2).contains(digits.count), let hour = Int(String(decoding: digits, as: UTF8.self))
    else { return text }
    // 13:05 PM is a clock of 24 hours.
    let hourOfDay = hour > 12 ? hour : hour % 12 + (isAfternoon ? 12 : 0)
    var result = Array(bytes[..<start])
    result += hourOfDay.padded(to: 2).utf8
    result += bytes[digits.endIndex..<end]
    let rest = bytes[marker.upperBound...]
    if !rest.isEmpty { result += [0x20] + rest }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the place of `am`, `pm`, `a.m.` or `p.m.` after a number, and if it is the second
  /// half.
  private static func halfOfDay(_ bytes: [UInt8]) -> (range: Range<Int>, isAfternoon: Bool)? {
    for start in bytes.indices.dropFirst() where bytes[start] == 0x61 || bytes[start] == 0x70 {
      let before = bytes[..<start].last { $0 != 0x20 }
      guard before.map(Ascii.isDigit) == true else { continue }
      for marker in ["am", "pm", "a.m.", "a.m", "p.m.", "p.m"]
      where bytes[start...].starts(with: marker.utf8) {
        let end = start + marker.utf8.count
        if end < bytes.count, Ascii.isLetter(bytes[end]) { continue }
        return (start..<end, bytes[start] == 0x70)
      }
    }
    return nil
  }

  /// The translations, each with the first two bytes of its word.
  private static let words = translations.map { word, other in
    (word.utf8.prefix(2).reduce(0 as UInt16) { $0 << 8 | UInt16($1) }, word, other)
  }

  private static let translations = [
    ("년 ", "-"), ("월 ", "-"), ("일 ", "t"), ("ιαν", "jan"), ("φεβ", "feb"), ("μάώ", "mar"),
    ("μαώ", "mar"), ("απρ", "apr"), ("μάι", "may"), ("μαϊ", "may"), ("μαι", "may"),
    ("ιούν", "jun"), ("ιον", "jun"), ("ιούλ", "jul"), ("ιολ", "jul"), ("αύγ", "aug"),
    ("αυγ", "aug"), ("σεπ", "sep"), ("οκτ", "oct"), ("νοέ", "nov"), ("νοε", "nov"),
    ("δεκ", "dec"), ("κυρ", "sun"), ("δευ", "mon"), ("τρι", "tue"), ("τετ", "wed"),
    ("πεμ", "thu"), ("παρ", "fri"), ("σαβ", "sat"), ("-január-", "-01-"), ("-februári-", "-02-"),
    ("-március-", "-03-"), ("-április-", "-04-"), ("-máujus-", "-05-"), ("-május-", "-05-"),
    ("-június-", "-06-"), ("-július-", "-07-"), ("-augusztus-", "-08-"), ("-szeptember-", "-09-"),
    ("-október-", "-10-"), ("-november-", "-11-"), ("-december-", "-12-"),
  ]
}
