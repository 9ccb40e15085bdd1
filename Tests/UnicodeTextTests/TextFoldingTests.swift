import TestSupport
import Testing
import UnicodeText

struct TextFoldingTests {
  static let caseOnly = TextFolding(case: true)
  static let diacriticsOnly = TextFolding(diacritics: true)
  static let both = TextFolding(case: true, diacritics: true)

  @Test(
    arguments: [
      ("Äpfel", caseOnly, "äpfel"), ("Äpfel", diacriticsOnly, "Apfel"), ("Äpfel", both, "apfel"),
      ("STRASSE", caseOnly, "strasse"), ("Straße", caseOnly, "strasse"), ("ẞ", both, "ss"),
      ("ΣΊΣΥΦΟΣ", caseOnly, "σίσυφοσ"), ("Σίσυφος", both, "σισυφοσ"), ("ﬁn", caseOnly, "fin"),
      ("İ", both, "i"), ("ᾳ", both, "α"), ("A\u{30A}", diacriticsOnly, "A"),
      ("ASCII", caseOnly, "ascii"),
      ("ASCII", diacriticsOnly, "ASCII"), ("", both, ""), ("\u{301}", both, ""),
      ("a\u{0}B", both, "a\u{0}b"),
      ("Äß", TextFolding(), "Äß"),
    ])
  func textsFold(text: String, folding: TextFolding, folded: String) {
    #expect(folding.fold(Array(text.utf8)) == Array(folded.utf8))
  }

  @Test func canonicallyEquivalentTextsFoldAlikeWithoutDiacritics() {
    for (first, second) in [("é", "e\u{301}"), ("Å", "\u{212B}"), ("가", "\u{1100}\u{1161}")] {
      #expect(Self.both.fold(Array(first.utf8)) == Self.both.fold(Array(second.utf8)))
    }
  }

  @Test(arguments: [caseOnly, diacriticsOnly, both])
  func foldingEveryScalarTwiceChangesNothing(folding: TextFolding) {
    // The planes that have characters.
    for value in [UInt32(0)..<0x40000, 0xE0000..<0xE1000].joined() {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let once = folding.fold(Array(String(scalar).utf8))
      if folding.fold(once) != once { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  @Test(arguments: [caseOnly, diacriticsOnly, both], [UInt64(1), 2])
  func foldingTwiceChangesNothing(folding: TextFolding, seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for round in 0..<10_000 {
      let text = random.anyBytes()
      let once = folding.fold(text)
      #expect(folding.fold(once) == once, "seed \(seed), round \(round): \(text)")
      #expect(String(validating: once, as: UTF8.self) != nil, "seed \(seed), round \(round)")
    }
  }

  @Test func remainingMarksAreReordered() {
    // U+11834 is a mark of class 0, which keeps the two beside it apart.
    let text = "\u{1D16D}\u{11834}\u{1D165}"
    #expect(Self.diacriticsOnly.fold(Array(text.utf8)) == Array("\u{1D165}\u{1D16D}".utf8))
  }

  @Test func illFormedSequencesBecomeReplacementCharacters() {
    #expect(Self.caseOnly.fold([0x41, 0xFF, 0x42]) == Array("a\u{FFFD}b".utf8))
    #expect(Self.both.fold([0xE4, 0xB8]) == Array("\u{FFFD}".utf8))
    #expect(Self.both.fold([0xED, 0xA0, 0x80]) == Array("\u{FFFD}\u{FFFD}\u{FFFD}".utf8))
  }

  @Test func longTextsFoldCompletely() {
    let text = Array(String(repeating: "ΐ", count: 100_000).utf8)
    #expect(
      Self.caseOnly.fold(text) == Array(String(repeating: "ι\u{308}\u{301}", count: 100_000).utf8))
  }
}

extension TextFolding {
  fileprivate func fold(_ text: [UInt8]) -> [UInt8] {
    var folded: [UInt8] = []
    text.withUnsafeBytes { fold($0, into: &folded) }
    return folded
  }
}
