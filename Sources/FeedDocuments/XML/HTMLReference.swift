import CMooringXML

/// A reference such as `&amp;`, `&#38;` or `&#x26;`, with its semicolon.
struct HTMLReference {
  /// The character; nil for a name that HTML 4 lacks.
  var scalar: Unicode.Scalar?
  var end: Int

  init?(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
    var position = start + 1
    while position < bytes.count, position - start < 40,
      Ascii.isLetter(bytes[position]) || Ascii.isDigit(bytes[position])
        || bytes[position] == UInt8(ascii: "#")
    {
      position += 1
    }
    guard position < bytes.count, bytes[position] == UInt8(ascii: ";"), position > start + 1 else {
      return nil
    }
    let name = String(decoding: bytes[(start + 1)..<position], as: UTF8.self)
    end = position + 1
    if name.hasPrefix("#") {
      let isHexadecimal = name.dropFirst().first.map { $0 == "x" || $0 == "X" } ?? false
      let digits = name.dropFirst(isHexadecimal ? 2 : 1)
      guard let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), value >= 0x20 || value == 10
      else { return nil }
      scalar = Windows1252.scalar(value)
    } else {
      scalar = Self.scalar(named: name)
    }
  }

  /// Returns the character of libxml2's table of the names of HTML 4, which feeds use although XML
  /// does not know them; nil for another name. O(names of HTML 4).
  static func scalar(named name: String) -> Unicode.Scalar? {
    let value = mooring_html_entity(name)
    return value == 0 ? nil : Unicode.Scalar(value)
  }
}
