import Foundation
import TestSupport
import Testing

@testable import FeedDocuments

@Suite struct IRegexpTests {
  private func matches(_ pattern: String, _ text: String, isWhole: Bool = true) throws -> Bool {
    try IRegexp(pattern).matches(text.unicodeScalars, isWhole: isWhole) { _ in }
  }

  private func patternError(_ pattern: String) -> IRegexpError? {
    do {
      _ = try IRegexp(pattern)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("", ["": true, "a": false]), ("a|", ["": true, "a": true, "b": false]),
    ("a.c", ["abc": true, "a😀c": true, "a\nc": false, "a\rc": false, "a\u{2028}c": true]),
    ("a{2,3}", ["a": false, "aa": true, "aaa": true, "aaaa": false]),
    ("a{2,}b{0}", ["a": false, "aaaaa": true, "aab": false]),
    ("(a{2})?", ["aa": true, "a": false, "": true]),
    ("(ab|cd)+", ["abcdab": true, "abc": false, "": false]),
    ("[a-c\\-é]+", ["a-cé": true, "d": false]), ("[^a-c]", ["d": true, "b": false, "": false]),
    ("[-a]|[b-]", ["-": true, "a": true, "b": true, "c": false]),
    ("[^-]", ["-": false, "a": true]),
    ("\\p{Lu}\\p{L}*", ["Éa片": true, "éa": false]),
    ("[\\P{N}x]", ["5": false, "x": true, "y": true]),
    ("[^\\p{L}\\p{Nd}]", ["-": true, "a": false, "1": false, "½": true]),
    ("\\(\\)\\*\\+\\-\\.\\?\\[\\\\\\]\\^\\{\\|\\}\\n\\r\\t", ["()*+-.?[\\]^{|}\n\r\t": true]),
    ("(a*)*b", ["aaab": true, "b": true, "aaa": false]), ("((a?)*|b)*", ["ab": true, "c": false]),
    ("^ab$", ["ab": true, "^ab$": false]), ("a^b$c", ["a^b$c": true, "abc": false]),
    ("(^a|b$)", ["a": true, "b": true]), ("^*a", ["^^a": true, "a": true]),
    ("/,-<>=!@#%&:;~'\"", ["/,-<>=!@#%&:;~'\"": true]),
  ])
  func matchesWholeTexts(pattern: String, texts: [String: Bool]) throws {
    for (text, expected) in texts {
      #expect(try matches(pattern, text) == expected, "\(pattern) on \(text)")
    }
  }

  @Test(arguments: [
    ("b+", "abbc", true), ("^b", "ab", false), ("^a", "ab", true), ("a$", "ab", false),
    ("b$", "ab", true), ("", "", true), ("x|^$", "", true), ("aab", "aaaab", true),
    ("(a|ab)(c|bcd)$", "xabcd", true), ("\\p{Lu}", "eÉ", true), ("[^a]", "aaa", false),
  ])
  func searchesPartsOfTexts(pattern: String, text: String, expected: Bool) throws {
    #expect(try matches(pattern, text, isWhole: false) == expected)
  }

  @Test(arguments: [
    ("\\d", 2), ("a**", 3), ("*", 1), ("(a", 3), ("a)", 2), ("[]", 2), ("[^]", 3), ("[b-a]", 5),
    ("[a", 3), ("[a-", 4), ("a{2,1}", 6), ("a{", 3), ("a{x}", 3), ("a{,2}", 3), ("]", 1), ("}", 1),
    ("\\p{X}", 5), ("\\p{Cs}", 6), ("\\pL", 3), ("(?:a)", 2), ("a*?", 3), ("b?+", 3), ("a{2}?", 5),
    ("\\", 2),
    ("[a-c-e]", 6), ("[[a]", 2), ("\\$", 2), ("[\\w]", 3),
  ])
  func refusesWhatIsNoIRegexp(pattern: String, place: Int) throws {
    let error = try #require(patternError(pattern))
    #expect(!error.isTooLarge)
    #expect(error.description.contains("(character \(place))"), "\(pattern): \(error)")
  }

  @Test(arguments: [
    "(a{100}){101}", "((){10000}){10000}",
    "a{10001}", "a{99999999999999999999}", "((((()*)*){2000}){2000}){2000}",
    String(repeating: "a", count: 4_097), String(repeating: "(", count: 33),
  ])
  func refusesPatternsThatAreTooLarge(pattern: String) {
    #expect(patternError(pattern)?.isTooLarge == true)
  }

  /// Each of these takes a backtracking engine longer than the universe is old.
  @Test(arguments: [
    "(a*)*b", "(a|a)*b", "(a|aa)+b", "(a?){500}a{500}b", "([a-z]+)*b", "(.*)*(.*)*b",
  ])
  func takesNoMoreStepsThanTextTimesPattern(pattern: String) throws {
    let regexp = try IRegexp(pattern)
    let text = String(repeating: "a", count: 1_500)
    for isWhole in [true, false] {
      var steps = 0
      #expect(!regexp.matches(text.unicodeScalars, isWhole: isWhole) { steps += $0 })
      #expect(steps <= (text.utf8.count + 1) * (regexp.size + 1) + regexp.size)
    }
  }

  @Test(arguments: [7, 20_261_121] as [UInt64])
  func agreesWithABacktrackingEngine(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    for round in 0..<1_500 {
      let pattern = randomPattern(depth: 3, &numbers)
      let text = String(
        (0..<Int.random(in: 0..<7, using: &numbers)).map { _ in
          "abÉ-\n".randomElement(using: &numbers) ?? "a"
        })
      let range = NSRange(text.startIndex..., in: text)
      for (isWhole, foundation) in [(true, "\\A(?:\(pattern))\\z"), (false, "(?:\(pattern))")] {
        // The dot of ICU stops at more line ends than I-Regexp's; none is in these texts.
        let expected =
          try NSRegularExpression(pattern: foundation)
          .firstMatch(in: text, range: range) != nil
        #expect(
          try matches(pattern, text, isWhole: isWhole) == expected,
          "seed \(seed), round \(round): \(pattern) on \(text.debugDescription)")
      }
    }
  }

  private func randomPattern(depth: Int, _ numbers: inout SeededRandom) -> String {
    let atoms = ["a", "b", "É", "-", ".", "[ab]", "[^a]", "\\p{Lu}", "\\P{L}", "[\\p{Ll}\\-]"]
    let quantifiers = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}"]
    let branches = (0..<Int.random(in: 1..<3, using: &numbers)).map { _ in
      (0..<Int.random(in: 0..<4, using: &numbers)).map { _ in
        let isGroup = depth > 0 && Int.random(in: 0..<3, using: &numbers) == 0
        let atom =
          isGroup
          ? "(\(randomPattern(depth: depth - 1, &numbers)))"
          : atoms.randomElement(using: &numbers) ?? "a"
        return atom + (quantifiers.randomElement(using: &numbers) ?? "")
      }.joined()
    }
    return branches.joined(separator: "|")
  }
}
