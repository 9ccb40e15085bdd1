import ArgumentParser
import Testing

@testable import Console

/// The words of a line as the shells give them, and the answers as the shells read them.
@Suite struct CompletedLineTests {
  private let feed = Completion("https://example.org/a", "A: feed")

  @Test func bashPartsWordsAtColonsAndGetsTheRest() {
    let words = ["mooring", "feed", "show", "https", ":", "//ex"]
    let line = CompletedLine(words, at: 5, for: .bash)
    #expect(line.word == "https://ex")
    #expect(line.answers([feed]) == ["'//example.org/a'"])
  }

  @Test func bashCompletesTheRestAfterAColon() {
    let line = CompletedLine(["mooring", "feed", "show", "https", ":"], at: 4, for: .bash)
    #expect(line.word == "https:")
    #expect(line.answers([feed]) == ["'//example.org/a'"])
  }

  @Test func anOptionWithAnEqualsSignIsOneWordAgain() {
    let words = ["mooring", "feed", "show", "--store", "=", "/s", ""]
    let line = CompletedLine(words, at: 6, for: .bash)
    #expect(line.value(of: "--store") == "/s")
    #expect(line.word.isEmpty)
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
}
