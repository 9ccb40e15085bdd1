package import StrictYAML

/// A part of a file that is written: laid out as a person would, in one line where it fits, else as
/// a block.
package indirect enum WrittenYAML {
  /// As the file has it, quotes included.
  case scalar(String)
  case list([WrittenYAML])
  case mapping([(key: String, value: WrittenYAML)])

  private static let columns = 100

  /// The lines of the value of a key, and what of it stands behind the colon.
  ///
  /// - Parameter column: Where the key begins.
  /// - Parameter used: What stands on its line already, indentation included.
  package func text(at column: Int, after used: Int) -> String {
    let flow = self.flow
    if !isLong, used + 1 + flow.count <= Self.columns { return " " + flow }
    switch self {
    case .scalar: return " " + flow
    case .list(let elements) where elements.isEmpty: return " []"
    case .mapping(let entries) where entries.isEmpty: return " {}"
    case .list(let elements):
      return elements.map { Self.line(column + 2, "-") + $0.element(at: column + 2) }.joined()
    case .mapping(let entries):
      return entries.map { entry in
        let key = entry.key + ":"
        return Self.line(column + 2, key)
          + entry.value.text(at: column + 2, after: column + 2 + key.count)
      }.joined()
    }
  }

  /// What stands behind the dash of a list. A mapping that is too long begins on its line.
  private func element(at column: Int) -> String {
    guard case .mapping(let entries) = self, !entries.isEmpty,
      isLong || column + 2 + flow.count > Self.columns
    else { return text(at: column, after: column + 1) }
    let lines = entries.map { entry in
      let key = entry.key + ":"
      return key + entry.value.text(at: column + 2, after: column + 2 + key.count)
    }
    return " " + lines.joined(separator: Self.line(column + 2, ""))
  }

  private static func line(_ column: Int, _ text: String) -> String {
    "\n" + String(repeating: " ", count: column) + text
  }

  private var flow: String {
    switch self {
    case .scalar(let text): text
    case .list(let elements): "[" + elements.map(\.flow).joined(separator: ", ") + "]"
    case .mapping(let entries):
      entries.isEmpty
        ? "{}"
        : "{ " + entries.map { "\($0.key): \($0.value.flow)" }.joined(separator: ", ") + " }"
    }
  }

  /// Whether one line would be hard to read, however short: it has a list of several mappings.
  private var isLong: Bool {
    switch self {
    case .scalar: false
    case .list(let elements):
      elements.count > 1 && elements.contains(where: \.isMapping)
        || elements.contains(where: \.isLong)
    case .mapping(let entries): entries.contains { $0.value.isLong }
    }
  }

  private var isMapping: Bool {
    if case .mapping = self { true } else { false }
  }
}

extension WrittenYAML {
  /// A part of a file that was read; comments and layout are gone.
  package init(_ node: YAMLNode) {
    switch node.content {
    case .scalar(let text, let isPlain):
      self = .scalar(isPlain ? text : ConversionFile.quoted(text))
    case .sequence(let elements): self = .list(elements.map(WrittenYAML.init))
    case .mapping(let entries):
      self = .mapping(
        entries.map { (WrittenYAML.quotedIfNeeded($0.key), WrittenYAML($0.value)) })
    }
  }

  /// A text that is read as one, whatever it looks like: in quotes where a reader might take it for
  /// something else.
  package static func text(_ text: String) -> WrittenYAML { .scalar(quotedIfNeeded(text)) }

  package static func texts(_ texts: [String]) -> WrittenYAML { .list(texts.map(text)) }

  /// A name, a key of an index, a predicate: begins with a letter, has signs that mean nothing in
  /// YAML, and looks like no word that does.
  package static func quotedIfNeeded(_ text: String) -> String {
    isPlain(text) ? text : ConversionFile.quoted(text)
  }

  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first), text.utf8.last != UInt8(ascii: " "),
      !["null", "true", "false"].contains(text)
    else { return false }
    var previous = first
    for byte in text.utf8 {
      if byte == UInt8(ascii: " "), previous == byte { return false }
      guard isLetter(byte) || harmless.contains(byte) else { return false }
      previous = byte
    }
    return true
  }

  private static let harmless = Set("0123456789 _.@()<>=+*/$\"'-".utf8)

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
