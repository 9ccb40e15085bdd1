import SchemaFiles
import StrictYAML

/// Changes of the text of a document. All other text stays as it is, comments included.
///
/// The parts that change must not lie in each other.
struct YAMLEdits {
  private let scalars: [Unicode.Scalar]
  private var changes: [(range: Range<Int>, text: String)] = []

  /// - Parameter text: The document whose nodes are changed, without a byte order mark.
  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// The text after the changes.
  var text: String {
    var result = String.UnicodeScalarView()
    var place = 0
    for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      result.append(contentsOf: scalars[place..<change.range.lowerBound])
      result.append(contentsOf: change.text.unicodeScalars)
      place = change.range.upperBound
    }
    result.append(contentsOf: scalars[place...])
    return String(result)
  }

  /// Replaces entries of a mapping and removes others, with the comments above them. A mapping that
  /// loses all entries becomes `{}`.
  ///
  /// - Parameter replacement: Returns the new value of a key; `nil` to leave it.
  mutating func change(
    _ node: YAMLNode, removing isRemoved: (String) -> Bool,
    replacing replacement: (String) -> WrittenYAML? = { _ in nil }
  ) throws {
    guard case .mapping(let entries) = node.content else { return }
    let parts = entries.map { entry in
      let range = trimmed(entry.start..<entry.value.range.upperBound)
      return Part(
        range: range, isRemoved: isRemoved(entry.key),
        text: replacement(entry.key).map { value in
          let key = ConversionFile.scalar(entry.key) + ":"
          let column = range.lowerBound - startOfLine(range.lowerBound)
          return isFlow(node)
            ? "\(key) \(value.flow)" : key + value.text(at: column, after: column + key.count)
        })
    }
    try change(parts, of: node, "{ ", " }", empty: "{}")
  }

  /// Removes elements of a sequence, with the comments above them. A sequence that loses all
  /// elements becomes `[]`.
  mutating func remove(_ node: YAMLNode, where isRemoved: (YAMLNode) -> Bool) throws {
    guard case .sequence(let elements) = node.content else { return }
    let parts = elements.map { element in
      var start = element.range.lowerBound
      // A block has a dash before each element.
      while !isFlow(node), start > 0, scalars[start] != "-" || start == element.range.lowerBound {
        start -= 1
      }
      return Part(
        range: trimmed(start..<element.range.upperBound), isRemoved: isRemoved(element), text: nil)
    }
    try change(parts, of: node, "[", "]", empty: "[]")
  }

  // MARK: Parts

  private struct Part {
    let range: Range<Int>
    let isRemoved: Bool
    /// The new text; `nil` to leave it.
    let text: String?
  }

  private mutating func change(
    _ parts: [Part], of node: YAMLNode, _ open: String, _ close: String, empty: String
  ) throws {
    guard parts.contains(where: { $0.isRemoved || $0.text != nil }) else { return }
    let kept = parts.filter { !$0.isRemoved }
    if kept.isEmpty {
      changes.append((trimmed(node.range), empty))
    } else if isFlow(node) {
      let texts = kept.map { $0.text ?? string($0.range) }
      changes.append((trimmed(node.range), open + texts.joined(separator: ", ") + close))
    } else {
      for part in parts {
        if part.isRemoved {
          changes.append((try lines(of: part.range, in: node), ""))
        } else if let text = part.text {
          changes.append((part.range, text))
        }
      }
    }
  }

  /// Returns the lines of a part of a block, and the comments directly above them.
  private func lines(of range: Range<Int>, in node: YAMLNode) throws -> Range<Int> {
    var start = startOfLine(range.lowerBound)
    guard scalars[start..<range.lowerBound].allSatisfy({ $0 == " " }) else {
      throw node.error("a part of this cannot be removed alone; put each part on its own lines")
    }
    while start > 0 {
      let above = startOfLine(start - 1)
      guard scalars[above..<start].first(where: { $0 != " " }) == "#" else { break }
      start = above
    }
    var end = range.upperBound
    while end < scalars.count, scalars[end] != "\n" { end += 1 }
    return start..<min(end + 1, scalars.count)
  }

  private func startOfLine(_ place: Int) -> Int {
    var start = place
    while start > 0, scalars[start - 1] != "\n" { start -= 1 }
    return start
  }

  /// Returns the range without white space at its end, which a block scalar has.
  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    var end = range.upperBound
    while end > range.lowerBound, scalars[end - 1].properties.isWhitespace { end -= 1 }
    return range.lowerBound..<end
  }

  /// Returns true for a collection in brackets.
  private func isFlow(_ node: YAMLNode) -> Bool {
    ["{", "["].contains(scalars[node.range.lowerBound])
  }

  private func string(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[range])
    return String(view)
  }
}

extension YAMLEdits {
  /// Returns the text after changes, for which the document is parsed.
  static func text(
    of text: String, file: String, _ body: (YAMLNode, inout YAMLEdits) throws -> Void
  ) throws -> String {
    // The document is counted without the mark, and each line ends with one code point here.
    let hasMark = text.unicodeScalars.first == "\u{FEFF}"
    let text = hasMark ? String(text.unicodeScalars.dropFirst()) : text
    let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    let root = try MappingFile.parse(Array(lines.utf8), file: file)
    var edits = YAMLEdits(lines)
    try body(root, &edits)
    return text.contains("\r\n") ? edits.text.replacing("\n", with: "\r\n") : edits.text
  }
}
