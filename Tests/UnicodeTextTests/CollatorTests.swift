import TestSupport
import Testing
import UnicodeText

struct CollatorTests {
  @Test func textsSortInNaturalOrder() throws {
    let titles = ["Zoo", "Episode 10", "Episode 2", "episode 2", "Äpfel"]
    let sorted = ["Äpfel", "episode 2", "Episode 2", "Episode 10", "Zoo"]
    #expect(try Collator(locale: "").sorted(titles) == sorted)
    #expect(try Collator(locale: "en_US").sorted(titles) == sorted)
  }

  @Test func eachLanguageHasItsOrder() throws {
    let words = ["zebra", "ärla", "apa"]
    #expect(try Collator(locale: "de").sorted(words) == ["apa", "ärla", "zebra"])
    #expect(try Collator(locale: "sv").sorted(words) == ["apa", "zebra", "ärla"])
    let names = ["Ad", "Ae", "Ä", "Af"]
    #expect(try Collator(locale: "de").sorted(names) == ["Ä", "Ad", "Ae", "Af"])
    let phonebook = try Collator(locale: "de@collation=phonebook")
    #expect(phonebook.sorted(names) == ["Ad", "Ae", "Ä", "Af"])
    // By pinyin: běi, shàng, zhōng.
    let cities = ["中山", "北京", "上海"]
    #expect(try Collator(locale: "zh").sorted(cities) == ["北京", "上海", "中山"])
    #expect(try Collator(locale: "zh@collation=stroke").sorted(cities) == ["上海", "中山", "北京"])
  }

  @Test(arguments: [false, true], [false, true])
  func optionsSayWhatDoesNotCount(ignoresCase: Bool, ignoresDiacritics: Bool) throws {
    var options: Collator.Options = []
    if ignoresCase { options.insert(.ignoresCase) }
    if ignoresDiacritics { options.insert(.ignoresDiacritics) }
    let collator = try Collator(locale: "", options: options)
    #expect((collator.compare("a", "ä") == 0) == ignoresDiacritics)
    #expect((collator.compare("a", "A") == 0) == ignoresCase)
    #expect(collator.compare("äA", "b") < 0)
    #expect(collator.compare("episode 9", "episode 10") < 0)
  }

  @Test(arguments: [
    "xx", "de_XX", "de@collation=nonsense", "de@calendar=gregorian", "@", "de\u{0}x",
  ])
  func anUnknownLocaleIsNamed(locale: String) throws {
    let error = try #require(throws: UnicodeTextError.self) { try Collator(locale: locale) }
    #expect(error.code == .localeUnknown)
    #expect(error.description.contains(locale))
  }

  @Test(arguments: ["", "de", "DE", "de-AT", "sv_SE", "zh", "zh-hant-tw", "zh_TW", "en_US_POSIX"])
  func aLocaleMayBeSpelledInSeveralWays(locale: String) throws {
    #expect(try Collator(locale: locale).compare("a", "b") < 0)
  }

  @Test func equalRequestsShareOneCollator() throws {
    let german = try Collator.shared(locale: "de")
    #expect(try Collator.shared(locale: "de") === german)
    #expect(try Collator.shared(locale: "de", options: .ignoresCase) !== german)
  }

  @Test func theVersionNamesTheDataOfEachLocale() throws {
    let root = try Collator(locale: "").version
    #expect(try Collator(locale: "", options: .ignoresCase).version == root)
    #expect(try Collator(locale: "sv").version != root)
    #expect(root.hasPrefix(ICU.version))
  }

  @Test(
    arguments: ["", "sv", "zh", "ja", "th", "de@collation=phonebook"],
    [Collator.Options(), .ignoresCase, .ignoresDiacritics, [.ignoresCase, .ignoresDiacritics]])
  func sortKeysCompareAsTheirTexts(locale: String, options: Collator.Options) throws {
    let collator = try Collator(locale: locale, options: options)
    var random = SeededRandom(seed: 11)
    for round in 0..<4_000 {
      let texts = (random.anyBytes(), random.anyBytes())
      let keys = (collator.sortKey(texts.0), collator.sortKey(texts.1))
      #expect(
        collator.compare(texts.0, texts.1).signum() == order(keys.0, keys.1),
        "seed 11, round \(round): \(texts)")
      #expect(!keys.0.contains(0))
    }
  }

  @Test func prefixesStandFirstAndZerosDoNotCount() throws {
    let collator = try Collator(locale: "")
    #expect(collator.compare("", "a") < 0)
    #expect(collator.compare("ab", "abc") < 0)
    #expect(collator.compare("a\u{0}b", "ab") == 0)
    #expect(collator.sortKey(Array("a\u{0}b".utf8)) == collator.sortKey(Array("ab".utf8)))
    #expect(collator.sortKey([]) == collator.sortKey([0]))
    #expect(order(collator.sortKey([]), collator.sortKey(Array("a".utf8))) < 0)
    #expect(collator.compare("e\u{301}", "é") == 0)
  }

  @Test func longTextsHaveCompleteKeys() throws {
    let collator = try Collator(locale: "")
    let letters = String(repeating: "né", count: 50_000)
    let keys = ["a", "b"].map { collator.sortKey(Array((letters + $0).utf8)) }
    #expect(order(keys[0], keys[1]) < 0)
    #expect(collator.compare(letters + "a", letters + "b") < 0)
  }

  @Test func keysAreAppendedToWhatIsThere() throws {
    let collator = try Collator(locale: "")
    var keys: [UInt8] = [7]
    Array("a".utf8).withUnsafeBytes { collator.appendSortKey(of: $0, to: &keys) }
    #expect(keys == [7] + collator.sortKey(Array("a".utf8)))
  }

  @Test func manyThreadsMayUseOneCollator() async throws {
    let collator = try Collator(locale: "de")
    let expected = collator.sortKey(Array("Äpfel 10".utf8))
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<200).allSatisfy { _ in collator.sortKey(Array("Äpfel 10".utf8)) == expected }
        }
      }
      for await isSame in group { #expect(isSame) }
    }
  }
}

/// -1, 0 or 1 as the bytes compare.
private func order(_ first: [UInt8], _ second: [UInt8]) -> Int {
  first == second ? 0 : first.lexicographicallyPrecedes(second) ? -1 : 1
}

extension Collator {
  fileprivate func compare(_ first: String, _ second: String) -> Int {
    compare(Array(first.utf8), Array(second.utf8))
  }

  fileprivate func compare(_ first: [UInt8], _ second: [UInt8]) -> Int {
    first.withUnsafeBytes { first in second.withUnsafeBytes { compare(first, $0) } }
  }

  fileprivate func sortKey(_ text: [UInt8]) -> [UInt8] {
    var key: [UInt8] = []
    text.withUnsafeBytes { appendSortKey(of: $0, to: &key) }
    return key
  }

  fileprivate func sorted(_ texts: [String]) -> [String] {
    texts.sorted { compare($0, $1) < 0 }
  }
}
