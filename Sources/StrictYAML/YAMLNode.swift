/// One value of a document: a scalar, a sequence or a mapping, with its place in the file.
///
/// Nodes are plain values: any thread may read them, and they keep nothing of the parser alive.
public struct YAMLNode: Sendable {
  public enum Kind: Sendable { case scalar, sequence, mapping }

  package enum Content: Sendable {
    case scalar(String, isPlain: Bool)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  package struct Entry: Sendable {
    package let key: String
    let position: Position
    /// The code point of the document at which the key starts.
    package let start: Int
    package let value: YAMLNode
  }

  /// The name of the file, as it was given to the parser.
  public let file: String
  let position: Position
  /// The code points of the document that the value takes, without a byte order mark.
  package let range: Range<Int>
  package let content: Content

  /// The line where the value starts, from 1.
  public var line: Int { position.line }
  /// The column where the value starts, in code points, from 1.
  public var column: Int { position.column }

  public var kind: Kind {
    switch content {
    case .scalar: .scalar
    case .sequence: .sequence
    case .mapping: .mapping
    }
  }

  /// True for a plain `null` or `~`. A quoted "null" is text.
  public var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return text == "null" || text == "~"
  }

  /// The elements of a sequence.
  ///
  /// - Throws: ``YAMLError`` if this is anything else.
  public func sequence() throws(YAMLError) -> [YAMLNode] {
    guard case .sequence(let elements) = content else { throw expected("a sequence") }
    return elements
  }

  /// The mapping, with every key still to be taken.
  ///
  /// - Throws: ``YAMLError`` if this is anything else.
  public func mapping() throws(YAMLError) -> YAMLMapping {
    guard case .mapping(let entries) = content else { throw expected("a mapping") }
    return YAMLMapping(file: file, position: position, entries: entries)
  }

  /// An error at the place of this value, for what only the caller can judge.
  public func error(_ summary: String) -> YAMLError {
    YAMLError(file: file, line: line, column: column, summary: summary)
  }

  func expected(_ expectation: String) -> YAMLError {
    error("expected \(expectation), found \(found)")
  }

  private var found: String {
    switch content {
    case .scalar where isNull: "null"
    case .scalar(let text, isPlain: true): excerpt(text)
    case .scalar(let text, isPlain: false): "the quoted text \(excerpt(text))"
    case .sequence: "a sequence"
    case .mapping: "a mapping"
    }
  }
}
