import TestSupport
import Testing
import UnicodeText

struct TextPatternTests {
  @Test(
    arguments: [
      ("", "", true), ("", "a", false), ("*", "", true), ("*", "anything", true), ("?", "", false),
      ("?", "ä", true), ("?", "👩", true), ("??", "ä", false), ("a*", "abc", true),
      ("*c", "abc", true),
      ("*b*", "abc", true), ("a*c", "ab", false), ("a?c", "abc", true), ("a?c", "ac", false),
      ("*ab", "aab", true), ("a*b*c", "axxbyyc", true), ("\\*", "*", true), ("\\*", "a", false),
      ("\\?", "?", true), ("\\\\", "\\", true), ("a\\", "a\\", true), ("\\a", "a", true),
      ("*?", "", false), ("?*?", "ab", true), ("**", "a", true), ("*é", "café", true),
    ])
  func patternsMatchWholeTexts(pattern: String, text: String, matches: Bool) {
    #expect(TextPattern(pattern).matches(Array(text.utf8)) == matches)
  }

  @Test func literalPartsAreFoldedAndEscapesStay() {
    let folding = TextFolding(case: true, diacritics: true)
    #expect(TextPattern("ÄPFEL*", folding: folding).matches(Array("apfelbaum".utf8)))
    // The mark is what the backslash is for, and the star stays a run.
    #expect(TextPattern("\\\u{301}*", folding: folding).matches(Array("x".utf8)))
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func matchesAgreeWithTheDefinition(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for round in 0..<5_000 {
      let pattern = random.letters(of: "ab?**é", max: 7)
      let text = random.letters(of: "abé", max: 8)
      #expect(
        TextPattern(String(pattern)).matches(Array(String(text).utf8))
          == isMatch(pattern[...], text[...]),
        "seed \(seed), round \(round): \(String(pattern)) \(String(text))")
    }
  }

  @Test func manyRunsDoNotTakeExponentialTime() {
    let pattern = TextPattern(String(repeating: "a*", count: 50) + "b")
    #expect(!pattern.matches(Array(repeating: UInt8(ascii: "a"), count: 5_000)))
  }

  @Test func illFormedTextsAreMatchedToo() {
    var random = SeededRandom(seed: 9)
    for _ in 0..<2_000 {
      let bytes = random.anyBytes()
      #expect(TextPattern("*").matches(bytes))
      #expect(TextPattern("*?").matches(bytes) == !bytes.isEmpty)
    }
  }
}

/// The definition, in exponential time.
private func isMatch(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
  guard let first = pattern.first else { return text.isEmpty }
  let rest = pattern.dropFirst()
  if first == "*" {
    return isMatch(rest, text) || (!text.isEmpty && isMatch(pattern, text.dropFirst()))
  }
  guard let letter = text.first else { return false }
  return (first == "?" || first == letter) && isMatch(rest, text.dropFirst())
}

extension SeededRandom {
  fileprivate mutating func letters(of alphabet: String, max: Int) -> [Character] {
    (0..<Int.random(in: 0...max, using: &self)).compactMap { _ in
      alphabet.randomElement(using: &self)
    }
  }
}

extension TextPattern {
  fileprivate func matches(_ text: [UInt8]) -> Bool { text.withUnsafeBytes { matches($0) } }
}
