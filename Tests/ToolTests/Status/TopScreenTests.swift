import Console
import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import StatusModel
import TestSupport
import Testing

@testable import mooring

@Suite struct TopScreenTests {
  private static let sizes = [
    (80, 24), (40, 10), (200, 60), (20, 5), (10, 3), (5, 2), (1, 1), (300, 8), (12, 40),
  ]
  private static let titles = [
    "News", "a\u{1B}[31mb\u{202E}c\nd\u{0}e\u{9B}2Jf", String(repeating: "東京ラジオ", count: 40),
    "שלום עולם \u{202B}مرحبا", "👩‍👩‍👧‍👦🇩🇪 family", "e\u{301}\u{301}\u{301}", "", "\t\t\r\n",
    String(repeating: "word ", count: 1_000), String(repeating: "a\u{300}", count: 1_500),
  ]

  @Test(arguments: sizes)
  func everyLineFitsTheScreen(columns: Int, rows: Int) async throws {
    try await withStatus(titles: Self.titles) { status in
      for status in [status, status.with(problems: 50), status.with(problems: 0)] {
        for state in Self.states(of: status) {
          let lines = status.screen(state, columns, rows).lines
          #expect(lines.count == rows)
          for line in lines {
            #expect(line.displayWidth <= columns, "\(state): \(line)")
            #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B })
            #expect(!line.unicodeScalars.contains { (0x202A...0x202E).contains($0.value) })
          }
        }
      }
    }
  }

  @Test(arguments: sizes)
  func colorsAddNothingButTheirSequences(columns: Int, rows: Int) async throws {
    try await withStatus(titles: Self.titles) { status in
      for state in Self.states(of: status) {
        let plain = status.screen(state, columns, rows).lines
        for palette in [TopPalette.colors, .attributes] {
          let painted = status.screen(state, columns, rows, palette).lines
          #expect(painted.map { $0.replacing(/\u{1B}\[\d+m/, with: "") } == plain)
        }
      }
    }
  }

  @Test func withoutColorThereAreBoldAndReversedTextOnly() async throws {
    try await withStatus(titles: Self.titles) { status in
      let text = status.screen(TopState(), 80, 24, .attributes).lines.joined()
      let codes = Set(text.matches(of: /\u{1B}\[(\d+)m/).map { String($0.output.1) })
      #expect(codes == ["0", "1", "7"])
    }
  }

  @Test func theFirstScreenNamesWhatFailsAndSinceWhen() async throws {
    try await withStatus(titles: ["News", "Weather", "Sport"]) { status in
      let lines = status.screen().lines
      #expect(lines[0].hasSuffix("1 problem"), "\(lines[0])")
      #expect(lines[1].hasPrefix("warning: 1 feed is failing: Weather: no route to Weather"))
      #expect(
        lines.contains { $0.hasPrefix("feeds 1 failing, 2 new  jobs none  workers 0  file ") })
      let table = try #require(lines.firstIndex { $0.hasPrefix("condition ") })
      #expect(lines[table + 1].hasPrefix("failing "))
      #expect(lines[table + 1].contains("Weather"))
      #expect(lines[23].hasPrefix("? keys  q quit"))
    }
  }

  @Test func manyProblemsLeaveRoomForTheTable() async throws {
    try await withStatus(titles: ["News"]) { status in
      let lines = status.with(problems: 50).screen().lines
      #expect(lines[0].hasSuffix("50 problems"))
      #expect(lines[1] == "critical: (2h) problem 0 of many")
      #expect(lines[5] == "and 46 more: type p")
      #expect(lines.contains { $0.contains("News") })
    }
  }

  @Test func anEmptyStoreSaysHowToBegin() async throws {
    try await withStatus(titles: []) { status in
      let lines = status.with(problems: 0).screen().lines
      #expect(lines[0].hasSuffix("good"))
      #expect(lines.contains("no feeds; add one with `mooring feed add URL`"))
      for view in TopView.allCases {
        let state = status.state(after: typed(String(view.key)) + [.down, .end, .enter])
        #expect(status.screen(state).lines.count == 24)
        #expect(!state.showsDetails || view == .problems)
      }
    }
  }

  @Test func theLeastColumnsAreLeftOutWhereTheyDoNotFit() async throws {
    try await withStatus(titles: ["News", "Weather"]) { status in
      let lines = status.screen(TopState(), 30, 12).lines
      let titles = try #require(lines.first { $0.hasPrefix("condition ") })
      #expect(titles.contains("title") && !titles.contains("next"))
    }
  }

  @Test func theDetailsHaveAllOfALongError() async throws {
    try await withStatus(titles: ["News", String(repeating: "word ", count: 60) + "end."]) {
      status in
      let lines = status.screen(status.state(after: [.enter])).lines
      let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
      #expect(text.contains("word end.: try later"))
      #expect(text.contains("command mooring feed show 2"))
      #expect(text.contains("url https://host2.example/feed.xml"))
    }
  }

  @Test func aPoisonedJobIsListedWithItsCommand() async throws {
    try await withTemporaryStore(migrations: [.feeds, .homeFeed, .jobs]) { temporary in
      let queue = JobQueue(temporary.store)
      let job = try await queue.enqueue(
        JobRequest(kind: "test.poison", payload: Data("{}".utf8))
      ).id
      let now = temporary.clock.now
      try await temporary.store.write { transaction in
        try transaction.update(ObjectID(entity: "_Job", number: job.rawValue)) { record in
          try record.set("state", to: .string("poisoned"))
          try record.set("lane", to: .null)
          try record.set("at", to: .date(now))
          try record.set("finishedAt", to: .date(now))
        }
      }
      let status = try StatusReader(temporary.store).read()
      let jobs = status.screen(status.state(after: typed("j"))).lines
      #expect(jobs.contains { $0.hasPrefix("poisoned ") && $0.contains("test.poison") })
      let details = status.screen(status.state(after: typed("j") + [.enter])).lines
      #expect(details.contains { $0.hasSuffix("mooring jobs retry \(job)") })
    }
  }

  @Test func anErrorThatPassesIsOnTheLastLine() async throws {
    try await withStatus(titles: ["News"]) { status in
      let lines = status.screen(TopState(), notice: "another process\u{1B}c holds the lock").lines
      #expect(lines[23] == "another process\u{FFFD}c holds the lock")
    }
  }

  @Test(arguments: [
    ("", [""]), ("one two", ["one two"]), ("one two three", ["one two", "three"]),
    ("abcdefghijk", ["abcdefgh", "ijk"]), ("東京東京東京", ["東京東京", "東京"]),
    ("one twoo x", ["one twoo", "x"]),
  ])
  func textIsBrokenAtSpaces(_ text: String, _ lines: [String]) {
    #expect(text.wrapped(toWidth: 8) == lines)
  }

  /// The states that show every part of the screen.
  private static func states(of status: StoreStatus) -> [TopState] {
    let views = TopView.allCases.map { String($0.key) }
    let ends =
      ["", "?", "s", "sssS", "/e", " "].map(typed) + [[.enter], [.end, .enter, .pageDown]]
    return views.flatMap { view in ends.map { status.state(after: typed(view) + $0) } }
  }
}
