import CMooringJSON

/// A document whose structure has been checked. The members of its root object are not read yet.
///
/// Valid only inside the closure of `JSONParser.withDocument`.
struct JSONDocument {
  /// The deepest nesting of a value; `[]` has one level.
  static let maximumDepth: UInt32 = 64

  private let handle: OpaquePointer
  private let shift: Int
  private let bytes: UnsafeRawPointer

  init(handle: OpaquePointer, bytes: UnsafeRawPointer, shift: Int) {
    self.handle = handle
    self.bytes = bytes
    self.shift = shift
  }

  /// All members in document order, repeated names included.
  var members: [JSONMember] {
    var count = 0
    let first = mooring_json_members(handle, &count)
    // SAFETY: the parser keeps `count` members at `first` until the next split.
    return UnsafeBufferPointer(start: first, count: count).map(JSONMember.init(raw:))
  }

  /// Returns true if the member's value begins with that character, such as "[" for an array. The
  /// value is not read.
  func begins(_ member: JSONMember, with character: Unicode.Scalar) -> Bool {
    var offset = 0, length = 0
    mooring_json_extent(handle, member.raw.value, &offset, &length)
    // SAFETY: the value's first byte lies in the document, which is lent as long as this is.
    return UInt32(bytes.load(fromByteOffset: offset, as: UInt8.self)) == character.value
  }

  /// Reads the member's value and lends it to `body`, inside which alone it is valid.
  ///
  /// - Throws: The error in the value (escapes, numbers, literals, UTF-8, depth), or the error of
  ///   `body`.
  func withValue<Value>(
    of member: JSONMember, _ body: (JSONValue) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    try withValue(member.raw.value, at: member.location, body)
  }

  /// Reads one element of an array member and lends it to `body`, as `withValue` does.
  func withElement<Value>(
    _ index: Int, of member: JSONMember, _ body: (JSONValue) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    precondition(member.elementIndices.contains(index))
    // SAFETY: the splitter recorded `element_count` spans for this member from `first_element` on.
    let span = mooring_json_elements(handle)[Int(member.raw.first_element) + index]
    return try withValue(span, at: "\(member.location)/\(index)", body)
  }

  /// Returns the range of an array member's element in the bytes that were lent to the parser.
  func extent(ofElement index: Int, of member: JSONMember) -> Range<Int> {
    precondition(member.elementIndices.contains(index))
    // SAFETY: as in `withElement`.
    let span = mooring_json_elements(handle)[Int(member.raw.first_element) + index]
    var offset = 0, length = 0
    mooring_json_extent(handle, span, &offset, &length)
    return offset + shift..<offset + shift + length
  }

  private func withValue<Value>(
    _ span: mooring_json_span, at location: @autoclosure () -> String,
    _ body: (JSONValue) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    var root: UnsafePointer<mooring_json_node>?
    let outcome = mooring_json_read(handle, span, Self.maximumDepth, &root)
    guard outcome.code == MOORING_JSON_OK, let root else {
      throw DocumentError(json: outcome, at: location(), shift: shift)
    }
    return try body(JSONValue(node: root))
  }
}

/// One member of the root object.
struct JSONMember {
  let name: String
  fileprivate let raw: mooring_json_member

  fileprivate init(raw: mooring_json_member) {
    self.raw = raw
    // SAFETY: the parser keeps `key_length` bytes of valid UTF-8 at `key` until the next split.
    let key = UnsafeRawBufferPointer(start: raw.key, count: Int(raw.key_length))
    name = String(decoding: key, as: UTF8.self)
  }

  /// The elements, if the value is an array; otherwise empty.
  var elementIndices: Range<Int> { 0..<Int(raw.element_count) }

  /// JSON Pointer (RFC 6901) of the value.
  var location: String {
    "/" + name.escapedAsPointerToken
  }
}
