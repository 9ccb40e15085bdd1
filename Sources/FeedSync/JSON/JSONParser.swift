import CMooringJSON

/// Reads JSON objects: their structure as a whole, their values one at a time.
///
/// A parser keeps its buffers for the next document. It serves one thread at a time.
final class JSONParser {
  /// Bytes that must be readable behind a document. What they hold does not matter.
  static let padding = Int(MOORING_JSON_PADDING)

  private let handle: OpaquePointer

  /// Throws `.outOfMemory`.
  init() throws(DocumentError) {
    guard let handle = mooring_json_parser_create() else {
      throw DocumentError(.outOfMemory)
    }
    self.handle = handle
  }

  deinit {
    mooring_json_parser_destroy(handle)
  }

  /// Checks the structure of the whole text, of which the root must be an object, and lends the
  /// document to `body`. What `body` gets is valid only while it runs.
  ///
  /// A UTF-8 byte order mark is passed over (RFC 8259 section 8.1 allows that). O(length).
  ///
  /// - Parameter bytes: The text, with `padding` readable bytes behind it.
  /// - Throws: The structural error, with the offset of the byte; or what `body` throws.
  func withDocument<Value>(
    _ bytes: UnsafeRawBufferPointer,
    _ body: (JSONDocument) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard let base = bytes.baseAddress, bytes.count > mark else {
      throw DocumentError(.empty)
    }
    // SAFETY: `count - mark` bytes are ours to read and the caller promises the padding behind
    // them; both stay in place until `body` has returned, because the caller lends them.
    let outcome = mooring_json_split(handle, base + mark, bytes.count - mark)
    guard outcome.code == MOORING_JSON_OK else {
      throw DocumentError(json: outcome, shift: mark)
    }
    return try body(JSONDocument(handle: handle, bytes: base + mark, shift: mark))
  }
}

extension DocumentError {
  /// The error that stands for a code of the C side; `shift` is what was cut off before the text.
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
