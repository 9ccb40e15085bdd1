/// A URL with names in braces that are replaced by values: level 1 of RFC 6570, such as
/// `https://example.org/episodes/{id}`.
struct URLTemplate: Hashable, Sendable {
  /// The largest size of a template in bytes of UTF-8.
  static let textBytesMax = 4_096

  private enum Part: Hashable {
    /// Text that is part of the URL.
    case literal(String)
    case name(String)
  }

  let text: String
  private let parts: [Part]

  /// - Throws: The expected text and its place.
  init(_ text: String) throws(URLTemplateError) {
    guard text.utf8.count <= Self.textBytesMax else {
      throw URLTemplateError("at most \(Self.textBytesMax) bytes", at: Self.textBytesMax)
    }
    self.text = text
    parts = try Self.parts(Array(text.utf8))
  }

  /// The names in the order of their first use, each once.
  var names: [String] {
    var names: [String] = []
    for case .name(let name) in parts where !names.contains(name) { names.append(name) }
    return names
  }

  /// Returns the URL with percent-encoded values, except for letters, digits and `-._~`; nil if a
  /// name has no value.
  func expand(_ value: (String) -> String?) -> String? {
    var url = ""
    for part in parts {
      switch part {
      case .literal(let literal): url += literal
      case .name(let name):
        guard let value = value(name) else { return nil }
        url += URLQuery.encoded(value)
      }
    }
    return url
  }

  private static func parts(_ bytes: [UInt8]) throws(URLTemplateError) -> [Part] {
    var parts: [Part] = []
    var literal = ""
    var offset = 0
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "{") {
        guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: "}")) else {
          throw URLTemplateError("a } that ends this", at: offset)
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = ""
        parts.append(.name(try name(bytes, offset + 1..<end)))
        offset = end + 1
      } else {
        literal += try literalText(bytes, at: &offset)
      }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    return parts
  }

  private static func name(
    _ bytes: [UInt8], _ range: Range<Int>
  ) throws(URLTemplateError) -> String {
    guard !range.isEmpty else { throw URLTemplateError("a name", at: range.lowerBound) }
    var isAfterCharacter = false
    var offset = range.lowerBound
    while offset < range.upperBound {
      let byte = bytes[offset]
      if Ascii.isLetter(byte) || Ascii.isDigit(byte) || byte == UInt8(ascii: "_") {
        offset += 1
        isAfterCharacter = true
      } else if isPercentTriplet(bytes, at: offset), offset + 3 <= range.upperBound {
        offset += 3
        isAfterCharacter = true
      } else if byte == UInt8(ascii: "."), isAfterCharacter, offset + 1 < range.upperBound {
        offset += 1
        isAfterCharacter = false
      } else {
        throw URLTemplateError(
          "a name of letters, digits, _ and single dots, without operators", at: offset)
      }
    }
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// Reads one character or percent-encoded byte, and returns it as URLs contain it.
  private static func literalText(
    _ bytes: [UInt8], at offset: inout Int
  ) throws(URLTemplateError) -> String {
    let byte = bytes[offset]
    if isPercentTriplet(bytes, at: offset) {
      offset += 3
      return String(decoding: bytes[offset - 3..<offset], as: UTF8.self)
    }
    // The single quote belongs to them by erratum 6937.
    let isAllowed = byte > 0x20 && byte != 0x7F && !#""%<>\^`{|}"#.utf8.contains(byte)
    guard isAllowed else {
      throw URLTemplateError(
        "a character of a URL or {name}; others are percent-encoded as %20 is", at: offset)
    }
    offset += 1
    return byte < 0x80 ? String(UnicodeScalar(byte)) : URLQuery.percentEncoded(byte)
  }

  private static func isPercentTriplet(_ bytes: [UInt8], at offset: Int) -> Bool {
    offset + 2 < bytes.count && bytes[offset] == UInt8(ascii: "%")
      && Ascii.digit(bytes[offset + 1], 16) != nil && Ascii.digit(bytes[offset + 2], 16) != nil
  }
}

extension URLTemplate: CustomStringConvertible {
  var description: String { text }
}

/// The reason why a text is no usable template.
struct URLTemplateError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The expected text.
  var expected: String
  /// The byte offset in the text, in UTF-8.
  var offset: Int

  init(_ expected: String, at offset: Int) {
    self.expected = expected
    self.offset = offset
  }

  var description: String { "URL template: expected \(expected) (byte \(offset))" }
}
