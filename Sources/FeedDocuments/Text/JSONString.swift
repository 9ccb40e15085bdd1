extension [UInt8] {
  /// Appends a string of JSON with its quotes and the fewest escapes.
  ///
  /// - Parameter text: UTF-8.
  mutating func appendJSONString(_ text: UnsafeRawBufferPointer) {
    append(Ascii.quote)
    var copied = 0
    for (position, byte) in text.enumerated()
    where byte < 0x20 || byte == Ascii.quote || byte == UInt8(ascii: "\\") {
      append(contentsOf: text[copied..<position])
      copied = position + 1
      append(UInt8(ascii: "\\"))
      switch byte {
      case 0x0A: append(UInt8(ascii: "n"))
      case 0x0D: append(UInt8(ascii: "r"))
      case 0x09: append(UInt8(ascii: "t"))
      case 0..<0x20:
        append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
        append(contentsOf: String(byte, radix: 16).utf8)
      default: append(byte)
      }
    }
    append(contentsOf: text[copied...])
    append(Ascii.quote)
  }
}

extension String {
  /// The text as one token of a JSON Pointer (RFC 6901, section 3).
  var escapedAsPointerToken: String {
    replacing("~", with: "~0").replacing("/", with: "~1")
  }
}
