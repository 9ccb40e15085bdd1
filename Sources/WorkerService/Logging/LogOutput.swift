import Foundation
public import Glibc
public import Logging
import SystemSupport

/// The output of the loggers of a process. Each line is written at once, with one write.
///
/// ``change(level:format:)`` changes the level and the format of all existing loggers. Any thread
/// may use it. A line that cannot be written is dropped.
public final class LogOutput: Sendable {
  private struct State {
    var level: Logger.Level
    var format: LogFormat
  }

  private let descriptor: Int32
  private let isJournal: Bool
  private let now: @Sendable () -> Date
  private let state: Locked<State>
  /// Locked while a line is written, because the system may write a long one in parts.
  private let writing = Locked(())

  /// - Parameter descriptor: The file that lines are written to. It is not closed.
  /// - Parameter environment: `JOURNAL_STREAM` is set if the descriptor leads to the journal, which
  ///   adds times and reads priorities (`<6>`) before the text.
  public convenience init(
    descriptor: Int32 = STDERR_FILENO, level: Logger.Level, format: LogFormat,
    environment: [String: String]
  ) {
    self.init(
      descriptor: descriptor, level: level, format: format,
      isJournal: Self.isJournal(descriptor, environment), now: { Date() })
  }

  init(
    descriptor: Int32, level: Logger.Level, format: LogFormat, isJournal: Bool,
    now: @escaping @Sendable () -> Date
  ) {
    self.descriptor = descriptor
    self.isJournal = isJournal
    self.now = now
    state = Locked(State(level: level, format: format))
  }

  /// The level of loggers that have none of their own.
  public var level: Logger.Level { state.withLock { $0.level } }

  public func change(level: Logger.Level, format: LogFormat) {
    state.withLock { $0 = State(level: level, format: format) }
  }

  /// Returns a handler that writes to this output, for `LoggingSystem.bootstrap` and
  /// `Logger(label:factory:)`.
  public func handler(label: String) -> LineLogHandler {
    LineLogHandler(label: label, output: self)
  }

  func write(_ record: LogRecord) {
    let format = state.withLock { $0.format }
    let text =
      switch format {
      case .json: record.json(at: now())
      case .text where isJournal: record.journalText
      case .text: record.text(at: now())
      }
    let line = Array((text + "\n").utf8)
    writing.withLock { _ in write(line) }
  }

  private func write(_ line: [UInt8]) {
    var rest = line[...]
    while !rest.isEmpty {
      // SAFETY: the pointer and count are those of `rest` and are used only inside the closure.
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        // The error cannot be logged.
        return
      }
    }
  }

  /// Returns true if the variable names the device and the file of this descriptor. A process may
  /// have inherited it for another stream.
  static func isJournal(_ descriptor: Int32, _ environment: [String: String]) -> Bool {
    var file = stat()
    guard let stream = environment["JOURNAL_STREAM"], fstat(descriptor, &file) == 0 else {
      return false
    }
    return stream == "\(file.st_dev):\(file.st_ino)"
  }
}
