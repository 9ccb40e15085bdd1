import TextFormats

/// A JSON Pointer of RFC 6901, such as `/items/0/title`, in its string representation.
package struct JSONPointer: Hashable, Sendable {
  /// The largest size of a pointer in bytes of UTF-8.
  static let textBytesMax = 4_096

  /// Unescaped names and indexes in UTF-8; names are compared by their bytes.
  private let tokens: [[UInt8]]

  /// The name of the root's member that the pointer enters, in UTF-8; `nil` for the whole document.
  var firstName: [UInt8]? { tokens.first }

  /// - Parameter tokens: Unescaped names and indexes.
  package init(tokens: [String]) {
    self.tokens = tokens.map { Array($0.utf8) }
  }

  /// - Throws: The expected text and its place.
  init(_ text: String) throws(JSONPointerError) {
    guard text.utf8.count <= Self.textBytesMax else {
      throw JSONPointerError("at most \(Self.textBytesMax) bytes", at: Self.textBytesMax)
    }
    guard !text.isEmpty else {
      tokens = []
      return
    }
    guard text.utf8.first == UInt8(ascii: "/") else { throw JSONPointerError("/", at: 0) }
    var tokens: [[UInt8]] = []
    var offset = 1
    for part in text.utf8.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false) {
      tokens.append(try Self.unescaped(part, at: offset))
      offset += part.count + 1
    }
    self.tokens = tokens
  }

  private static func unescaped(
    _ part: Substring.UTF8View, at offset: Int
  ) throws(JSONPointerError) -> [UInt8] {
    var token: [UInt8] = []
    var bytes = part.makeIterator()
    var place = offset
    while let byte = bytes.next() {
      if byte == UInt8(ascii: "~") {
        switch bytes.next() {
        case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
        case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
        default: throw JSONPointerError("~0 for ~ or ~1 for /", at: place)
        }
        place += 2
      } else {
        token.append(byte)
        place += 1
      }
    }
    return token
  }

  /// Returns the value that the pointer leads to; nil if there is none. O(names and elements
  /// passed).
  package func value(in root: JSONValue) -> JSONValue? {
    var value = root
    for token in tokens {
      guard let child = Self.child(token, of: value) else { return nil }
      value = child
    }
    return value
  }

  private static func child(_ token: [UInt8], of value: JSONValue) -> JSONValue? {
    switch value.kind {
    case .object:
      return token.withUnsafeBytes { value.member(named: $0)?.value }
    case .array:
      guard let index = index(token), index < value.count else { return nil }
      var elements = value.elements.dropFirst(index).makeIterator()
      return elements.next()
    default:
      return nil
    }
  }

  /// Reads an index: digits without leading zeros. `-`, the element after the last, never exists.
  private static func index(_ token: [UInt8]) -> Int? {
    guard token.allSatisfy(Ascii.isDigit), token.count == 1 || token.first != UInt8(ascii: "0")
    else {
      return nil
    }
    return Int(String(decoding: token, as: UTF8.self))
  }
}

extension JSONPointer: CustomStringConvertible {
  package var description: String {
    tokens.map { "/" + String(decoding: $0, as: UTF8.self).escapedAsPointerToken }.joined()
  }
}

extension String {
  /// The text as one token of a JSON Pointer (RFC 6901, section 3).
  var escapedAsPointerToken: String { escaping("~", as: "~0").escaping("/", as: "~1") }
}

/// The reason why a text is no JSON Pointer.
struct JSONPointerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The expected text.
  var expected: String
  /// The byte offset in the text, in UTF-8.
  var offset: Int

  package init(_ expected: String, at offset: Int) {
    self.expected = expected
    self.offset = offset
  }

  var description: String { "JSON Pointer: expected \(expected) (byte \(offset))" }
}
