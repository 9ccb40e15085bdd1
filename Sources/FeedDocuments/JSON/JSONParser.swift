import CMooringJSON

/// Reads JSON: either whole values, or the structure of an object and then single values.
///
/// A parser reuses its buffers for the next document. Use it on one thread at a time.
package final class JSONParser {
  /// The number of bytes that must be readable after a document. Their values do not matter.
  package static let padding = Int(MOORING_JSON_PADDING)

  /// The largest number of values and member names for `withValue`; each needs 32 bytes of memory.
  static let nodesMax: UInt32 = 4 << 20

  private let handle: OpaquePointer
  /// The length of the byte order mark of the last document.
  private var mark = 0

  /// - Throws: `.outOfMemory`.
  package init() throws(DocumentError) {
    guard let handle = mooring_json_parser_create() else {
      throw DocumentError(.outOfMemory)
    }
    self.handle = handle
  }

  deinit {
    mooring_json_parser_destroy(handle)
  }

  /// Checks the structure of the whole text, whose root must be an object, and lends the document
  /// to `body`. The document is valid only while `body` runs.
  ///
  /// A UTF-8 byte order mark is skipped (RFC 8259 section 8.1 allows that). O(length).
  ///
  /// - Parameter bytes: The text, with `padding` readable bytes after it.
  /// - Throws: The structural error, with the byte offset, or the error of `body`.
  func withDocument<Value>(
    _ bytes: UnsafeRawBufferPointer,
    _ body: (JSONDocument) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    let (start, count, mark) = try text(of: bytes)
    // SAFETY: the caller provides `count` readable bytes and promises the padding after them; both
    // stay in place until `body` has returned, because the caller lends them.
    let outcome = mooring_json_split(handle, start, count)
    guard outcome.code == MOORING_JSON_OK else {
      throw DocumentError(json: outcome, shift: mark)
    }
    return try body(JSONDocument(handle: handle, bytes: start, shift: mark))
  }

  /// Reads and checks the whole text, whose root may be of any kind, and lends its value to `body`.
  /// The value is valid only while `body` runs.
  ///
  /// A byte order mark is skipped. O(length), with up to `nodesMax` nodes in memory.
  ///
  /// - Parameter bytes: The text, with `padding` readable bytes after it.
  /// - Throws: The error in the text, with the byte offset; `.tooLarge` for more nodes; `.tooDeep`
  ///   beyond `JSONDocument.maximumDepth`; or the error of `body`.
  package func withValue<Value>(
    _ bytes: UnsafeRawBufferPointer,
    _ body: (JSONValue) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    let (start, count, mark) = try text(of: bytes)
    var root: UnsafePointer<mooring_json_node>?
    // SAFETY: as in `withDocument`; the nodes stay until the parser's next document.
    let outcome = mooring_json_read_document(
      handle, start, count, JSONDocument.maximumDepth, Self.nodesMax, &root)
    guard outcome.code == MOORING_JSON_OK, let root else {
      throw DocumentError(json: outcome, shift: mark)
    }
    return try body(JSONValue(node: root))
  }

  /// The number of halves of surrogate pairs, such as `\ud83d` alone, that became U+FFFD in the
  /// values read since the last document began, and the offset of the first one in its bytes.
  var replaced: (count: Int, offset: Int) {
    var offset = 0
    let count = mooring_json_replaced(handle, &offset)
    return (count, offset + mark)
  }

  /// Returns the bytes after a byte order mark, and the mark's length.
  private func text(
    of bytes: UnsafeRawBufferPointer
  ) throws(DocumentError) -> (start: UnsafeRawPointer, count: Int, mark: Int) {
    mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard let base = bytes.baseAddress, bytes.count > mark else {
      throw DocumentError(.empty)
    }
    return (base + mark, bytes.count - mark, mark)
  }
}

/// JSON text followed by the zero bytes that the parser may read.
package struct PaddedJSON: Sendable {
  private let bytes: [UInt8]

  /// Takes the text over and appends the padding. O(padding), or O(length) if the array must grow.
  init(_ text: consuming [UInt8]) {
    text.append(contentsOf: repeatElement(0, count: JSONParser.padding))
    bytes = text
  }

  /// The size of the text in bytes.
  package var count: Int { bytes.count - JSONParser.padding }

  /// Lends the text. The padding follows it and is readable.
  package func withUnsafeBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try bytes.withUnsafeBufferPointer { buffer throws(Failure) -> Value in
      let padded = UnsafeRawBufferPointer(buffer)
      return try body(UnsafeRawBufferPointer(rebasing: padded.dropLast(JSONParser.padding)))
    }
  }
}

extension DocumentError {
  /// Creates the error for a code of the C parser.
  ///
  /// - Parameter shift: The number of bytes before the text that the parser has seen.
  init(json outcome: mooring_json_result, at location: String = "", shift: Int) {
    self.init(
      Self.code(of: outcome.code), at: location, offset: Int(outcome.offset) + shift)
  }

  private static func code(of code: mooring_json_code) -> Code {
    switch code {
    case MOORING_JSON_EMPTY: .empty
    case MOORING_JSON_NOT_AN_OBJECT: .notAnObject
    case MOORING_JSON_TRUNCATED: .truncated
    case MOORING_JSON_TRAILING: .trailingContent
    case MOORING_JSON_CONTROL_CHARACTER: .controlCharacter
    case MOORING_JSON_TOO_LARGE, MOORING_JSON_TOO_MANY_MEMBERS: .tooLarge
    case MOORING_JSON_STRING: .invalidString
    case MOORING_JSON_NUMBER: .invalidNumber
    case MOORING_JSON_LITERAL: .invalidLiteral
    case MOORING_JSON_UTF8: .invalidUTF8
    case MOORING_JSON_DEPTH: .tooDeep
    case MOORING_JSON_NO_MEMORY: .outOfMemory
    default: .misplacedToken
    }
  }
}
