/// A tag or a comment, from `<` to the first `>` outside of quotes. A tag never contains `<`, not
/// even in quotes, so a text that consists of beginnings of tags takes linear time.
struct HTMLTag {
  private(set) var isEnd = false
  /// The range of the name; empty for comments and declarations.
  private(set) var name: Range<Int>
  private(set) var end: Int

  /// Returns nil unless a complete tag begins at `start`.
  init?(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
    var examined = 0
    self.init(bytes, at: start, examined: &examined)
  }

  /// - Parameter examined: Increased by the number of bytes that were examined.
  init?(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int, examined: inout Int) {
    guard start + 1 < bytes.count, bytes[start] == Ascii.less else { return nil }
    var position = start + 1
    defer { examined += position - start }
    if bytes[position] == UInt8(ascii: "!") {
      name = position..<position
      let isComment = bytes[position...].starts(with: "!--".utf8)
      while position < bytes.count, isComment || bytes[position] != Ascii.less {
        position += 1
        guard bytes[position - 1] == Ascii.greater else { continue }
        if isComment, !bytes[..<(position - 1)].suffix(2).elementsEqual("--".utf8) { continue }
        end = position
        return
      }
      // As in browsers, a comment without an end extends to the end of the text.
      guard isComment else { return nil }
      end = position
      return
    }
    isEnd = bytes[position] == Ascii.slash
    if isEnd { position += 1 }
    let nameStart = position
    while position < bytes.count,
      Ascii.isLetter(bytes[position]) || Ascii.isDigit(bytes[position])
        || bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: ":")
    {
      position += 1
    }
    name = nameStart..<position
    guard !name.isEmpty, Ascii.isLetter(bytes[nameStart]) else { return nil }
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      if byte == Ascii.less { return nil }
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == Ascii.quote || byte == Ascii.apostrophe {
        quote = byte
      } else if byte == Ascii.greater {
        end = position + 1
        return
      }
      position += 1
    }
    return nil
  }

  func hasName(_ other: [UInt8], in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    bytes[name].elementsEqual(other) { $0 | 0x20 == $1 }
  }

  /// Returns the ranges of the values of attributes that hold a URL, without their quotes.
  func linkValues(in bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
    attributes(in: bytes).filter { holdsURL($0.name) }.map(\.value)
  }

  /// Returns the attributes that have a value: their names in lower case, and the ranges of the
  /// values without their quotes. O(length).
  func attributes(
    in bytes: UnsafeBufferPointer<UInt8>
  ) -> [(name: String, value: Range<Int>)] {
    guard !isEnd, !name.isEmpty else { return [] }
    var values: [(name: String, value: Range<Int>)] = []
    var position = name.upperBound
    while position < end - 1 {
      let nameStart = position
      while position < end - 1, Ascii.isLetter(bytes[position]) || bytes[position] == 0x2D {
        position += 1
      }
      let attribute = nameStart..<position
      guard !attribute.isEmpty else {
        position += 1
        continue
      }
      while position < end - 1, Ascii.isSpace(bytes[position]) { position += 1 }
      guard bytes[position] == Ascii.equals else { continue }
      position += 1
      while position < end - 1, Ascii.isSpace(bytes[position]) { position += 1 }
      let quote = bytes[position]
      let isQuoted = quote == Ascii.quote || quote == Ascii.apostrophe
      if isQuoted { position += 1 }
      let start = position
      while position < end - 1,
        isQuoted ? bytes[position] != quote : !Ascii.isSpace(bytes[position])
      {
        position += 1
      }
      let name = String(decoding: bytes[attribute], as: UTF8.self).lowercased()
      values.append((name, start..<position))
      if isQuoted { position += 1 }
    }
    return values
  }

  private func holdsURL(_ attribute: String) -> Bool {
    switch attribute {
    case "href", "src", "cite", "action", "poster", "background", "longdesc", "usemap": true
    default: false
    }
  }
}
