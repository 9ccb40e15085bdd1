extension String {
  /// Makes the line of an error: what is wrong, with what value, and what to do. Control characters
  /// and line breaks in texts from a server, a file or a caller are replaced, so that the result is
  /// always one line.
  package init(
    errorLine summary: StaticString, _ context: [(String, String)], advice: String? = nil
  ) {
    var text = "\(summary)"
    if !context.isEmpty {
      text += " (" + context.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + ")"
    }
    if let advice { text += "; " + advice }
    self = text.onOneLine
  }
}

extension String {
  /// The text with U+FFFD in place of each control character and line break.
  package var onOneLine: String { String(map { $0.isControlCharacter ? "\u{fffd}" : $0 }) }
}

extension Character {
  fileprivate var isControlCharacter: Bool {
    isNewline || unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
