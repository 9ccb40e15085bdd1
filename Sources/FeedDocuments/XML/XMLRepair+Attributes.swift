// Names and attributes.
extension XMLRepair {
  /// Reads attributes and returns them quoted, each name once, each with a value.
  mutating func takeAttributes(of element: Name) -> [UInt8] {
    var result: [UInt8] = []
    var names: Set<String> = []
    while position < source.count {
      let byte = source[position]
      if byte == Ascii.greater || byte == Ascii.less { break }
      if byte == Ascii.slash, position + 1 == source.count || source[position + 1] == Ascii.greater
      {
        break
      }
      guard Ascii.beginsName(byte) else {
        if !Ascii.isSpace(byte) { addFault(in: element) }
        position += 1
        continue
      }
      let start = position
      let name = takeName(of: start)
      guard let value = takeValue(of: element) else {
        addFault(in: element, at: start)
        continue
      }
      guard names.insert(name.text).inserted else {
        faults.add("<\(element.text)> has \(name.text) twice", at: start)
        continue
      }
      result.append(0x20)
      result.append(contentsOf: name.text.utf8)
      result.append(contentsOf: "=\"".utf8)
      for byte in value {
        if byte == Ascii.quote {
          result.append(contentsOf: "&quot;".utf8)
        } else {
          result.append(byte)
        }
      }
      result.append(Ascii.quote)
    }
    return result
  }

  private mutating func takeValue(of element: Name) -> Slice<UnsafeRawBufferPointer>? {
    skipSpace()
    guard position < source.count, source[position] == Ascii.equals else { return nil }
    position += 1
    skipSpace()
    guard position < source.count else { return nil }
    let quote = source[position]
    let isQuoted = quote == Ascii.quote || quote == Ascii.apostrophe
    if isQuoted { position += 1 } else { addFault(in: element) }
    let start = position
    while position < source.count, source[position] != Ascii.less {
      let byte = source[position]
      if isQuoted ? byte == quote : Ascii.isSpace(byte) || byte == Ascii.greater { break }
      position += 1
    }
    let value = source[start..<position]
    if isQuoted, position < source.count, source[position] == quote { position += 1 }
    return value
  }

  private mutating func addFault(in element: Name, at offset: Int? = nil) {
    faults.add(
      "an attribute of <\(element.text)> is not written as name=\"value\"", at: offset ?? position)
  }

  // MARK: Bytes

  private mutating func skipSpace() {
    while position < source.count, Ascii.isSpace(source[position]) { position += 1 }
  }

  /// Reads a name and returns one that XML allows. Bytes beyond ASCII are removed, because XML
  /// refuses names that contain anything but letters there.
  ///
  /// - Parameter tag: The place of the tag.
  mutating func takeName(of tag: Int) -> Name {
    let start = position
    while position < source.count, Ascii.continuesName(source[position]) { position += 1 }
    var bytes = source[start..<position].prefix(128).filter { $0 < 0x80 }
    while let last = bytes.last, last == UInt8(ascii: ":") { bytes.removeLast() }
    let text = String(decoding: bytes.drop { !Ascii.isLetter($0) && $0 != 0x5F }, as: UTF8.self)
    let local = text.split(separator: ":").last.map { $0.lowercased() } ?? ""
    return Name(text: text, local: local, start: tag)
  }
}
