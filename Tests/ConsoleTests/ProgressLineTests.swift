import Console
import SystemSupport
import Testing

@Suite struct ProgressLineTests {
  @Test func theLineIsRedrawnAtMostTenTimesASecond() {
    let screen = Screen()
    let progress = screen.progress(width: 80)
    progress.update("episodes", done: 0, of: 5_000)
    screen.time.withLock { $0 = .milliseconds(99) }
    progress.update("episodes", done: 700, of: 5_000)
    screen.time.withLock { $0 = .milliseconds(100) }
    progress.update("episodes", done: 1_200, of: 5_000)
    progress.finish()
    #expect(
      screen.shown == [
        "\repisodes  0 of 5,000  0 %\u{1B}[K", "\repisodes  1,200 of 5,000  24 %\u{1B}[K",
        "\r\u{1B}[K",
      ])
  }

  @Test func withoutATerminalNothingIsWritten() {
    let screen = Screen()
    let progress = screen.progress(width: nil)
    progress.update("pages", done: 1)
    progress.finish()
    #expect(screen.shown.isEmpty)
  }

  @Test func quietWritesNothing() {
    let screen = Screen()
    let progress = screen.progress(width: 80, isQuiet: true)
    progress.update("pages", done: 1)
    progress.finish()
    #expect(screen.shown.isEmpty)
  }

  @Test func afterTheEndOfALineTheNextIsDrawnAtOnce() {
    let screen = Screen()
    let progress = screen.progress(width: 80)
    progress.update("pages\u{1B}[0m", done: 3)
    progress.finish()
    progress.update("pages", done: 4)
    #expect(
      screen.shown == ["\rpages\u{FFFD}[0m  3\u{1B}[K", "\r\u{1B}[K", "\rpages  4\u{1B}[K"])
  }

  @Test func colorIsUsedOnlyWhereAllowedAndTheLineNeverWraps() {
    let screen = Screen()
    screen.progress(width: 10, hasColor: true).update("learning paths", done: 60)
    #expect(screen.shown == ["\r\u{1B}[2mlearning…\u{1B}[0m\u{1B}[K"])
  }

  @Test(arguments: [([:], true), (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true)])
  func theEnvironmentDecidesAboutColor(_ environment: [String: String], _ hasColor: Bool) {
    let style = ProgressLine.Style.standardError(isQuiet: false, environment: environment)
    #expect(style.hasColor == hasColor)
  }

  @Test func aDumbTerminalGetsNoLine() {
    let style = ProgressLine.Style.standardError(isQuiet: false, environment: ["TERM": "dumb"])
    #expect(style.width == nil)
  }
}

/// The written texts, and a clock that does not advance until it is moved.
private final class Screen: Sendable {
  let time = Locked(Duration.zero)
  private let texts = Locked<[String]>([])

  var shown: [String] { texts.withLock { $0 } }

  func progress(width: Int?, hasColor: Bool = false, isQuiet: Bool = false) -> ProgressLine {
    ProgressLine(
      style: .init(width: width, hasColor: hasColor, isQuiet: isQuiet),
      now: { self.time.withLock { $0 } },
      write: { text in self.texts.withLock { $0.append(text) } })
  }
}
