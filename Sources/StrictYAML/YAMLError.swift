/// A mistake in a file, its place, and advice.
///
/// Every failure of this module is one of these: text that cannot be read, a construct the dialect
/// refuses, a value of another type than the caller asked for, an unknown key. Callers report it;
/// they never branch on its text.
public struct YAMLError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The name the caller gave the text, usually its path.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// The column in Unicode code points, from 1.
  public let column: Int
  /// The mistake; the advice.
  public let summary: String

  public init(file: String, line: Int, column: Int, summary: String) {
    self.file = file
    self.line = line
    self.column = column
    self.summary = summary
  }

  /// `FILE:LINE:COLUMN: what is wrong; what to do`, the form editors jump to.
  public var description: String { "\(file):\(line):\(column): \(summary)" }
}

/// Text from a file as it appears in a message: on one line, quoted, cut to a readable length.
func excerpt(_ text: String) -> String {
  let lengthMax = 40
  var shown = ""
  for character in text.unicodeScalars.prefix(lengthMax) {
    switch character {
    case "\n", "\r", "\t": shown += " "
    case "\"": shown += "\\\""
    case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}": shown += "\u{FFFD}"
    default: shown.unicodeScalars.append(character)
    }
  }
  return text.unicodeScalars.count > lengthMax ? "\"\(shown)…\"" : "\"\(shown)\""
}
