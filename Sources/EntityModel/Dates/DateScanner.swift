import TextFormats

/// Reads the parts of date texts. Each method consumes its part, or returns `nil` if the text at
/// the position is not one.
struct DateScanner {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Reads a day: `2026-11-20`.
  mutating func day() -> CivilDate? {
    guard let year = number(digits: 4), take("-"), let month = number(digits: 2), take("-"),
      let day = number(digits: 2)
    else { return nil }
    return CivilDate(year: year, month: month, day: day)
  }

  struct TimeOfDay {
    var minutes = 0
    var second = 0
    var hasSeconds = false
  }

  /// Reads a time of day: `10:00:00`. The second may be 60.
  ///
  /// - Parameter needsSeconds: True if `10:00` is refused.
  mutating func timeOfDay(needsSeconds: Bool) -> TimeOfDay? {
    guard let hour = number(digits: 2), hour <= 23, take(":"), let minute = number(digits: 2),
      minute <= 59
    else { return nil }
    var time = TimeOfDay(minutes: hour * 60 + minute)
    guard take(":") else { return needsSeconds ? nil : time }
    guard let second = number(digits: 2), second <= 60 else { return nil }
    time.second = second
    time.hasSeconds = true
    return time
  }

  /// Reads the fraction of a second after its point, of any number of digits; the first 15 count.
  mutating func fraction() -> Double? {
    var digits = 0
    var scale = 1.0
    let start = position
    while let digit = digit() {
      // Both operands of the division are exact in a Double up to this number of digits.
      if position - start <= 15 {
        digits = digits * 10 + digit
        scale *= 10
      }
    }
    return position > start ? Double(digits) / scale : nil
  }

  enum OffsetStyle {
    /// `+08:00`
    case colon
    /// `+0800`
    case basic
    /// Either of the two, and `+08`.
    case any
  }

  /// Reads an offset from UTC, beginning at its sign. In minutes.
  mutating func offset(_ style: OffsetStyle) -> Int? {
    let sign = take("+") ? 1 : take("-") ? -1 : 0
    guard sign != 0, let hours = number(digits: 2), hours <= 23 else { return nil }
    switch style {
    case .colon: guard take(":") else { return nil }
    case .basic: break
    case .any: if !take(":"), !isAtDigit { return sign * hours * 60 }
    }
    guard let minutes = number(digits: 2), minutes <= 59 else { return nil }
    return sign * (hours * 60 + minutes)
  }

  /// Converts a day and a time of day to seconds since 2001.
  ///
  /// - Returns: The seconds. A leap second at the end of a day of UTC is the second after it, as in
  ///   POSIX time; `nil` for any other leap second.
  static func seconds(
    _ day: CivilDate, _ time: TimeOfDay, fraction: Double = 0, offset: Int
  ) -> Double? {
    let minutes = time.minutes - offset
    if time.second == 60, minutes.dividedFlooring(by: 1_440).remainder != 1_439 { return nil }
    return Double((day.daysSince1970 - DateText.daysTo2001) * 86_400 + minutes * 60 + time.second)
      + fraction
  }

  // MARK: Characters

  mutating func take(_ byte: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
    guard position < bytes.count else { return false }
    let found = UInt32(bytes[position])
    guard found == byte.value || found == other?.value else { return false }
    position += 1
    return true
  }

  /// Consumes spaces and tabs.
  ///
  /// - Returns: True if there was one.
  mutating func takeSpace() -> Bool {
    let start = position
    while take(" ", or: "\t") {}
    return position > start
  }

  /// Consumes ASCII letters, at most eight.
  ///
  /// - Returns: The letters in lower case.
  mutating func word() -> String {
    var word = ""
    while position < bytes.count, word.utf8.count < 8 {
      let letter = bytes[position] | 0x20
      guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else { break }
      word.unicodeScalars.append(Unicode.Scalar(letter))
      position += 1
    }
    return word
  }

  /// Consumes the rest of the text.
  ///
  /// - Returns: True if it ended with the byte.
  mutating func takeAll(endingWith byte: UInt8) -> Bool {
    position = bytes.count
    return bytes.last == byte
  }

  /// Reads the digits at the position; `nil` if their number is outside of the range.
  mutating func number(digits range: ClosedRange<Int>) -> (value: Int, digits: Int)? {
    let start = position
    var value = 0
    while position - start < range.upperBound, let digit = digit() { value = value * 10 + digit }
    return position - start < range.lowerBound ? nil : (value, position - start)
  }

  mutating func number(digits count: Int) -> Int? { number(digits: count...count)?.value }

  private var isAtDigit: Bool {
    position < bytes.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
  }

  private mutating func digit() -> Int? {
    guard isAtDigit else { return nil }
    defer { position += 1 }
    return Int(bytes[position] - UInt8(ascii: "0"))
  }
}
