import Foundation
import TestSupport
import Testing

@testable import FeedSync

/// A URL that is taken as it is written is one that Foundation takes, and keeps as it is written.
@Suite struct PlainURLTests {
  @Test func plainURLsAreThoseThatFoundationKeepsAsTheyAre() throws {
    var random = SeededRandom(seed: testSeed(61))
    let parts = [
      "a", "B", "9", "-", ".", "_", "~", "/", "//", "?", "&", "=", "#", "%20", "%", ":", "@", ",",
      ";", "+", " ", "[", "]", "ü", "xn--", "..", "'", "\\", "^", "|", "localhost", "\u{0}",
    ]
    var plain = 0
    for round in 0..<(isThorough ? 200_000 : 20_000) {
      var text = random.pick([
        "https://", "http://", "https://example.org", "HTTP://a", "ftp://", "",
      ])
      for _ in 0..<random.number(0...8) { text += random.pick(parts) }
      guard isPlain(text) else { continue }
      plain += 1
      let url = URL(string: text)
      try #require(
        url?.absoluteString == text && url?.host() != nil,
        "seed \(random.seed), round \(round): \(text)")
    }
    #expect(plain > 500)
  }

  @Test(arguments: [
    ("https://example.org/a/b-1_2~3.mp3?x=1&y=a,b;c:d@e+f", true), ("http://a", true),
    ("https://a/", true), ("https://a/?", true), ("https://", false), ("https:///x", false),
    ("https://a/b?c?d", false), ("https://a/b#c", false), ("https://a:80/", false),
    ("https://u@a/", false), ("https://a/ü", false), ("https://a/%20", false), ("a", false),
    ("https://-a/", false), ("", false),
  ])
  func onlyAHostAndAPathOfPlainCharactersArePlain(_ text: String, _ isPlain: Bool) {
    #expect(self.isPlain(text) == isPlain)
  }

  private func isPlain(_ text: String) -> Bool {
    Array(text.utf8).withUnsafeBytes { PlainURL.isPlain($0) }
  }
}
