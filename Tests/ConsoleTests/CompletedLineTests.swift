import ArgumentParser
import Testing

@testable import Console

/// The words of a line as the shells give them, and the answers as the shells read them.
@Suite struct CompletedLineTests {
  private let feed = Completion("https://example.org/a", "A: feed")

  @Test func bashGetsAValueInQuotes() {
    let line = CompletedLine(["mooring", "feed", "show", "https://ex"], at: 3, for: .bash)
    #expect(line.answers([feed]) == ["'https://example.org/a'"])
  }

  @Test func theValueOfAnOptionIsCompletedAfterItsEqualsSign() {
    let line = CompletedLine(["mooring", "fetch", "Episode", "--sort=up"], at: 3, for: .fish)
    #expect(line.word == "up")
    #expect(line.answers([Completion("updatedAt"), Completion("title")]) == ["updatedAt"])
    #expect(CompletedLine(["mooring", "fetch", "--sort="], at: 2, for: .zsh).word.isEmpty)
  }

  @Test func anAssignmentIsNoOption() {
    let line = CompletedLine(["mooring", "set", "Episode", "ep:1", "a=n"], at: 4, for: .bash)
    #expect(line.word == "a=n")
  }

  @Test func theStoreIsFoundInBothFormsOfAnOption() {
    for words in [["--store", "/s"], ["--store=/s"], ["--store='/s"]] {
      let line = CompletedLine(["mooring", "fetch"] + words + [""], at: 3, for: .zsh)
      #expect(line.value(of: "--store") == "/s")
    }
  }

  @Test func bashRunsNothingThatAValueContains() {
    let line = CompletedLine(["mooring", "feed", "show", ""], at: 3, for: .bash)
    #expect(line.answers([Completion("http://e/$(id)'x")]) == [#"'http://e/$(id)'\''x'"#])
  }

  @Test func zshAndFishGetNotes() {
    let words = ["mooring", "feed", "show", "https://ex"]
    #expect(
      CompletedLine(words, at: 3, for: .zsh).answers([feed])
        == [#"https\://example.org/a:A: feed"#])
    #expect(
      CompletedLine(words, at: 3, for: .fish).answers([feed])
        == ["https://example.org/a\tA: feed"])
  }

  @Test func valuesThatWouldBreakALineAreLeftOut() {
    let line = CompletedLine(["mooring", "feed", "show", ""], at: 3, for: .fish)
    #expect(line.answers([Completion("a\nb"), Completion("a b"), Completion("ab")]) == ["ab"])
  }

  @Test func aQuotedWordIsComparedWithoutItsQuotes() {
    let line = CompletedLine(["mooring", "fetch", "'Epi"], at: 2, for: .zsh)
    #expect(line.answers([Completion("Episode"), Completion("Path")]) == ["Episode"])
  }

  @Test(arguments: [#"a\&b"#, "'a&b", "'a&b'", "\"a&b", #"a"&b""#])
  func anEscapedWordIsComparedAsTheShellReadsIt(_ word: String) {
    #expect(CompletedLine(["mooring", "fetch", word], at: 2, for: .bash).word == "a&b")
  }
}
