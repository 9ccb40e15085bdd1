extension String {
  /// What an error says, in one line: what is wrong, with what, and what to do. Whatever a server,
  /// a file or a caller says in it cannot break out of the line.
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
  /// With U+FFFD for each control character and line break.
  package var onOneLine: String { String(map { $0.isControlCharacter ? "\u{fffd}" : $0 }) }
}

extension Character {
  fileprivate var isControlCharacter: Bool {
    isNewline || unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
