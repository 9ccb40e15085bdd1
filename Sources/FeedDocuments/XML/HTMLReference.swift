/// A reference such as `&amp;`, `&#38;` or `&#x26;`, with its semicolon.
struct HTMLReference {
  /// Nil for a name that HTML does not know.
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
      switch name {
      case "amp": scalar = "&"
      case "lt": scalar = "<"
      case "gt": scalar = ">"
      case "quot": scalar = "\""
      case "apos": scalar = "'"
      default: scalar = HTMLEntities.scalar(name)
      }
    }
  }
}
