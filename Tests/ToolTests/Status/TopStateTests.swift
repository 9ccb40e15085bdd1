import StatusModel
import TestSupport
import Testing

@testable import mooring

@Suite struct TopStateTests {
  @Test func eachViewHasItsKey() async throws {
    try await withStatus(titles: ["News"]) { status in
      for (key, view) in zip("fjrwp", [TopView.feeds, .jobs, .runs, .workers, .problems]) {
        #expect(status.state(after: typed(String(key))).view == view)
      }
    }
  }

  @Test func theKeysThatQuit() async throws {
    try await withStatus(titles: ["News"]) { status in
      for key in [TopKey.character("q"), .interrupt] {
        var state = TopState()
        let continues = state.handle(key, on: status.screen(state))
        #expect(!continues, "\(key)")
      }
      var typing = status.state(after: typed("/"))
      let continues = typing.handle(.character("q"), on: status.screen(typing))
      #expect(continues && typing.filter == "q")
      let isInterrupted = !typing.handle(.interrupt, on: status.screen(typing))
      #expect(isInterrupted)
    }
  }

  @Test func aFilterMatchesTitlesURLsAndErrors() async throws {
    try await withStatus(titles: ["News", "Weather", "Sport"]) { status in
      for (text, keys) in [
        ("NEWS", ["feed 1"]), ("host3", ["feed 3"]), ("no route", ["feed 2"]), ("zebra", []),
        ("", ["feed 2", "feed 1", "feed 3"]),
      ] {
        let state = status.state(after: typed("/" + text) + [.enter])
        #expect(status.screen(state).listed.map(\.key) == keys, "\(text)")
      }
      let ended = status.state(after: typed("/zebra") + [.backspace, .escape])
      #expect(ended.filter == "" && !ended.isTyping)
    }
  }

  @Test func sortingGoesThroughTheColumnsAndBack() async throws {
    try await withStatus(titles: ["b", "c", "a"]) { status in
      func titles(_ keys: String) -> [String] {
        status.screen(status.state(after: typed(keys))).listed.map { $0.cells[5].text }
      }
      #expect(titles("") == ["c", "b", "a"])
      #expect(titles("S") == ["a", "b", "c"])
      #expect(titles("ssssss") == ["a", "b", "c"])
      #expect(titles("ssssssS") == ["c", "b", "a"])
      #expect(titles("ssssssss") == titles(""))
    }
  }

  @Test func aSelectedRowStaysSelectedWhereItMoves() async throws {
    try await withStatus(titles: ["b", "c", "a"]) { status in
      let state = status.state(after: [.end])
      #expect(status.screen(state).selection == 2)
      let sorted = status.state(after: typed("ssssss"), from: state)
      #expect(status.screen(sorted).selection == 0)
      let filtered = status.state(after: typed("/c"), from: state)
      #expect(status.screen(filtered).selection == 0)
    }
  }

  @Test func movesEndAtTheFirstAndTheLastRow() async throws {
    try await withStatus(titles: (0..<40).map { "feed \($0)" }) { status in
      for (keys, index) in [
        ([TopKey.up], 0), ([.down, .down], 2), ([.end, .down], 39), ([.end, .home], 0),
        ([.pageDown, .pageUp, .up], 0), (Array(repeating: .pageDown, count: 9), 39),
      ] {
        let screen = status.screen(status.state(after: keys))
        #expect(screen.selection == index)
        let selected = screen.listed[index].cells[5].text
        #expect(screen.lines.contains { $0.contains(selected) }, "\(keys)")
      }
    }
  }

  @Test func escapeGoesBackStepByStep() async throws {
    try await withStatus(titles: ["News"]) { status in
      let deep = status.state(after: typed("/n") + [.enter, .enter] + typed("?"))
      #expect(deep.showsHelp && deep.showsDetails && deep.filter == "n")
      let one = status.state(after: [.escape], from: deep)
      #expect(!one.showsHelp && one.showsDetails)
      let two = status.state(after: [.escape], from: one)
      #expect(!two.showsDetails && two.filter == "n")
      #expect(status.state(after: [.escape], from: two).filter == "")
    }
  }

  // MARK: Keys

  @Test func theBytesOfKeysMayComeInParts() {
    let bytes = Array("jé東\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[1;5H\u{1B}[99;1z\r\u{7F}".utf8)
    let keys: [TopKey] = [
      .character("j"), .character("é"), .character("東"), .up, .down, .pageUp, .home, .enter,
      .backspace,
    ]
    var decoder = TopKeyDecoder()
    let whole = decoder.decode(bytes)
    #expect(whole == keys)
    let parts = bytes.flatMap { decoder.decode([$0]) }
    #expect(parts == keys)
    #expect(!decoder.isPending)
  }

  @Test func aLoneEscapeIsAKeyWhenNothingFollows() {
    var decoder = TopKeyDecoder()
    let first = decoder.decode([0x1B])
    #expect(first == [])
    #expect(decoder.isPending)
    let second = decoder.flush()
    #expect(second == .escape)
    let both = decoder.decode([0x1B, UInt8(ascii: "q")])
    #expect(both == [.escape, .character("q")])
  }

  @Test(arguments: [UInt64(1), 2, 3]) func anyBytesAreDecoded(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var decoder = TopKeyDecoder()
    for round in 0..<2_000 {
      let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      _ = decoder.decode(bytes)
      if Bool.random(using: &random) { _ = decoder.flush() }
      _ = decoder.decode([UInt8](repeating: 0x71, count: 40))
      #expect(!decoder.isPending, "seed \(seed), round \(round)")
    }
  }
}
