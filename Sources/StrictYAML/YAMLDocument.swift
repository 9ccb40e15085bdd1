/// Reads one document of the project's file dialect: a strict subset of YAML.
///
/// The dialect has mappings, sequences and scalars, in block and flow style, with comments; JSON is
/// valid input. Scalars have no type of their own: the caller names the type it expects
/// (``YAMLNode/int()``, ``YAMLNode/bool()`` …) and nothing is guessed from spelling.
///
/// Refused, each with its position: duplicate keys, anchors, aliases, merge keys, tags, directives,
/// a second document, keys that are not text, values left empty (write `null` or `""`), tabs for
/// indentation, control characters, the line breaks U+0085, U+2028 and U+2029, text that is not
/// UTF-8, documents over 4 MiB and nesting over 64. A byte order mark and CRLF are accepted. Three
/// rare forms of JSON are refused too, as libyaml does: `\ud83d\ude00` for one character (write
/// the character), a key over 1,024 characters, and a line break before the `:`.
public struct YAMLDocument: Sendable {
  /// The largest size in bytes of a document with no bound of its own, such as a migration.
  package static let bytesMax = Limits.documentBytesMax

  /// Reads exactly one document.
  ///
  /// - Parameter text: The whole document.
  /// - Parameter file: The name that errors carry, usually the path.
  /// - Returns: The root of the tree.
  /// - Throws: ``YAMLError`` at the first construct that is malformed or refused.
  /// - Complexity: O(*n* log *n*) in the size of the text.
  public static func parse(_ text: String, file: String) throws(YAMLError) -> YAMLNode {
    try parse(bytes: Array(text.utf8), file: file)
  }

  /// Reads exactly one document from bytes that should be UTF-8.
  ///
  /// - Parameter bytes: The whole document, with or without a byte order mark.
  /// - Parameter file: The name that errors carry, usually the path.
  /// - Returns: The root of the tree.
  /// - Throws: ``YAMLError`` at the first byte that is not UTF-8, or the first construct that is
  ///   malformed or refused.
  public static func parse(bytes: [UInt8], file: String) throws(YAMLError) -> YAMLNode {
    try parse(bytes: bytes, file: file, bytesMax: Limits.documentBytesMax)
  }

  /// Reads exactly one document with a bound of its own on the size.
  ///
  /// - Parameter bytesMax: The largest size that is read. The tree takes several times as much
  ///   memory.
  /// - Throws: ``YAMLError``, as ``parse(bytes:file:)`` does.
  public static func parse(
    bytes: [UInt8], file: String, bytesMax: Int
  ) throws(YAMLError) -> YAMLNode {
    let source = try SourceText(bytes: bytes, file: file, bytesMax: bytesMax)
    try source.checkCharacters()
    return try source.withEvents { (events) throws(YAMLError) in
      var builder = TreeBuilder(events: events, file: file)
      return try builder.document()
    }
  }
}

/// The bounds of a document. They stop hostile files and are far above the needs of real ones.
enum Limits {
  /// The size of the text without a byte order mark. A migration or mapping file has a few
  /// kilobytes.
  static let documentBytesMax = 4 * 1024 * 1024
  /// The depth of collections inside collections. Trees are built and walked by recursion, so this
  /// bounds the stack as well.
  static let nestingMax = 64
}
