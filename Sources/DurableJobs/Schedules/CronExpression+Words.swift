extension CronExpression {
  /// The times in English: `every 15 minutes`, `at 06:30 on Monday to Friday`.
  public var words: String {
    switch rule {
    case .every(let seconds): "every \(Self.period(seconds))"
    case .fields(let fields): fields.words
    }
  }

  private static func period(_ seconds: Int) -> String {
    for (length, name) in [(3_600, "hour"), (60, "minute")] where seconds.isMultiple(of: length) {
      let count = seconds / length
      return count == 1 ? name : "\(count) \(name)s"
    }
    return seconds == 1 ? "second" : "\(seconds) seconds"
  }
}

extension CronFields {
  fileprivate var words: String {
    ([time] + [days, month].compactMap { $0 }).joined(separator: " ")
  }

  // MARK: The time of day

  private var time: String {
    let minutes = minutes.all(in: 0...59)
    let hours = hours.all(in: 0...23)
    if hours.count * minutes.count <= 4 {
      let times = hours.flatMap { hour in
        minutes.map { minute in "\(Self.digits(hour)):\(Self.digits(minute))" }
      }
      return "at \(Self.list(times))"
    }
    let minuteText = Self.every(minutes, of: 60, "minute") ?? Self.minuteText(minutes)
    if hours.count == 24 { return minuteText }
    if minutes == [0], let step = Self.every(hours, of: 24, "hour") { return step }
    let hourText =
      Self.every(hours, of: 24, "hour").map { " of \($0)" }
      ?? " in the hours \(Self.ranges(hours, Self.digits))"
    return minuteText + hourText
  }

  private static func minuteText(_ minutes: [Int]) -> String {
    minutes == [0] ? "every hour" : "at the minutes \(ranges(minutes, digits))"
  }

  /// Returns `every 15 minutes` for numbers from 0 on at equal distances; nil for others.
  private static func every(_ numbers: [Int], of whole: Int, _ unit: String) -> String? {
    guard numbers.count > 1, numbers[0] == 0, whole.isMultiple(of: numbers.count),
      zip(numbers, numbers.dropFirst()).allSatisfy({ $1 - $0 == whole / numbers.count })
    else { return nil }
    let step = whole / numbers.count
    return step == 1 ? "every \(unit)" : "every \(step) \(unit)s"
  }

  // MARK: The day

  /// Nil for every day.
  private var days: String? {
    let days = daysOfMonth.all(in: 1...31)
    let weekdays = weekdays.all(in: 0...6)
    let dayText = days.count == 31 ? nil : "on day \(Self.ranges(days) { "\($0)" }) of the month"
    // Sunday is the last day of a week in text.
    let ordered = weekdays.map { $0 == 0 ? 7 : $0 }.sorted()
    let weekdayText =
      weekdays.count == 7 ? nil : "on \(Self.ranges(ordered) { Self.weekdayNames[$0 % 7] })"
    let parts = [dayText, weekdayText].compactMap { $0 }
    return parts.isEmpty
      ? nil
      : parts.joined(separator: eitherDay ? " and " : " if it is ")
        .replacing("if it is on", with: "if it is a")
  }

  private var month: String? {
    let months = months.all(in: 1...12)
    return months.count == 12 ? nil : "in \(Self.ranges(months) { Self.monthNames[$0 - 1] })"
  }

  private static let weekdayNames = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  private static let monthNames = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  // MARK: Lists

  private static func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Returns `1 to 5, 7 and 9` for ascending numbers.
  private static func ranges(_ numbers: [Int], _ name: (Int) -> String) -> String {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound + 1 == number {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    return list(
      ranges.flatMap { range in
        range.count > 2
          ? ["\(name(range.lowerBound)) to \(name(range.upperBound))"] : range.map(name)
      })
  }

  private static func list(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return "\(words.dropLast().joined(separator: ", ")) and \(last)"
  }
}

extension CronValues {
  fileprivate func all(in range: ClosedRange<Int>) -> [Int] { range.filter(contains) }
}
