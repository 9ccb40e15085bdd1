/// Reads the text of a `CronExpression`.
struct CronReader {
  private let text: String
  private let words: [CronWord]

  init(_ text: String) throws {
    guard text.utf8.count <= textBytesMax else {
      throw JobError(
        .invalidSchedule, "a schedule is too long", [("bytes", "\(text.utf8.count)")],
        advice: "write it in \(textBytesMax) bytes at most")
    }
    self.text = text
    words = CronWord.split(text.lowercased())
  }

  var canonicalText: String {
    words.map { String($0.characters) }.joined(separator: " ")
  }

  func rule() throws -> CronRule {
    guard let first = words.first else {
      throw refusal("a schedule is empty", advice: "write five fields, as \"0 4 * * *\"")
    }
    if first.characters == Array("@every") { return .every(seconds: try period()) }
    if first.characters.first == "@" { return .fields(try named(first)) }
    return .fields(try fields(words))
  }

  private func fields(_ words: [CronWord]) throws -> CronFields {
    guard words.count == CronField.allCases.count else {
      throw refusal(
        "a schedule has not five fields", [("fields", "\(words.count)")],
        advice: words.count == 6
          ? "leave out the seconds, or write \"@every 90s\""
          : "write minute, hour, day of month, month and day of week")
    }
    func set(_ field: CronField) throws -> CronValues {
      var reader = CronFieldReader(field, words[field.rawValue], of: text)
      return try reader.set()
    }
    let fields = CronFields(
      minutes: try set(.minute), hours: try set(.hour), daysOfMonth: try set(.dayOfMonth),
      months: try set(.month), weekdays: try set(.weekday),
      eitherDay: ![CronField.dayOfMonth, .weekday].contains {
        words[$0.rawValue].characters.first == "*"
      })
    guard fields.canMatch else {
      throw refusal(
        "a schedule names a day that its months do not have",
        [("field", CronField.dayOfMonth.name), ("character", "\(words[2].column)")],
        advice: "name a day that comes: February has 29 at most, and April, June, September"
          + " and November have 30")
    }
    return fields
  }

  private func named(_ word: CronWord) throws -> CronFields {
    let fields: String? =
      switch String(word.characters) {
      case "@hourly": "0 * * * *"
      case "@daily", "@midnight": "0 0 * * *"
      case "@weekly": "0 0 * * 0"
      case "@monthly": "0 0 1 * *"
      case "@yearly", "@annually": "0 0 1 1 *"
      default: nil
      }
    guard let fields, words.count == 1 else {
      let odd = fields == nil ? word : words[1]
      throw refusal(
        "a schedule has an unknown word",
        [("word", String(odd.characters)), ("character", "\(odd.column)")],
        advice: "write @hourly, @daily, @weekly, @monthly or @yearly alone, or @every with a period"
      )
    }
    return try self.fields(CronWord.split(fields))
  }

  /// Reads the period of `@every`, in seconds.
  private func period() throws -> Int {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
    let characters = words.dropFirst().first?.characters ?? []
    let number = characters.dropLast()
    guard words.count == 2, let unit = characters.last.flatMap({ units[$0] }),
      number.count <= digitsMax, number.allSatisfy(\.isDigit), let count = Int(String(number)),
      count > 0, count * unit <= periodMax
    else {
      throw refusal(
        "a schedule has no readable period",
        [("character", "\(words.dropFirst().first?.column ?? text.count + 1)")],
        advice: "write a whole number and its unit, from \"@every 1s\" to \"@every 8784h\";"
          + " \"15m\" are minutes")
    }
    return count * unit
  }

  private func refusal(
    _ summary: StaticString, _ context: [(String, String)] = [], advice: String
  ) -> JobError {
    JobError(.invalidSchedule, summary, [("schedule", "\"\(text)\"")] + context, advice: advice)
  }
}

private let textBytesMax = 256
private let periodMax = 366 * 24 * 60 * 60
let digitsMax = 8

/// A word of the text, with its place.
struct CronWord {
  let characters: [Character]
  /// The position of the first character in the text, counted from 1.
  let column: Int

  static func split(_ text: String) -> [CronWord] {
    let numbered = Array(zip(1..., text))
    return numbered.split { $0.1 == " " || $0.1 == "\t" }.compactMap { word in
      word.first.map { CronWord(characters: word.map(\.1), column: $0.0) }
    }
  }
}

extension Character {
  var isDigit: Bool { ("0"..."9").contains(self) }
}
