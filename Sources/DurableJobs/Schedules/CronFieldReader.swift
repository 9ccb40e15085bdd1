/// A field of cron, in the order of the text.
enum CronField: Int, CaseIterable {
  case minute, hour, dayOfMonth, month, weekday

  var name: String {
    switch self {
    case .minute: "minute"
    case .hour: "hour"
    case .dayOfMonth: "day of month"
    case .month: "month"
    case .weekday: "day of week"
    }
  }

  var range: ClosedRange<Int> {
    switch self {
    case .minute: 0...59
    case .hour: 0...23
    case .dayOfMonth: 1...31
    case .month: 1...12
    case .weekday: 0...7
    }
  }

  /// The names of the numbers from the lower bound of the range on.
  var names: [String] {
    switch self {
    case .minute, .hour, .dayOfMonth: []
    case .month:
      ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    }
  }
}

/// Reads one field.
///
///     field = part *("," part)
///     part  = "*" ["/" step] | value ["-" value ["/" step]]
///     value = number | name
struct CronFieldReader {
  private let field: CronField
  private let word: CronWord
  private let text: String
  private var position = 0

  init(_ field: CronField, _ word: CronWord, of text: String) {
    self.field = field
    self.word = word
    self.text = text
  }

  mutating func set() throws -> CronValues {
    var set = CronValues()
    repeat {
      let (range, step) = try part()
      for number in stride(from: range.lowerBound, through: range.upperBound, by: step) {
        set.insert(field == .weekday ? number % 7 : number)
      }
    } while take(",")
    guard position == word.characters.count else { throw unreadable() }
    return set
  }

  private mutating func part() throws -> (range: ClosedRange<Int>, step: Int) {
    if take("*") { return (field.range, try step()) }
    let start = position
    let low = try value()
    guard take("-") else { return (low...low, 1) }
    var high = try value()
    // A range may end on Sunday, which its name alone would put at the beginning.
    if field == .weekday, high == 0, low > 0, word.characters[position - 1] == "n" { high = 7 }
    guard low <= high else {
      throw refusal(
        "a range of a schedule goes backward", at: start,
        advice: "write the smaller number first, or two ranges with a comma between")
    }
    return (low...high, try step())
  }

  private mutating func step() throws -> Int {
    guard take("/") else { return 1 }
    let start = position
    guard let step = try number() else { throw unreadable() }
    guard step >= 1, step <= field.range.upperBound else {
      throw refusal(
        "a step of a schedule is out of its range", at: start,
        advice: "write 1 to \(field.range.upperBound), or a longer period as \"@every 90m\"")
    }
    return step
  }

  private mutating func value() throws -> Int {
    let start = position
    if let number = try number() {
      guard field.range.contains(number) else {
        throw refusal("a number of a schedule is out of its range", at: start, advice: known)
      }
      return number
    }
    let letters = word.characters[start...].prefix { ("a"..."z").contains($0) }
    guard !letters.isEmpty, let index = field.names.firstIndex(of: String(letters)) else {
      throw unreadable()
    }
    position += letters.count
    return field.range.lowerBound + index
  }

  private mutating func number() throws -> Int? {
    let digits = word.characters[position...].prefix(while: \.isDigit)
    guard !digits.isEmpty else { return nil }
    guard digits.count <= digitsMax, let number = Int(String(digits)) else {
      throw refusal("a number of a schedule is out of its range", at: position, advice: known)
    }
    position += digits.count
    return number
  }

  private mutating func take(_ character: Character) -> Bool {
    guard position < word.characters.count, word.characters[position] == character else {
      return false
    }
    position += 1
    return true
  }

  private func unreadable() -> JobError {
    let advice =
      switch position < word.characters.count ? word.characters[position] : nil {
      case "?": "write * in its place"
      case "/":
        "write a range before the step, as \(field.range.lowerBound)-\(field.range.upperBound)/2"
      default: known + ", a list as 1,3, a range as 1-5 or a step as */2"
      }
    return refusal("a field of a schedule cannot be read", at: position, advice: advice)
  }

  private var known: String {
    let numbers = "write \(field.range.lowerBound) to \(field.range.upperBound)"
    guard let first = field.names.first, let last = field.names.last else { return numbers }
    return numbers + " or \(first) to \(last)"
  }

  private func refusal(
    _ summary: StaticString, at position: Int, advice: String
  ) -> JobError {
    JobError(
      .invalidSchedule, summary,
      [
        ("schedule", "\"\(text)\""), ("field", field.name),
        ("character", "\(word.column + position)"),
      ], advice: advice)
  }
}
