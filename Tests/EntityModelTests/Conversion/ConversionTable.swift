import EntityModel
import Foundation

/// The expected result of each conversion.
enum ConversionTable {
  private typealias Row = ConversionRow

  static let uuid = Value.uuid(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!)
  static let states = AttributeType.enumeration(
    Enumeration(cases: [.init(name: "new", rawValue: 0), .init(name: "played", rawValue: 1)]))
  static let letters = AttributeType.enumeration(
    Enumeration(cases: [.init(name: "a", rawValue: "a"), .init(name: "5", rawValue: "5")]))

  static func decimal(_ text: String) -> Value { .decimal(Decimal(string: text)!) }

  static let kinds: [ConversionRow] = [
    Row(.null, .int64, .null), Row(5, .int64, 5), Row(5, .double, 5.0), Row(5.0, .int64, 5),
    Row(5, .decimal, decimal("5")), Row(decimal("5.0"), .int64, 5), Row(true, .int64, 1),
    Row(false, .double, 0.0), Row(true, .decimal, decimal("1")), Row(1, .bool, true),
    Row(0.0, .bool, false), Row(-0.0, .bool, false), Row("1", .bool, true),
    Row("false", .bool, false), Row(2, .bool, fails: .badBool),
    Row("yes", .bool, fails: .badBool),
    Row(0.1, .decimal, decimal("0.1")), Row(decimal("0.1"), .double, 0.1),
    Row(13.3000001907349, .decimal, decimal("13.3000001907349")),
    Row(9_007_199_254_740_993, .double, fails: .inexact),
    Row(.int64(.min), .double, -9_223_372_036_854_775_808.0),
    Row(.int64(.max), .double, fails: .inexact), Row(0.5, .int64, fails: .inexact),
    Row(9_223_372_036_854_775_808.0, .int64, fails: .outOfRange),
    Row(-9_223_372_036_854_775_808.0, .int64, .int64(.min)),
    Row(1_152_921_504_606_846_976.0, .int64, 1_152_921_504_606_846_976),
    Row(.double(.infinity), .int64, fails: .badNumber), Row(1e300, .decimal, fails: .outOfRange),
    Row(.double(.nan), .double, fails: .badNumber),
    Row(.decimal(.nan), .string, fails: .badNumber),
    Row("0012", .int64, 12), Row("+5", .int64, 5), Row("-5", .int64, -5),
    Row("1e3", .int64, 1000),
    Row("5.0", .int64, 5), Row("5.5", .int64, fails: .inexact),
    Row("-9223372036854775808", .int64, .int64(.min)),
    Row("9223372036854775808", .int64, fails: .outOfRange),
    Row("1e400", .int64, fails: .outOfRange), Row("-1e400", .int64, fails: .outOfRange),
    Row("1e-400", .int64, fails: .inexact),
    Row("1e99999999999999999999", .int64, fails: .outOfRange),
    Row("0e99999999999999999999", .int64, 0), Row("-0", .int64, 0),
    Row("0.1", .double, 0.1), Row("1e308", .double, 1e308),
    Row("1e309", .double, fails: .outOfRange),
    Row("0.10000000000000001", .double, fails: .inexact),
    Row("5e-324", .double, .double(.leastNonzeroMagnitude)),
    Row("1e-400", .double, fails: .inexact),
    Row("1.152921504606847e+18", .double, 1.152921504606847e18),
    Row("1152921504606846976", .double, 1.152921504606847e18),
    Row("nan", .double, fails: .badNumber), Row("inf", .double, fails: .badNumber),
    Row("0x10", .int64, fails: .badNumber), Row("1,5", .double, fails: .badNumber),
    Row("1 ", .int64, fails: .badNumber), Row("", .int64, fails: .badNumber),
    Row(".5", .double, fails: .badNumber), Row("5.", .double, fails: .badNumber),
    Row("1e", .double, fails: .badNumber), Row("--1", .int64, fails: .badNumber),
    Row("\u{0665}", .int64, fails: .badNumber), Row("twelve", .int64, fails: .badNumber),
    Row(
      "99999999999999999999999999999999999999", .decimal,
      decimal("99999999999999999999999999999999999999")),
    Row("1.234567890123456789012345678901234567890123", .decimal, fails: .outOfRange),
    Row("1e-100", .decimal, decimal("1e-100")), Row("1e-200", .decimal, fails: .outOfRange),
    Row(5, .string, "5"), Row(0.5, .string, "0.5"), Row(true, .string, "true"),
    Row(.strings(["a", "b"]), .string, "a, b"), Row(.data(Data([1, 2])), .string, "AQI="),
    Row(.date(Date(timeIntervalSinceReferenceDate: 0.5)), .string, "2001-01-01T00:00:00.5Z"),
    Row("2001-01-01T08:00:00+08:00", .date, .date(Date(timeIntervalSinceReferenceDate: 0))),
    Row(0, .date, fails: .typeMismatch), Row("2001-01-01", .date, fails: .badDate),
    Row(.date(Date(timeIntervalSinceReferenceDate: 0)), .int64, fails: .typeMismatch),
    Row("6ba7b810-9dad-11d1-80b4-00c04fd430c8", .uuid, uuid),
    Row("6ba7b8109dad11d180b400c04fd430c8", .uuid, uuid),
    Row("6ba7b8109dad11d180b400c04fd430c", .uuid, fails: .badUUID),
    Row("6ba7b810 9dad-11d1-80b4-00c04fd430c8", .uuid, fails: .badUUID),
    Row(uuid, .string, "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
    Row(.data(Data(repeating: 0, count: 15)), .uuid, fails: .badUUID),
    Row("AQI=", .data, .data(Data([1, 2]))), Row("AQI", .data, fails: .badBase64),
    Row("https://a.example/b", .url, .url(URL(string: "https://a.example/b")!)),
    Row("", .url, fails: .badURL), Row("a, b", .strings, fails: .typeMismatch),
    Row(.strings(["1"]), .int64, fails: .typeMismatch), Row(5, .uuid, fails: .typeMismatch),
    Row(5, .reference("Episode"), fails: .typeMismatch), Row(uuid, .bool, fails: .typeMismatch),
  ]

  static let rules: [ConversionRow] = [
    Row(0, .int64, .null, .init(nullValues: ["0"])),
    Row(0.0, .int64, .null, .init(nullValues: ["0"])),
    Row("0", .int64, .null, .init(nullValues: ["0"])),
    Row(
      -63_114_076_800.0, .date, .null, .init(nullValues: ["-63114076800"], date: .coreDataSeconds)
    ),
    Row(" N/A ", .int64, .null, .init(trims: true, lowercases: true, nullValues: ["n/a"])),
    Row("\u{a0}\t5\r\n", .int64, 5, .init(trims: true)),
    Row(" \n", .string, .null, .init(trims: true, emptyIsNull: true)),
    Row("", .string, "", .none), Row("e\u{301}", .string, "\u{e9}", .init(normalizes: true)),
    Row("\u{c4}B", .string, "\u{e4}b", .init(lowercases: true)),
    Row(.strings([" a", ""]), .strings, .strings(["a"]), .init(trims: true, emptyIsNull: true)),
    Row(1.5, .int64, 1500, .init(scale: 1000)), Row("0.001", .int64, 1, .init(scale: 1000)),
    Row(1500, .double, 1.5, .init(scale: Decimal(string: "0.001")!)),
    Row(1, .int64, fails: .inexact, .init(scale: Decimal(string: "0.001")!)),
    Row(.int64(.max), .int64, fails: .outOfRange, .init(scale: 2)),
    Row(
      decimal("99999999999999999999999999999999999999"), .decimal, fails: .outOfRange,
      .init(scale: 7)),
    Row(2.5, .int64, 2, .init(round: .halfEven)), Row(3.5, .int64, 4, .init(round: .halfEven)),
    Row(-2.5, .int64, -2, .init(round: .halfEven)), Row(2.5, .int64, 3, .init(round: .halfUp)),
    Row(-2.5, .int64, -3, .init(round: .halfUp)), Row(2.4, .int64, 2, .init(round: .halfUp)),
    Row(2.1, .int64, 3, .init(round: .up)), Row(-2.9, .int64, -2, .init(round: .up)),
    Row(2.9, .int64, 2, .init(round: .down)), Row(-2.1, .int64, -3, .init(round: .down)),
    Row(2.9, .int64, 2, .init(round: .truncate)), Row(-2.9, .int64, -2, .init(round: .truncate)),
    Row("0.50000000000000000000000000000000000000000001", .int64, 1, .init(round: .halfEven)),
    Row("0.5", .int64, 0, .init(round: .halfEven)), Row("1e-300", .int64, 1, .init(round: .up)),
    Row("-1e-300", .int64, 0, .init(round: .halfUp)),
    Row("0.10000000000000001", .double, 0.1, .init(round: .halfEven)),
    Row(.int64(.max), .double, 9_223_372_036_854_775_808.0, .init(round: .halfEven)),
    Row(-5, .int64, 0, .init(atLeast: 0)), Row("1e30", .int64, 100, .init(atMost: 100)),
    Row("-1e30", .int64, -7, .init(atLeast: -7)),
    Row("-1e30", .int64, fails: .outOfRange, .init(atMost: 100)),
    Row(7, .double, 1.0, .init(atMost: 1.0)),
    Row(1, states, 1), Row(5, states, 5), Row("played", states, 1), Row("0", states, 0),
    Row("9", states, fails: .enumUnknown), Row("old", states, fails: .enumUnknown),
    Row(2.0, states, fails: .enumUnknown), Row(5, letters, "5"),
    Row(6, letters, fails: .enumUnknown),
    Row("other", letters, "other"), Row(uuid, states, fails: .typeMismatch),
    Row(0, .bool, true, .init(cases: ["0": true, "Y": false])),
    Row("Y", .bool, false, .init(cases: ["0": true, "Y": false])),
    Row("N", .bool, fails: .enumUnknown, .init(cases: ["0": true])),
    Row("N", .bool, .null, .init(cases: ["0": true], orElse: .null)),
    Row("x", .bool, .null, .init(cases: ["x": nil])),
    Row("x", .bool, fails: .typeMismatch, .init(cases: ["x": 5])),
    Row(true, .string, "ja", .init(cases: ["true": "ja", "false": "nein"])),
    Row("a;b;", .strings, .strings(["a", "b", ""]), .init(separator: ";")),
    Row(
      " a ; ;b", .strings, .strings(["a", "b"]),
      .init(trims: true, emptyIsNull: true, separator: ";")),
    Row("", .strings, .strings([]), .init(separator: ";")),
    Row("a;\u{301}b", .strings, .strings(["a", "\u{301}b"]), .init(separator: ";")),
    Row("a", .strings, fails: .typeMismatch, .init(separator: "")),
    Row(.strings(["a", "b"]), .string, "a--b", .init(separator: "--")),
    Row(.strings(["a-", "b"]), .string, fails: .badList, .init(separator: "--")),
    Row(.strings([""]), .string, fails: .badList, .init(separator: ";")),
    Row("0aFF", .data, .data(Data([10, 255])), .init(encoding: .hex)),
    Row("0aF", .data, fails: .badHex, .init(encoding: .hex)),
    Row("0g", .data, fails: .badHex, .init(encoding: .hex)),
    Row("hé", .data, .data(Data("hé".utf8)), .init(encoding: .utf8)),
    Row(.data(Data([10, 255])), .string, "0aff", .init(encoding: .hex)),
    Row(.data(Data([0xff])), .string, fails: .badUTF8, .init(encoding: .utf8)),
    Row(.data(Data(" 12".utf8)), .int64, 12, .init(encoding: .utf8, trims: true)),
    Row("x", .int64, -1, .init(orElse: .value(-1))),
    Row("x", .int64, fails: .typeMismatch, .init(orElse: .value("y"))),
    Row(5, .date, fails: .typeMismatch, .init(orElse: .value(5))),
    Row(5, .int64, fails: .typeMismatch, .init(date: .unixSeconds)),
  ]

  static func seconds(_ value: Value) -> Double {
    guard case .date(let date) = value else { return .nan }
    return date.timeIntervalSinceReferenceDate
  }

  static func type(_ kind: ValueKind) -> AttributeType {
    switch kind {
    case .int64: .int64
    case .double: .double
    case .decimal: .decimal
    case .bool: .bool
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .data: .data
    case .url: .url
    case .strings: .strings
    }
  }
}
