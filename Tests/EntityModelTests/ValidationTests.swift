import EntityModel
import Foundation
import Testing

@Suite struct ValidationTests {
  private func failure(
    of value: Value, _ type: AttributeType, _ rules: Validation = .none, optional: Bool = true
  ) throws -> ValidationFailure? {
    let attribute = AttributeDescription(
      name: "a", type: type, isOptional: optional, validation: rules)
    let failure = try AttributeValidator(attribute).failure(of: value)
    // In a row it is judged alike.
    let row = try RowValidator([attribute])
    #expect(row.failure(in: [value])?.failure == failure)
    let isSurelyAllowed =
      switch value {
      case .int64(let number): row.surelyAllows(number, at: 0)
      case .double(let number): row.surelyAllows(number, of: .double, at: 0)
      case .date(let date):
        row.surelyAllows(date.timeIntervalSinceReferenceDate, of: .date, at: 0)
      case .string(let text):
        row.surelyAllowsText(of: .string, byteCount: text.utf8.count, at: 0)
      default: false
      }
    #expect(!isSurelyAllowed || failure == nil)
    return failure
  }

  @Test func theFirstInvalidValueOfARowIsNamed() throws {
    let validator = try RowValidator([
      AttributeDescription(name: "a", type: .string),
      AttributeDescription(name: "b", type: .double, validation: Validation(min: 0.0)),
      AttributeDescription(name: "c", type: .int64, isOptional: false),
    ])
    #expect(validator.failure(in: ["x", 1.0, 1]) == nil)
    let broken = try #require(validator.failure(in: ["x", -1.0, .null]))
    #expect(broken.position == 1)
    #expect(broken.failure == .belowMinimum(0.0))
    let missing = try #require(validator.failure(in: ["x", -1.0, .null], keepsRules: false))
    #expect(missing.position == 2)
    #expect(missing.failure == .required)
  }

  @Test func whatCommonRulesAllowIsSurelyAllowed() throws {
    let validator = try RowValidator([
      AttributeDescription(name: "a", type: .int64, validation: Validation(min: 0, max: 9)),
      AttributeDescription(name: "b", type: .string, validation: Validation(maxLength: 3)),
      AttributeDescription(name: "c", type: .string, validation: Validation(pattern: "x*")),
    ])
    #expect(
      [-1, 0, 9, 10].map { validator.surelyAllows($0, at: 0) } == [false, true, true, false])
    #expect(
      (2...4).map { validator.surelyAllowsText(of: .string, byteCount: $0, at: 1) }
        == [true, true, false])
    #expect(!validator.surelyAllowsText(of: .url, byteCount: 1, at: 1))
    #expect(!validator.surelyAllowsText(of: .string, byteCount: 1, at: 2))
    #expect(!validator.surelyAllows(1, at: 1))
  }

  @Test func nullFitsEveryOptionalAttributeAndNoRequiredOne() throws {
    #expect(try failure(of: .null, .string) == nil)
    #expect(try failure(of: .null, .string, optional: false) == .required)
  }

  @Test func aValueOfAnotherKindIsRefused() throws {
    #expect(try failure(of: 1, .string) == .wrongKind(expected: .string, found: .int64))
    let enumeration = AttributeType.enumeration(.init(cases: [.init(name: "a", rawValue: 1)]))
    #expect(try failure(of: "a", enumeration) == .wrongKind(expected: .int64, found: .string))
    #expect(try failure(of: 99, enumeration) == nil)
  }

  @Test func notANumberIsRefusedInEveryKindThatHasIt() throws {
    #expect(try failure(of: .double(.nan), .double) == .notANumber)
    #expect(try failure(of: .decimal(.nan), .decimal) == .notANumber)
    #expect(
      try failure(of: .date(Date(timeIntervalSinceReferenceDate: .nan)), .date) == .notANumber)
    #expect(try failure(of: .double(.infinity), .double) == nil)
  }

  @Test func boundsIncludeTheirEnds() throws {
    let rules = Validation(min: 0.0, max: 1.0)
    #expect(try failure(of: 0.0, .double, rules) == nil)
    #expect(try failure(of: 1.0, .double, rules) == nil)
    #expect(try failure(of: .double(-0.1), .double, rules) == .belowMinimum(0.0))
    #expect(try failure(of: 1.1, .double, rules) == .aboveMaximum(1.0))
  }

  @Test func lengthCountsCharactersBytesOrElements() throws {
    let rules = Validation(maxLength: 2)
    #expect(try failure(of: "👨‍👩‍👧e\u{301}", .string, rules) == nil)
    #expect(try failure(of: "abc", .string, rules) == .tooLong(maximum: 2))
    #expect(try failure(of: .data(Data([1, 2, 3])), .data, rules) == .tooLong(maximum: 2))
    #expect(try failure(of: .strings(["a", "b", "c"]), .strings, rules) == .tooLong(maximum: 2))
    #expect(try failure(of: .strings(["abc", "b"]), .strings, rules) == nil)
  }

  @Test func aPatternMatchesTheWholeTextOrEveryElement() throws {
    let rules = Validation(pattern: "[a-z]+")
    #expect(try failure(of: "abc", .string, rules) == nil)
    #expect(try failure(of: "abc1", .string, rules) == .noMatch(pattern: "[a-z]+"))
    #expect(try failure(of: .strings(["a", "B"]), .strings, rules) != nil)
    #expect(try failure(of: .strings([]), .strings, rules) == nil)
    #expect(throws: (any Error).self) {
      try failure(of: "a", .string, Validation(pattern: "[a-"))
    }
  }
}
