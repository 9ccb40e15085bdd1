extension DurationForm {
  /// Returns the seconds that the text denotes; nil if it is not written in this form.
  func seconds(_ text: String) -> Double? {
    switch self {
    case .iso8601: Self.iso8601(text)
    case .clock: Self.clock(text)
    }
  }

  private static func iso8601(_ text: String) -> Double? {
    var rest = Substring(text)
    guard rest.first == "P" else { return nil }
    rest.removeFirst()
    var units: [(Character, Double)] = [("W", 604_800), ("D", 86_400)]
    var seconds = 0.0
    var parts = 0
    var isTime = false
    while let first = rest.first {
      if first == "T" {
        rest.removeFirst()
        guard !isTime, !rest.isEmpty else { return nil }
        isTime = true
        units = [("H", 3_600), ("M", 60), ("S", 1)]
        continue
      }
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest[digits.endIndex...]
      guard let unit = rest.first, let place = units.firstIndex(where: { $0.0 == unit }),
        let number = number(digits, mayHaveFraction: unit == "S")
      else { return nil }
      seconds += number * units[place].1
      units.removeSubrange(...place)
      rest.removeFirst()
      parts += 1
    }
    return parts > 0 ? seconds : nil
  }

  private static func clock(_ text: String) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (place, part) in parts.enumerated() {
      let isLast = place == parts.count - 1
      guard let number = number(part, mayHaveFraction: isLast), place == 0 || number < 60 else {
        return nil
      }
      seconds = seconds * 60 + number
    }
    return seconds
  }

  private static func number(_ digits: Substring, mayHaveFraction: Bool) -> Double? {
    guard let first = digits.utf8.first, digits.utf8.count <= 18, first != UInt8(ascii: "."),
      digits.utf8.last != UInt8(ascii: "."), mayHaveFraction || !digits.contains("."),
      digits.utf8.allSatisfy({ Ascii.isDigit($0) || $0 == UInt8(ascii: ".") })
    else { return nil }
    return Double(digits)
  }
}
