import EntityModel
import Testing

@testable import LegacyImport

@Suite struct ColumnGuessTests {
  /// - Parameter cells: Of one column of this name and declared type.
  private static func guess(
    _ name: String, _ declared: String = "", _ cells: [Cell], isRequired: Bool = false
  ) -> ColumnGuess {
    var profile = ColumnProfile(distinctMax: 1_000)
    for cell in cells { profile.add(cell) }
    return ColumnGuess(
      SourceColumn(
        name: name, declaredType: declared, isRequired: isRequired), profile)
  }

  @Test(
    arguments: [
      ("unixSeconds", 1_700_000_000, Conversion.DateForm.unixSeconds),
      ("unixMilliseconds", 1_700_000_000_000, .unixMilliseconds),
      ("unixMicroseconds", 1_700_000_000_000_000, .unixMicroseconds),
      ("unixNanoseconds", 1_700_000_000_000_000_000, .unixNanoseconds),
      ("coreDataNanoseconds", 450_000_000_000_000_000, .coreDataNanoseconds),
      ("webKitMicroseconds", 13_350_000_000_000_000, .webKitMicroseconds),
      ("fileTime", 133_500_000_000_000_000, .fileTime),
    ] as [(String, Int64, Conversion.DateForm)])
  func aNumberOfADateNameIsTheDateOfOurYears(
    title: String, number: Int64, form: Conversion.DateForm
  ) {
    let guess = Self.guess(
      "lastModified", "INTEGER", [.integer(number), .integer(number + 5), .null])
    #expect(guess.type == .date)
    #expect(guess.conversion == Conversion(date: form))
    #expect(guess.unconfirmed == nil)
    #expect(guess.isOptional)
  }

  @Test(arguments: [[1_503_051_230, 1_611_302_359], [2_015_030_512, 2_016_113_023]])
  func tenDigitsThatAreTheFieldsOfADateMustBeConfirmed(numbers: [Int64]) throws {
    let guess = Self.guess("a_date", "INTEGER", numbers.map(Cell.integer))
    let doubt = try #require(guess.unconfirmed)
    #expect(doubt.hasPrefix("the digits are those of dates, too"), "\(doubt)")
    #expect(doubt.contains("int64 gives \(numbers[0])"))
  }

  @Test func aJulianDayIsADateIfItHasAFraction() {
    let real = Self.guess("created", "REAL", [.real(2_460_000.25), .real(2_460_001)])
    #expect(real.type == .date && real.conversion.date == .julianDay)
    #expect(Self.guess("created", "INTEGER", [.integer(2_460_000)]).type == .int64)
  }

  @Test func ambiguousEpochsMustBeConfirmed() throws {
    let whole = Self.guess("created", "INTEGER", [.integer(700_000_000), .integer(800_000_000)])
    #expect(whole.type == .date && whole.conversion.date == .unixSeconds)
    #expect(
      whole.unconfirmed
        == "the numbers fit coreDataSeconds or unixSeconds: unixSeconds gives "
        + "1992-03-07T20:26:40Z, 1995-05-09T06:13:20Z; coreDataSeconds gives "
        + "2023-03-08T20:26:40Z, 2026-05-09T06:13:20Z; int64 gives 700000000, 800000000")
    let real = Self.guess("created", "REAL", [.real(700_000_000.5)])
    #expect(real.conversion.date == .coreDataSeconds && real.unconfirmed != nil)
    let wider = Self.guess("created", "REAL", [.real(700_000_000.5), .real(500_000_000)])
    #expect(wider.conversion.date == .coreDataSeconds && wider.unconfirmed == nil)
    let ticks = Self.guess("created", "INTEGER", [.integer(638_000_000_000_000_000)])
    #expect(ticks.unconfirmed?.hasPrefix("the numbers fit coreDataNanoseconds or ticks") == true)
  }

  /// - Parameter number: The least of three, which may be a date or something else.
  @Test(
    arguments: [
      // 2021-03-28 as the bits of a year, a month and a day.
      ("updated", 132_464_128, 700_000, "coreDataSeconds", "Core Data writes fractions"),
      // One and a half days in milliseconds.
      ("watch_time", 129_600_000, 3_600_000, "coreDataSeconds", "Core Data writes fractions"),
      // Twenty days in milliseconds.
      ("play_time", 1_728_000_000, 60_000, "unixSeconds", "that of a duration"),
      // Milliseconds and microseconds since 2001.
      ("created", 700_000_000_000, 86_400_000, "unixMilliseconds", "counted from 2001"),
      ("created", 700_000_000_000_000, 86_400_000_000, "unixMicroseconds", "counted from 2001"),
    ] as [(String, Int64, Int64, String, String)])
  func aNumberThatMayBeSomethingElseMustBeConfirmed(
    name: String, number: Int64, step: Int64, form: String, reason: String
  ) throws {
    let cells = (0..<3).map { Cell.integer(number + $0 * step) }
    let guess = Self.guess(name, "INTEGER", cells)
    #expect(guess.type == .date && guess.conversion.date?.rawValue == form)
    let question = try #require(guess.unconfirmed)
    #expect(question.contains(reason))
    // The values under each reading.
    #expect(question.contains("\(form) gives \(Self.date(number, guess)), "))
    #expect(
      question.hasSuffix(
        "int64 gives \(number), \(number + step), \(number + 2 * step)"))
  }

  @Test func datesOfOtherTimesAmongThemMustBeConfirmed() throws {
    let cells = (0..<19).map { Cell.integer(1_700_000_000 + $0) }
    #expect(Self.guess("created", "INTEGER", cells).unconfirmed == nil)
    let guess = Self.guess("created", "INTEGER", cells + [.integer(5)])
    #expect(guess.type == .date)
    let question = try #require(guess.unconfirmed)
    #expect(question.hasPrefix("1 of 20 numbers are of other times: unixSeconds gives 1970-01-01T"))
  }

  @Test func numbersInTextsStayTextsInTheOtherReading() throws {
    let guess = Self.guess("created", "TEXT", [.text("700000000")])
    #expect(try #require(guess.unconfirmed).hasSuffix("string gives 700000000"))
  }

  private static func date(_ number: Int64, _ guess: ColumnGuess) -> String {
    (try? guess.conversion.value(from: .int64(number), to: .date).text) ?? "none"
  }

  @Test func placeholderDatesAreNull() {
    let guess = Self.guess(
      "published", "INTEGER", [.integer(0), .integer(-1), .integer(1_700_000_000)],
      isRequired: true)
    #expect(guess.conversion == Conversion(nullValues: ["0", "-1"], date: .unixSeconds))
    #expect(guess.isOptional)
    let past = Self.guess(
      "ZDATE", "TIMESTAMP", [.integer(-63_114_076_800), .real(400_000_000.25)])
    #expect(past.conversion == Conversion(nullValues: ["-63114076800"], date: .coreDataSeconds))
  }

  @Test func unsignedSecondsBefore1970MustBeConfirmed() {
    var cells = [Cell](repeating: .integer(1_700_000_000), count: 20)
    cells.append(.integer(3_965_165_156))
    let guess = Self.guess("pubDate", "INTEGER", cells)
    #expect(guess.conversion.date == .wrappedUnixSeconds)
    #expect(guess.unconfirmed?.contains("after 2038") == true)
  }

  @Test func withoutANameANumberStaysANumber() {
    let guess = Self.guess("value", "INTEGER", (0..<5).map { .integer(1_700_000_000_000 + $0) })
    #expect(guess.type == .int64 && guess.conversion == .none)
    #expect(
      guess.evidence.contains("as dates in unixMilliseconds the values would be of our years"))
    let sizes = Self.guess("total_time", "INTEGER", [.integer(3_600), .integer(90)])
    #expect(sizes.type == .int64)
  }

  @Test func textsAreDatesIfAllOfThemAre() {
    let zoned = Self.guess("created", "TEXT", [.text("2026-11-20T10:00:00Z"), .text("")])
    #expect(zoned.conversion == Conversion(emptyIsNull: true, date: .iso8601))
    #expect(zoned.type == .date && zoned.unconfirmed == nil)
    let local = Self.guess("dateAdded", "text", [.text("2016-08-04 11:40:43")])
    #expect(local.conversion == Conversion(date: .iso8601, zoneMinutes: 0))
    #expect(
      local.unconfirmed
        == "1 of 1 dates do not say their time zone; UTC is assumed: iso8601 gives "
        + "2016-08-04T11:40:43Z; string gives \"2016-08-04 11:40:43\"")
    let mail = Self.guess("modified", "TEXT", [.text("Fri, 20 Nov 2026 10:00:00 +0800"), .null])
    #expect(mail.type == .date && mail.conversion == Conversion(date: .rfc822))
    let mixed = Self.guess("created", "TEXT", [.text("2026-11-20"), .text("soon")])
    #expect(mixed.type == .string && mixed.unconfirmed == nil)
    let one = Self.guess("title", "TEXT", [.text("2026-11-20")])
    #expect(one.type == .string)
  }

  @Test func zeroAndOneAreABoolOnlyIfANameOrTheSchemaSaysSo() {
    let cells: [Cell] = [.integer(0), .integer(1)]
    #expect(Self.guess("state", "INTEGER", cells).type == .int64)
    #expect(Self.guess("state", "BOOLEAN", cells).type == .bool)
    #expect(Self.guess("state", "INTEGER(1)", cells).type == .bool)
    #expect(Self.guess("is_new", "INTEGER", cells).type == .bool)
    #expect(Self.guess("unread", "INTEGER", cells).type == .bool)
    #expect(Self.guess("unread", "INTEGER", cells + [.integer(2)]).type == .int64)
  }

  @Test func aBoolMustBeConfirmedUnlessMoreThanANameSaysSo() {
    let few: [Cell] = [.integer(0), .integer(1)]
    let many = Array(repeating: few, count: 10).flatMap { $0 }
    #expect(Self.guess("state", "BOOLEAN", few).unconfirmed == nil)
    #expect(
      Self.guess("is_new", "INTEGER", few).unconfirmed
        == "0 and 1 only, and as bool a later 2 is a reject: bool gives false (1), "
        + "true (1); int64 gives 0, 1")
    #expect(Self.guess("is_new", "INTEGER", many).unconfirmed == nil)
    #expect(Self.guess("state", "INTEGER(1)", few).unconfirmed != nil)
    #expect(Self.guess("state", "INTEGER(1)", many).unconfirmed == nil)
    #expect(Self.guess("played", "INTEGER", many).unconfirmed != nil)
    let zeros = [Cell](repeating: .integer(0), count: 100)
    #expect(Self.guess("is_new", "INTEGER", zeros).unconfirmed != nil)
  }

  @Test(arguments: [
    "date_played", "last_played", "play_count_read", "times_blocked", "num_deleted",
    "total_unread", "unread_count",
  ])
  func aCounterOfZeroAndOneStaysANumber(name: String) {
    let cells = (0..<100).map { Cell.integer($0 % 2) }
    let guess = Self.guess(name, "INTEGER", cells)
    #expect(guess.type == .int64 && guess.unconfirmed == nil)
    #expect(guess.evidence.contains("0 and 1 only: type bool takes them, too"))
  }

  @Test func mixedValuesBecomeWhatKeepsThemAll() {
    #expect(Self.guess("a", "INTEGER", [.integer(1), .text("twelve")]).type == .string)
    #expect(Self.guess("a", "INTEGER", [.integer(1), .real(3.7)]).type == .double)
    #expect(Self.guess("a", "", [.integer(.max), .real(3.7)]).type == .string)
    #expect(Self.guess("a", "BLOB", [.blob([1]), .null]).type == .data)
    let texts = Self.guess("a", "", [.blob(Array("a".utf8)), .text("b")])
    #expect(texts.type == .string && texts.conversion.encoding == .utf8)
    let bytes = Self.guess("a", "", [.blob([0xFF]), .text("b")])
    #expect(bytes.conversion.encoding == .base64 && bytes.unconfirmed != nil)
    #expect(Self.guess("a", "STRING", [.integer(123)]).type == .string)
  }

  @Test(arguments: [
    ("INTEGER", AttributeType.int64), ("VARCHAR(20)", .string), ("BLOB", .data), ("FLOAT", .double),
    ("DATETIME", .string), ("", .string), ("GEOMETRY", .string),
  ])
  func withoutValuesTheSchemaDecides(declared: String, type: AttributeType) {
    #expect(Self.guess("a", declared, [.null]).type == type)
  }

  @Test func requiredIsWhatTheSchemaSaysAndNoRowDenies() {
    #expect(!Self.guess("a", "TEXT", [.text("b")], isRequired: true).isOptional)
    #expect(Self.guess("a", "TEXT", [.text("b"), .null], isRequired: true).isOptional)
    #expect(Self.guess("a", "TEXT", [.text("b")]).isOptional)
  }

  @Test func fewValuesAreShown() {
    let cells = (0..<30).map { Cell.text($0 % 3 == 0 ? "new" : "old") }
    let guess = Self.guess("state", "TEXT", cells)
    #expect(guess.type == .string)
    #expect(guess.evidence.contains(#"few values, perhaps an enum: "new" (10), "old" (20)"#))
  }

  @Test func textsThatAreNotUTF8AreReported() {
    let guess = Self.guess("a", "TEXT", [.badText([0xFF]), .text("b")])
    #expect(guess.type == .string)
    #expect(guess.evidence.contains { $0.hasPrefix("1 texts are not UTF-8") })
  }
}
