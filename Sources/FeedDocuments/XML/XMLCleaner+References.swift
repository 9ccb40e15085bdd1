// References to characters and entities.
extension XMLCleaner {
  mutating func readReference() {
    let start = position
    position += 1
    if position < source.count, source[position] == UInt8(ascii: "#") {
      if let scalar = takeNumber() {
        append(scalar, writtenAt: start)
        return
      }
    } else {
      let name = takeName()
      if !name.isEmpty, position < source.count, source[position] == UInt8(ascii: ";") {
        position += 1
        if append(entity: name, writtenAs: start..<position) { return }
      }
    }
    // With an external subset any name may be defined, which is not read.
    let end = position
    if !(hasExternalSubset && source[end - 1] == UInt8(ascii: ";")) {
      let written = String(decoding: source[start..<end], as: UTF8.self)
      faults.add(
        written.last == ";" ? "\(written) is not defined" : "& begins no reference", at: start)
    }
    position = start + 1
    output.append(contentsOf: "&amp;".utf8)
  }

  /// Reads `#38;` or `#x26;`. Returns U+FFFF for a character that XML forbids, and nil for no
  /// number.
  private mutating func takeNumber() -> Unicode.Scalar? {
    position += 1
    let isHexadecimal = position < source.count && source[position] | 0x20 == UInt8(ascii: "x")
    if isHexadecimal {
      if source[position] == UInt8(ascii: "X") {
        faults.add("&#X is not written as &#x", at: position - 2)
      }
      position += 1
    }
    let start = position
    var value: UInt32 = 0
    while position < source.count,
      let digit = Ascii.digit(source[position], isHexadecimal ? 16 : 10)
    {
      value = min(value * (isHexadecimal ? 16 : 10) + digit, 0x11_0000)
      position += 1
    }
    guard position > start, position < source.count, source[position] == UInt8(ascii: ";") else {
      return nil
    }
    position += 1
    let isForbidden = value < 0x20 && !Ascii.isSpace(UInt8(truncatingIfNeeded: value))
    let scalar = Unicode.Scalar(value)
    return isForbidden || value == 0xFFFE ? "\u{FFFF}" : scalar ?? "\u{FFFF}"
  }

  /// Appends a character that was written as a number; as a reference if it could be taken for
  /// markup.
  private mutating func append(_ scalar: Unicode.Scalar, writtenAt start: Int) {
    switch scalar {
    case "\u{FFFF}":
      faults.add("a reference to a character that XML does not allow", at: start)
    case "&", "<", ">", "\"", "'", "\t", "\n", "\r":
      output.append(contentsOf: "&#\(scalar.value);".utf8)
    case "\u{80}"..."\u{9F}": output.append(Windows1252.scalar(scalar.value))
    default: output.append(scalar)
    }
  }

  /// Appends the text of an entity. Returns false if the name is unknown.
  private mutating func append(entity name: String, writtenAs range: Range<Int>) -> Bool {
    switch name {
    case "amp", "lt", "gt", "quot", "apos":
      output.append(contentsOf: source[range])
    default:
      if let text = entities[name] {
        guard text.count <= entityBytesLeft else { return false }
        entityBytesLeft -= text.count
        output.append(contentsOf: text)
      } else if let scalar = HTMLReference.scalar(named: name) {
        output.append(scalar)
        if !hasExternalSubset { faults.add("&\(name); is not defined", at: range.lowerBound) }
      } else {
        return false
      }
    }
    return true
  }
}
