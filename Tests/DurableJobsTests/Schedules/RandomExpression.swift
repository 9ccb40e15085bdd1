import TestSupport

/// Five fields, drawn together with the numbers that they mean: nothing here reads a text.
struct RandomExpression {
  private(set) var words: [String] = []
  private(set) var numbers: [Set<Int>] = []
  private var bothDaysRestricted = false

  init(_ random: inout SeededRandom) {
    // Few numbers in the minute, so that the times of a day stay few; days that come often.
    append(0...59, names: [], starChance: 2, stepsMin: 7, &random)
    append(0...23, names: [], starChance: 4, stepsMin: 1, &random)
    append(1...31, names: [], starChance: 6, stepsMin: 1, &random)
    append(1...12, names: months, starChance: 8, stepsMin: 1, &random)
    append(0...7, names: weekdays, starChance: 5, stepsMin: 1, &random)
    numbers[4] = Set(numbers[4].map { $0 == 7 ? 0 : $0 })
    // A day that never comes.
    if words[4].hasPrefix("*"), numbers[2].isDisjoint(with: 1...28) {
      (words[2], numbers[2]) = ("*", Set(1...31))
    }
    bothDaysRestricted = !words[2].hasPrefix("*") && !words[4].hasPrefix("*")
  }

  var text: String { words.joined(separator: " ") }
  var hasEveryHour: Bool { numbers[1].count == 24 }

  /// Returns true if the expression fires at the time according to crontab(5). Sunday is 0.
  func matches(minute: Int, hour: Int, day: Int, month: Int, weekday: Int) -> Bool {
    guard numbers[0].contains(minute), numbers[1].contains(hour), numbers[3].contains(month) else {
      return false
    }
    let isDay = numbers[2].contains(day)
    let isWeekday = numbers[4].contains(weekday)
    return bothDaysRestricted ? isDay || isWeekday : isDay && isWeekday
  }

  /// In tenths: how often the field is a star.
  private mutating func append(
    _ range: ClosedRange<Int>, names: [String], starChance: Int, stepsMin: Int,
    _ random: inout SeededRandom
  ) {
    if Int.random(in: 0..<10, using: &random) < starChance {
      let step = stepsMin > 1 ? Int.random(in: stepsMin...30, using: &random) : 1
      words.append(step == 1 ? "*" : "*/\(step)")
      numbers.append(Set(stride(from: range.lowerBound, through: range.upperBound, by: step)))
      return
    }
    var parts: [String] = []
    var all: Set<Int> = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let low = Int.random(in: range, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let step = Int.random(in: max(2, stepsMin)...max(7, stepsMin * 3), using: &random)
        guard step <= range.upperBound else { fallthrough }
        let high = Int.random(in: low...range.upperBound, using: &random)
        parts.append("\(low)-\(high)/\(step)")
        all.formUnion(stride(from: low, through: high, by: step))
      case 1 where !names.isEmpty && low - range.lowerBound < names.count:
        parts.append(names[low - range.lowerBound])
        all.insert(low)
      default:
        parts.append("\(low)")
        all.insert(low)
      }
    }
    words.append(parts.joined(separator: ","))
    numbers.append(all)
  }
}

private let weekdays = ["sun", "MON", "tue", "Wed", "thu", "fri", "sat"]
private let months = [
  "jan", "feb", "mar", "apr", "MAY", "jun", "Jul", "aug", "sep", "oct", "nov", "dec",
]
