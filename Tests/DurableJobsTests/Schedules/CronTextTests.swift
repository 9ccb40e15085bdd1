import DurableJobs
import Foundation
import Testing

@Suite struct CronTextTests {
  /// A text, what is wrong, where, and what to write.
  static let refusals: [(text: String, summary: String, place: String, advice: String)] = [
    ("", "is empty", "", "write five fields, as \"0 4 * * *\""),
    (
      "0 4 * *", "has not five fields", ", fields: 4",
      "write minute, hour, day of month, month and day of week"
    ),
    (
      "0 0 4 * * *", "has not five fields", ", fields: 6",
      "leave out the seconds, or write \"@every 90s\""
    ),
    ("@reboot", "has an unknown word", ", word: @reboot, character: 1", words),
    ("@daily 4", "has an unknown word", ", word: 4, character: 8", words),
    (
      "0 0 31 2,4,6,9,11 *", "names a day that its months do not have",
      ", field: day of month, character: 5",
      """
      name a day that comes: February has 29 at most, and April, June, September and November \
      have 30
      """
    ),
  ]

  private static let words =
    "write @hourly, @daily, @weekly, @monthly or @yearly alone, or @every with a period"

  @Test(arguments: refusals)
  func aTextThatIsNoCronExpressionIsRefused(
    _ text: String, _ summary: String, _ place: String, _ advice: String
  ) {
    let error = #expect(throws: JobError.self) { try CronExpression(text) }
    #expect(error?.code == .invalidSchedule)
    #expect(
      error?.description == "a schedule \(summary) (schedule: \"\(text)\"\(place)); \(advice)")
  }

  /// A text, what is wrong, in which field, at which character, and what to write.
  static let misspellings: [(String, String, String, Int, String)] = [
    ("0 24 * * *", outOfRange, "hour", 3, "write 0 to 23"),
    ("0  0 0 * *", outOfRange, "day of month", 6, "write 1 to 31"),
    ("0 0 * 1,13 *", outOfRange, "month", 9, "write 1 to 12 or jan to dec"),
    ("99999999999999999999 * * * *", outOfRange, "minute", 1, "write 0 to 59"),
    ("0 0 * * monday", unreadable, "day of week", 9, "write 0 to 7 or sun to sat" + forms),
    ("0 4 * * é", unreadable, "day of week", 9, "write 0 to 7 or sun to sat" + forms),
    ("1, * * * *", unreadable, "minute", 3, "write 0 to 59" + forms),
    ("1- * * * *", unreadable, "minute", 3, "write 0 to 59" + forms),
    ("*/ * * * *", unreadable, "minute", 3, "write 0 to 59" + forms),
    ("0 mon * * *", unreadable, "hour", 3, "write 0 to 23" + forms),
    ("0 0 ? * 1", unreadable, "day of month", 5, "write * in its place"),
    ("5/10 * * * *", unreadable, "minute", 2, "write a range before the step, as 0-59/2"),
    ("0 22-4 * * *", "a range of a schedule goes backward", "hour", 3, order),
    ("0 0 * * fri-1", "a range of a schedule goes backward", "day of week", 9, order),
    ("*/90 * * * *", outOfStep, "minute", 3, "write 1 to 59" + longer),
    ("0 1-5/0 * * *", outOfStep, "hour", 7, "write 1 to 23" + longer),
  ]

  private static let outOfRange = "a number of a schedule is out of its range"
  private static let unreadable = "a field of a schedule cannot be read"
  private static let outOfStep = "a step of a schedule is out of its range"
  private static let forms = ", a list as 1,3, a range as 1-5 or a step as */2"
  private static let order = "write the smaller number first, or two ranges with a comma between"
  private static let longer = ", or a longer period as \"@every 90m\""

  @Test(arguments: misspellings)
  func anInvalidFieldIsRefusedWithItsPlace(
    _ text: String, _ summary: String, _ field: String, _ column: Int, _ advice: String
  ) {
    let error = #expect(throws: JobError.self) { try CronExpression(text) }
    let place = "schedule: \"\(text)\", field: \(field), character: \(column)"
    #expect(error?.description == "\(summary) (\(place)); \(advice)")
  }

  @Test func aTextStaysOneLineInItsRefusal() {
    let error = #expect(throws: JobError.self) { try CronExpression("0 4 * * *\n") }
    #expect(error?.description.contains("(schedule: \"0 4 * * *\u{fffd}\", field:") == true)
    let long = #expect(throws: JobError.self) {
      try CronExpression(String(repeating: "1", count: 257))
    }
    #expect(
      long?.description
        == "a schedule is too long (bytes: 257); write it in 256 bytes at most")
  }

  @Test(arguments: [
    ("@every", 7), ("@every 90", 8), ("@every 0s", 8), ("@every 1.5h", 8), ("@every 8785h", 8),
    ("@every -1s", 8), ("@every 1d", 8), ("@every 999999999s", 8), ("@every 1h 30m", 8),
    ("@every  ٣s", 9), ("@every m", 8),
  ])
  func aPeriodThatCannotBeReadIsRefused(_ text: String, _ column: Int) {
    let error = #expect(throws: JobError.self) { try CronExpression(text) }
    #expect(
      error?.description
        == "a schedule has no readable period (schedule: \"\(text)\", character: \(column)); write"
        + " a whole number and its unit, from \"@every 1s\" to \"@every 8784h\"; \"15m\" are"
        + " minutes")
  }

  /// Thirtieths of February: one that is enough for cron is the other field.
  @Test(arguments: ["0 0 30 2 *", "0 0 30 2 */2", "0 0 31 apr,jun *"])
  func aDayThatNeverComesIsRefused(_ text: String) {
    #expect(throws: JobError.self) { try CronExpression(text) }
  }

  @Test(arguments: [
    ("0 4 * * *", "0 4 * * *"), ("  5\t4  * JAN Mon-Fri ", "5 4 * jan mon-fri"),
    ("@Daily", "@daily"), ("@midnight", "@midnight"), ("@annually", "@annually"),
    ("@every  90S", "@every 90s"), ("@every 8784h", "@every 8784h"),
    ("0 0 30 2 mon", "0 0 30 2 mon"), ("1-5/2,*/20,7 0-23 1 1 0,7", "1-5/2,*/20,7 0-23 1 1 0,7"),
  ])
  func theDescriptionReadsAsTheSameExpression(_ text: String, _ description: String) throws {
    let expression = try CronExpression(text)
    #expect(expression.description == description)
    #expect(try CronExpression(description) == expression)
  }

  @Test(arguments: [
    ("@yearly", "0 0 1 1 *"), ("@monthly", "0 0 1 * *"), ("@weekly", "0 0 * * sun"),
    ("@hourly", "0 * * * *"), ("0 0 * jan-mar/2 5-7", "0 0 * 1,3 fri-sun"),
    ("* 0-23 * * *", "* * * * *"),
  ])
  func differentWordsMeanTheSameTimes(_ text: String, _ other: String) throws {
    let berlin = try zone("Europe/Berlin")
    let start = try instant("2026-10-20T00:00:00Z")
    let end = start + 2 * 366 * 86400
    let limit = text.hasPrefix("*") ? start + 10 * 86400 : end
    let times = try CronExpression(text).times(after: start, before: limit, in: berlin)
    #expect(!times.isEmpty)
    #expect(try CronExpression(other).times(after: start, before: limit, in: berlin) == times)
  }
}
