import Foundation
import Logging
import TextFormats

/// The content of a log line. Whatever its texts contain, it becomes one line of bounded length.
struct LogRecord {
  private let level: Logger.Level
  private let label: String
  private let message: String
  private let metadata: [(key: String, value: Logger.Metadata.Value)]

  init(level: Logger.Level, label: String, message: String, metadata: Logger.Metadata) {
    var budget = LogBudget()
    self.level = level
    self.label = budget.cut(label)
    self.message = budget.cut(message)
    self.metadata = budget.cut(metadata)
  }

  // MARK: Text

  /// `2026-11-21T13:00:00.000Z info     mooring.worker  the message job=12`
  func text(at time: Date) -> String { "\(Self.timestamp(time)) \(body)" }

  /// The line for the journal, which has the time and strips the priority.
  var journalText: String { "<\(priority)>\(body)" }

  private var body: String {
    let name = level.rawValue
    var line = name + String(repeating: " ", count: max(0, 8 - name.utf8.count))
    line += " \(Self.plain(label))  \(Self.plain(message))"
    for (key, value) in metadata {
      line += " \(Self.token(key))=\(Self.token(Self.text(of: value)))"
    }
    return line
  }

  /// The priority of syslog(3).
  private var priority: Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  private static func text(of value: Logger.Metadata.Value) -> String {
    switch value {
    case .string(let text): text
    case .stringConvertible(let value): "\(value)"
    case .array(let values): "[" + values.map(text).joined(separator: ", ") + "]"
    case .dictionary(let entries):
      "{"
        + entries.sorted { $0.key < $1.key }.map { "\($0.key): \(text(of: $0.value))" }
        .joined(separator: ", ") + "}"
    }
  }

  /// Escapes line breaks and terminal control characters.
  private static func plain(_ text: String) -> String {
    JSONLiteral.escaped(text, .unquotedHidden)
  }

  /// Returns a word as it is, and any other text in quotes.
  private static func token(_ text: String) -> String {
    let isWord =
      !text.isEmpty
      && text.unicodeScalars.allSatisfy { scalar in
        !scalar.isHidden && !["\"", "\\", "="].contains(scalar) && !scalar.properties.isWhitespace
      }
    return isWord ? text : JSONLiteral.quoted(text)
  }

  // MARK: JSON

  /// The keys of each line. Metadata with the same key gets a prefix, such as `metadata.time`.
  private static let ownKeys: Set<String> = ["time", "level", "message", "label"]

  /// Returns an object on one line: time, level, message, label, then the metadata by name.
  func json(at time: Date) -> String {
    var line = "{\"time\":\"\(Self.timestamp(time))\",\"level\":\"\(level.rawValue)\""
    line += ",\"message\":\(JSONLiteral.quoted(message))"
    line += ",\"label\":\(JSONLiteral.quoted(label))"
    for (key, value) in metadata {
      let key = Self.ownKeys.contains(key) ? "metadata.\(key)" : key
      line += ",\(JSONLiteral.quoted(key)):\(Self.json(of: value))"
    }
    return line + "}"
  }

  private static func json(of value: Logger.Metadata.Value) -> String {
    switch value {
    case .string(let text): JSONLiteral.quoted(text)
    case .stringConvertible(let value): JSONLiteral.quoted("\(value)")
    case .array(let values): "[" + values.map(json).joined(separator: ",") + "]"
    case .dictionary(let entries):
      "{"
        + entries.sorted { $0.key < $1.key }
        .map { "\(JSONLiteral.quoted($0.key)):\(json(of: $0.value))" }.joined(separator: ",")
        + "}"
    }
  }

  // MARK: Both

  /// Returns a time as in RFC 3339, in UTC with milliseconds.
  static func timestamp(_ time: Date) -> String {
    let milliseconds = Int((time.timeIntervalSince1970 * 1_000).rounded(.down))
    let (seconds, rest) = milliseconds.dividedFlooring(by: 1_000)
    let (days, second) = seconds.dividedFlooring(by: 86_400)
    let date = CivilDate(daysSince1970: days)
    let clock = [second / 3_600, second / 60 % 60, second % 60].map { $0.padded(to: 2) }
    return "\(date.year.padded(to: 4))-\(date.month.padded(to: 2))-\(date.day.padded(to: 2))"
      + "T\(clock.joined(separator: ":")).\(rest.padded(to: 3))Z"
  }
}
