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
      ("coreDataSeconds", 450_000_000, .coreDataSeconds),
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
        == "the numbers fit coreDataSeconds or unixSeconds: coreDataSeconds gives "
        + "2026-05-09T06:13:20Z as the last, unixSeconds gives 1995-05-09T06:13:20Z as the last")
    let real = Self.guess("created", "REAL", [.real(700_000_000.5)])
    #expect(real.conversion.date == .coreDataSeconds && real.unconfirmed != nil)
    let wider = Self.guess("created", "REAL", [.real(700_000_000), .real(500_000_000)])
    #expect(wider.conversion.date == .coreDataSeconds && wider.unconfirmed == nil)
    let ticks = Self.guess("created", "INTEGER", [.integer(638_000_000_000_000_000)])
    #expect(ticks.unconfirmed?.hasPrefix("the numbers fit coreDataNanoseconds or ticks") == true)
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
    #expect(local.unconfirmed == "1 of 1 dates do not say their time zone: is it UTC?")
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
