import Testing
import UnicodeText

struct RegularExpressionTests {
  @Test(
    arguments: [
      ("a+", "aaa", true), ("a+", "aab", false), ("", "", true), ("", "a", false),
      ("a|ab", "ab", true),
      ("\\p{L}+ \\d{2}", "Äpfel 10", true), (".", "👩", true), ("\\x{4E00}?北.*", "北京", true),
    ])
  func expressionsMatchWholeTexts(pattern: String, text: String, matches: Bool) throws {
    #expect(try RegularExpression(pattern).matcher().matchesWhole(text) == matches)
  }

  @Test func caseIsIgnoredOnDemand() throws {
    #expect(try !RegularExpression("äpfel").matcher().matchesWhole("ÄPFEL"))
    #expect(try RegularExpression("äpfel", ignoresCase: true).matcher().matchesWhole("ÄPFEL"))
  }

  @Test(
    arguments: [
      ("a(b", "parenthesis", "character 3"), ("a\nb[c", "bracket", "line 2"),
      ("*a", "means nothing here", "character 1"), ("\\p{Nonsense}", "property", "character"),
      ("a{3,2}", "maximum", "character"),
    ])
  func aMistakeIsNamedWithItsPlace(pattern: String, mistake: String, place: String) throws {
    let error = try #require(throws: UnicodeTextError.self) { try RegularExpression(pattern) }
    #expect(error.code == .patternInvalid)
    #expect(error.description.contains(mistake), "\(error)")
    #expect(error.description.contains(place), "\(error)")
  }

  @Test func aPatternHasALimit() throws {
    let pattern = String(repeating: "a", count: RegularExpression.patternBytesMax)
    #expect(throws: Never.self) { try RegularExpression(pattern) }
    let error = try #require(throws: UnicodeTextError.self) { try RegularExpression(pattern + "a") }
    #expect(error.code == .patternInvalid)
  }

  @Test func anExpressionThatTakesTooLongEndsInAnError() throws {
    let matcher = try RegularExpression("(a+)+$").matcher()
    let error = try #require(throws: UnicodeTextError.self) {
      try matcher.matchesWhole(String(repeating: "a", count: 40) + "b")
    }
    #expect(error.code == .matchingTooCostly)
    // And it goes on with the next text.
    #expect(try matcher.matchesWhole("aaa"))
  }

  @Test func anExpressionThatGoesTooDeepEndsInAnError() throws {
    let matcher = try RegularExpression("(a|b)*").matcher()
    let error = try #require(throws: UnicodeTextError.self) {
      try matcher.matchesWhole(String(repeating: "ab", count: 500_000))
    }
    #expect(error.code == .matchingTooCostly)
    #expect(try matcher.matchesWhole("abab"))
  }

  @Test func illFormedTextsAreMatchedToo() throws {
    let matcher = try RegularExpression("a\u{FFFD}b").matcher()
    let bytes: [UInt8] = [0x61, 0xFF, 0x62]
    #expect(try bytes.withUnsafeBytes { try matcher.matchesWhole($0) })
  }

  @Test func threadsHaveMatchersOfOneExpression() async throws {
    let expression = try RegularExpression("(a|b)+c")
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let matcher = try expression.matcher()
          return try (0..<200).allSatisfy {
            try matcher.matchesWhole($0 % 2 == 0 ? "abc" : "ab") == ($0 % 2 == 0)
          }
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }
}

extension RegularExpression.Matcher {
  fileprivate func matchesWhole(_ text: String) throws(UnicodeTextError) -> Bool {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(UnicodeTextError) in try matchesWhole(bytes) }
    }
    return try result.get()
  }
}
