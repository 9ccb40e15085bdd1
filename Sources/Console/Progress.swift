internal import Foundation
internal import Glibc
internal import SystemSupport

/// A line on standard error that shows the progress of a command and is erased when it is done.
///
/// It is drawn only on a terminal and never with `--quiet`; a log file gets messages and no
/// progress. Any thread may report.
public final class ProgressLine: Sendable {
  /// How the line may be drawn.
  public struct Style: Sendable {
    /// Nil draws nothing: there is no terminal, or it cannot redraw a line.
    public var width: Int?
    public var hasColor: Bool
    public var isQuiet: Bool

    public init(width: Int?, hasColor: Bool, isQuiet: Bool) {
      self.width = width
      self.hasColor = hasColor
      self.isQuiet = isQuiet
    }

    /// Returns the style that standard error and the environment allow: no color with `NO_COLOR`
    /// (no-color.org), no line with `TERM=dumb`.
    public static func standardError(isQuiet: Bool, environment: [String: String]) -> Style {
      let isDumb = environment["TERM"] == "dumb"
      let forbidsColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
      return Style(
        width: isDumb ? nil : Terminal.width(of: STDERR_FILENO), hasColor: !forbidsColor,
        isQuiet: isQuiet)
    }
  }

  /// The time between two drawings. Nobody reads faster, and terminals over a network are slow.
  private static let interval = Duration.milliseconds(100)

  private let style: Style
  private let now: @Sendable () -> Duration
  private let write: @Sendable (String) -> Void
  /// The time of the last drawing; `nil` while no line is shown.
  private let lastDrawnAt = Locked<Duration?>(nil)

  /// - Parameter now: A monotonic time; only differences matter.
  /// - Parameter write: Receives the texts to be shown in order, one call at a time.
  public init(
    style: Style, now: @escaping @Sendable () -> Duration,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.style = style
    self.now = now
    self.write = write
  }

  /// Returns a line on this process's standard error.
  public static func standardError(isQuiet: Bool) -> ProgressLine {
    let style = Style.standardError(
      isQuiet: isQuiet, environment: ProcessInfo.processInfo.environment)
    let start = ContinuousClock.now
    return ProgressLine(style: style, now: { ContinuousClock.now - start }) { text in
      // A command does not fail because its progress cannot be written: the result is ignored.
      var text = text
      text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
  }

  /// True if updates draw a line.
  public var isDrawn: Bool { style.width != nil && !style.isQuiet }

  /// Shows how much is done: `episodes  1,200 of 5,000  24 %`. At most ten updates a second are
  /// drawn; the others are dropped.
  ///
  /// - Parameter note: A text after the numbers.
  public func update(_ label: String, done: Int64, of total: Int64? = nil, note: String? = nil) {
    guard isDrawn, let width = style.width else { return }
    lastDrawnAt.withLock { drawnAt in
      let time = now()
      if let earlier = drawnAt, time - earlier < Self.interval { return }
      drawnAt = time
      // One column stays free: a full line wraps on some terminals.
      let text = Self.line(label, done, total) + (note.map { "  \($0.singleLine)" } ?? "")
      let line = text.truncated(toWidth: max(0, width - 1))
      write(style.hasColor ? "\r\u{1B}[2m\(line)\u{1B}[0m\u{1B}[K" : "\r\(line)\u{1B}[K")
    }
  }

  /// Erases the line; the next update draws at once. To be called before the command prints its
  /// result.
  public func finish() {
    lastDrawnAt.withLock { drawnAt in
      if drawnAt != nil { write("\r\u{1B}[K") }
      drawnAt = nil
    }
  }

  private static func line(_ label: String, _ done: Int64, _ total: Int64?) -> String {
    let line = "\(label.singleLine)  \(Formatting.count(done))"
    guard let total, total > 0 else { return line }
    let percent = Int64(Double(min(done, total)) / Double(total) * 100)
    return line + " of \(Formatting.count(total))  \(percent) %"
  }
}
