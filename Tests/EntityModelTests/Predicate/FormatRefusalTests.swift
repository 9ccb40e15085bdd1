import EntityModel
import Foundation
import Testing

@Suite struct FormatRefusalTests {
  private func refusal(
    _ format: String, _ arguments: [(any PredicateArgument)?] = []
  ) -> PredicateFormatError? {
    #expect(throws: PredicateFormatError.self) {
      try FetchPredicate(format: format, arguments: arguments)
    }
  }

  @Test(
    "A format that is no predicate is refused at its place, with advice",
    arguments: [
      ("", 0, "expected a value, found the end"),
      ("a ==", 4, "found the end"),
      ("a == 1 b", 7, "expected an operator, AND, OR or the end, found \"b\""),
      ("a == 1)", 6, "nothing is open here"),
      ("a == (1", 7, "byte 5 has no end"),
      ("(a == 1}", 7, "ends with )"),
      ("a IN {1, 2)", 10, "ends with }"),
      ("a IN {1,}", 8, "expected a value"),
      ("a == 1, b == 2", 6, "a comma belongs"),
      ("a IN {b == 1}", 6, "found a condition"),
      ("isOpen", 0, "write isOpen == TRUE"),
      ("x == 1 AND isOpen", 11, "write isOpen == TRUE"),
      ("NOT #in", 4, "write #in == TRUE"),
      ("TRUE", 0, "write TRUEPREDICATE"),
      ("5", 0, "no condition"),
      ("a == b == c", 0, "found a condition"),
      ("a NOT IN b", 2, "NOT stands before"),
      ("a == IN", 5, "written with a #"),
      ("ANY a", 0, "ANY stands before a comparison"),
      ("ALL (a == 1)", 0, "ALL stands before a comparison"),
      ("a == ANY b", 5, "ANY stands before a comparison"),
      ("ALL a SATISFIES (b == 1)", 6, "NOT ANY episodes"),
      ("a SATISFIES (b == 1)", 2, "write ANY"),
      ("ANY 1 SATISFIES (b == 1)", 6, "behind a path"),
      ("ANY a SATISFIES b == 1", 16, "write b == TRUE"),
      ("a & b", 2, "&&"),
      ("a == 1 | b == 2", 7, "||"),
      ("a == ?", 5, "unexpected \"?\""),
      ("a == “x”", 5, "plain quotes"),
      ("a == 'x", 5, "close it with '"),
      (#"a MATCHES "\d+""#, 11, "unknown escape"),
      (#"a == "\u12""#, 6, "four hexadecimal digits"),
      (#"a == "\ud83d""#, 6, "surrogate"),
      (#"a == "\udc00\ud83d""#, 6, "surrogate"),
      ("a == 9223372036854775808", 5, "64 bits"),
      ("a == -9223372036854775809", 6, "64 bits"),
      ("a == 0xFFFFFFFFFFFFFFFF", 5, "64 bits"),
      ("a == 1e999", 5, "too large"),
      ("a == 5abc", 6, "end of the number"),
      ("a == 1.", 7, "after the decimal point"),
      ("a == 0x", 7, "hexadecimal digit"),
      ("a ==[x] 1", 5, "unknown option"),
      ("a ==[] 1", 5, "expected options"),
      ("a.@count.b == 1", 9, "a count is the last part"),
      ("a.@sum.@avg.b == 1", 7, "one function"),
      ("a.@median.b == 1", 2, "unknown function @median"),
      ("SELF.@count == 1", 5, "behind a path"),
      ("a. == 1", 3, "name of an attribute"),
      ("a[0] == 1", 1, "found [0]"),
      ("a[FIRST] == 1", 1, "found [FIRST]"),
      ("a[LAST] == 1", 1, "found [LAST]"),
      ("$a.b == 1", 2, "a dot follows"),
      ("1[SIZE] == 1", 1, "brackets follow"),
      ("SUBQUERY(a, $x, $x.b == 1).@count > 0", 0, "ANY episodes SATISFIES"),
      ("a == CAST(1, 'NSDate')", 5, "typed literal"),
      ("FUNCTION(a, 'b') == 1", 0, "the function FUNCTION is not supported"),
      ("TERNARY(a == 1, 2, 3) == 2", 0, "TERNARY"),
      ("a < now()", 4, "pass a Date"),
      ("lowercase:(a) == 'x'", 0, "==[c]"),
      ("sum(a == 1) > 2", 4, "found a condition"),
      ("sum a > 2", 4, "expected an operator"),
      ("DATE 'now' < a", 5, "expected a date"),
      ("DATE 'nans' < a", 5, "NaN"),
      ("a == DOUBLE 'nan'", 12, "NaN"),
      ("a == DECIMAL 'NaN'", 13, "NaN"),
      ("a == UUID 'x'", 10, "expected a UUID"),
      ("a == OBJECT 'Episode'", 12, "Episode/7"),
      ("a == STRINGS {1}", 14, "a text in quotes"),
      ("#", 0, "directly behind it"),
      ("a == $ x", 5, "directly behind it"),
      ("@count == 1", 0, "behind a path"),
      ("é == %x", 6, "unknown specifier"),
      ("a == %%", 5, "inside them write one %"),
    ])
  func refused(format: String, offset: Int, message: String) throws {
    let error = try #require(refusal(format))
    #expect(error.offset == offset, "\(error.message)\n\(error.caret)")
    #expect(error.message.contains(message), "\(error.message)")
    #expect(error.format == format)
    #expect(!error.message.contains("\n"))
  }

  @Test func argumentsMustBeAsManyAsSpecifiersAndOfTheirTypes() throws {
    let cases: [(String, [(any PredicateArgument)?], Int, String)] = [
      ("a == %@", [], 5, "%@ is specifier 1 of 0"),
      ("a == %@ AND b == %d", [1], 17, "%d is specifier 2 of 1"),
      ("a == %@", [1, 2], 7, "2 arguments for 1 specifiers"),
      ("a == '%@'", [1], 9, "1 arguments for 0 specifiers"),
      ("a == %d", ["1"], 5, "pass an integer"),
      ("a == %d", [1.5], 5, "pass an integer"),
      ("a == %i", [nil], 5, "pass an integer"),
      ("a == %f", ["1"], 5, "pass a number"),
      ("a == %s", [1], 5, "pass a text"),
      ("%K == 1", [1], 0, "key path"),
      ("%K == 1", [nil], 0, "key path"),
      ("%K == 1", ["a b"], 0, "no key path"),
      ("%K == 1", ["a..b"], 0, "no key path"),
      ("%K == 1", [""], 0, "no key path"),
      ("%K == 1", ["a.@count.b"], 0, "last part"),
      ("a == %@", [Double.nan], 5, "NaN"),
      ("a IN %@", [[1, Double.nan]], 5, "NaN"),
      ("a == %@", [Broken()], 5, "this argument is broken"),
    ]
    for (format, arguments, offset, message) in cases {
      let error = try #require(refusal(format, arguments))
      #expect(error.offset == offset, "\(format): \(error.message)")
      #expect(error.message.contains(message), "\(format): \(error.message)")
    }
  }

  @Test func anExpressionIsNoCondition() throws {
    let error = #expect(throws: PredicateFormatError.self) { try FetchExpression(format: "a == 1") }
    #expect(error?.message.contains("expected a value") == true)
  }

  @Test func theCaretMarksThePlace() throws {
    #expect(try #require(refusal("a == 1 b")).caret == "a == 1 b\n       ^")
    #expect(try #require(refusal("été ==\n“x”")).caret == "été == “x”\n       ^")
    #expect(try #require(refusal("a ==")).caret == "a ==\n    ^")
    let long =
      String(repeating: "a == 1 AND ", count: 100) + "?" + String(repeating: " ", count: 99)
    let lines = try #require(refusal(long)).caret.split(separator: "\n")
    #expect(lines[0].count <= 76)
    #expect(lines[1].count == 39)
    #expect(Array(lines[0])[38] == "?")
  }

  @Test func theDescriptionIsOneLine() throws {
    #expect(
      try #require(refusal("a ==\n\n")).description
        == "byte 6 of the predicate format: expected a value, found the end")
  }
}

private struct Broken: PredicateArgument, Error, CustomStringConvertible {
  var description: String { "this argument is broken" }

  func predicateExpression() throws -> FetchExpression { throw self }
}
