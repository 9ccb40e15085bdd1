package import StrictYAML

/// A part of a file that is being written: on one line if it fits, else as a block.
package indirect enum WrittenYAML {
  /// A scalar in the form that it has in the file, quotes included.
  case scalar(String)
  case list([WrittenYAML])
  case mapping([(key: String, value: WrittenYAML)])

  private static let columns = 100

  /// Returns the text of the value of a key: the rest of the key's line, and the lines that follow.
  ///
  /// - Parameter column: The column at which the key begins.
  /// - Parameter used: The number of columns already used on its line, indentation included.
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

  /// Returns the text that follows the dash of a list element. A mapping that is too long for one
  /// line begins on the line of the dash.
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

  /// The value, written on one line.
  package var flow: String {
    switch self {
    case .scalar(let text): text
    case .list(let elements): ConversionFile.flow(elements.map(\.flow))
    case .mapping(let entries):
      ConversionFile.braced(entries.map { "\($0.key): \($0.value.flow)" })
    }
  }

  /// True if one line would be hard to read, however short, because it has a list of several
  /// mappings.
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
  /// Creates the part from a node that was read. Comments and layout are not preserved.
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

  /// Returns a scalar that is always read as text: in quotes where it might be read as something
  /// else.
  package static func text(_ text: String) -> WrittenYAML { .scalar(quotedIfNeeded(text)) }

  package static func texts(_ texts: [String]) -> WrittenYAML { .list(texts.map(text)) }

  /// Returns a name, a key of an index or a predicate, in quotes unless it is plain: it begins with
  /// a letter or an underscore, has no characters with a meaning in YAML, and is not `null`, `true`
  /// or `false`.
  package static func quotedIfNeeded(_ text: String) -> String {
    isPlain(text) ? text : ConversionFile.quoted(text)
  }

  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first) || first == UInt8(ascii: "_"),
      text.utf8.last != UInt8(ascii: " "),
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
