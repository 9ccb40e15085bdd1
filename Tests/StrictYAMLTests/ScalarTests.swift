import StrictYAML
import Testing

@Suite struct ScalarTests {
  @Test(arguments: [
    "no", "010", "1e3", "0x1F", "1:30", "2024-01-01", "yes", "5", "null", "~", "a b",
  ])
  func plainTextStaysExactlyAsWritten(_ text: String) throws {
    #expect(try value(text).string() == text)
  }

  @Test(arguments: [
    ("'it''s'", "it's"), ("\"a\\tb\\u00e9\"", "a\tbé"), ("'no'", "no"),
    ("|\n  one\n  two\n", "one\ntwo\n"), (">-\n  one\n  two\n", "one two"), ("\"\"", ""),
  ])
  func quotedTextIsWhatTheQuotesMean(_ source: String, _ text: String) throws {
    #expect(try value(source).string() == text)
  }

  @Test(arguments: [
    ("0", 0), ("42", 42), ("-7", -7), ("9223372036854775807", Int64.max),
    ("-9223372036854775808", Int64.min),
  ])
  func wholeNumbersAreRead(_ source: String, _ number: Int64) throws {
    #expect(try value(source).int() == number)
  }

  @Test(arguments: [
    "010", "-01", "+1", "1.0", "1e3", "0x1F", "1_000", "1:30", "no", "'5'", "null", "- 1",
    "9223372036854775808", "--1", "١",
  ])
  func whatIsNoWholeNumberIsRefused(_ source: String) throws {
    let node = try value(source)
    #expect(throws: YAMLError.self) { try node.int() }
  }

  @Test(arguments: [
    ("0", 0), ("-0.5", -0.5), ("1e3", 1000), ("1.25E-2", 0.0125), ("10", 10), ("2E+1", 20),
  ])
  func numbersAreReadInTheGrammarOfJSON(_ source: String, _ number: Double) throws {
    #expect(try value(source).double() == number)
  }

  @Test(arguments: [
    ".5", "1.", "01.5", "+1", "nan", ".nan", "inf", ".inf", "-.inf", "1e", "1e+", "0x1p3",
    "\"1\"", "1e999", "1 2",
  ])
  func whatIsNoFiniteNumberIsRefused(_ source: String) throws {
    let node = try value(source)
    #expect(throws: YAMLError.self) { try node.double() }
  }

  @Test func onlyTrueAndFalseAreBooleans() throws {
    #expect(try value("true").bool())
    #expect(try !value("false").bool())
    for source in ["True", "yes", "no", "on", "y", "1", "'true'", "null"] {
      let node = try value(source)
      #expect(throws: YAMLError.self, "\(source)") { try node.bool() }
    }
  }

  @Test func nullIsPlain() throws {
    #expect(try value("null").isNull)
    #expect(try value("~").isNull)
    for source in ["'null'", "\"~\"", "Null", "NULL", "[]", "{}", "''"] {
      #expect(try !value(source).isNull, "\(source)")
    }
  }

  @Test func theErrorNamesWhatIsExpectedAndWhatIsThere() throws {
    #expect(
      #expect(throws: YAMLError.self) { try value("ten").int() }?.description
        == "t.yaml:1:4: expected a whole number such as 42, found \"ten\"")
    #expect(
      #expect(throws: YAMLError.self) { try value("'5'").int() }?.summary
        == "expected a whole number such as 42, found the quoted text \"5\"")
    #expect(
      #expect(throws: YAMLError.self) { try value("[1]").string() }?.summary
        == "expected text, found a sequence")
    #expect(
      #expect(throws: YAMLError.self) { try value("~").mapping() }?.summary
        == "expected a mapping, found null")
    let long = String(repeating: "x", count: 100)
    #expect(
      #expect(throws: YAMLError.self) { try value(long).bool() }?.summary
        == "expected true or false, found \"\(long.prefix(40))…\"")
  }

  private func value(_ source: String) throws -> YAMLNode {
    let isBlock = source.hasPrefix("- ")
    var root = try YAMLDocument.parse("k: \(isBlock ? "\n" : "")\(source)", file: "t.yaml")
      .mapping()
    return try root.required("k")
  }
}
