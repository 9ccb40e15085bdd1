/// Makes text that libxml2 can read of text that it would stop at or be hurt by, in one pass.
///
/// What comes out has no XML declaration, document type, comment or processing instruction, and no
/// references but to numbers and to the five names of XML. So no entity can ever be expanded, and
/// nothing outside the document can be asked for: libxml2 is never told of any.
///
/// What feeds have and XML forbids is mended: control characters go, an ampersand that begins no
/// reference is escaped, so is a `<` that begins no tag, and the named characters of HTML become
/// the characters. Elements that do not match are `XMLRepair`'s part.
struct XMLCleaner {
  var output: [UInt8] = []
  /// What XML forbids and was mended.
  var faults = 0
  /// The document type as written, if there is one.
  var documentType: String?
  /// Bytes that were looked at, those that were looked at again included.
  private(set) var examined = 0

  let source: UnsafeRawBufferPointer
  var position = 0
  private var tags = 0
  var entities: [String: [UInt8]] = [:]
  /// Bytes that entities may still become.
  var entityBytesLeft: Int

  /// - Parameter text: UTF-8.
  /// - Throws: `.tooLarge` for an element with more than `XMLLimits.attributesMax` attributes, and
  ///   for more than `XMLLimits.tagsMax` tags.
  static func clean(_ text: [UInt8]) throws(DocumentError) -> XMLCleaner {
    try text.withUnsafeBufferPointer { bytes throws(DocumentError) in
      var cleaner = XMLCleaner(UnsafeRawBufferPointer(bytes))
      cleaner.readProlog()
      try cleaner.readBody()
      return cleaner
    }
  }

  private init(_ source: UnsafeRawBufferPointer) {
    self.source = source
    entityBytesLeft = source.count + 65_536
    output.reserveCapacity(source.count)
  }

  private mutating func readBody() throws(DocumentError) {
    while position < source.count {
      copy(until: Self.endsText, before: source.count)
      guard position < source.count else { return }
      switch source[position] {
      case Ascii.ampersand: readReference()
      case Ascii.less: try readMarkup()
      case Ascii.greater: copyGreater()
      default: dropCharacter()
      }
    }
  }

  /// Copies up to the next byte of the table.
  private mutating func copy(until table: [Bool], before end: Int) {
    var next = position
    table.withUnsafeBufferPointer { table in
      while next < end, !table[Int(source[next])] { next += 1 }
    }
    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[position..<next]))
    examined += next - position
    position = next
  }

  private static let endsText = table {
    $0 == Ascii.ampersand || $0 == Ascii.less || $0 == Ascii.greater
  }
  private static let endsCharacterData = table { _ in false }
  private static let endsTagText = table {
    $0 == Ascii.ampersand || $0 == Ascii.less || $0 == Ascii.greater || $0 == Ascii.equals
      || $0 == Ascii.quote || $0 == Ascii.apostrophe
  }

  /// What the closure says, the controls that XML forbids, and the lead byte of U+FFFE and U+FFFF.
  private static func table(_ also: (UInt8) -> Bool) -> [Bool] {
    (0...255).map { (byte: UInt8) in
      byte == 0xEF || (byte < 0x20 && !Ascii.isSpace(byte)) || also(byte)
    }
  }

  /// XML forbids `]]>` outside of CDATA sections.
  private mutating func copyGreater() {
    position += 1
    if output.suffix(2).elementsEqual("]]".utf8) {
      output.append(contentsOf: "&gt;".utf8)
      faults += 1
    } else {
      output.append(Ascii.greater)
    }
  }

  private mutating func dropCharacter() {
    if source[position] == 0xEF {
      let isForbidden = isNoncharacter(at: position)
      if !isForbidden { output.append(0xEF) }
      position += isForbidden ? 3 : 1
      faults += isForbidden ? 1 : 0
    } else {
      position += 1
      faults += 1
    }
  }

  /// Whether U+FFFE or U+FFFF stands there. These go, so nothing may be concluded from them: what
  /// follows would move up to what stands before.
  private func isNoncharacter(at offset: Int) -> Bool {
    offset + 2 < source.count && source[offset] == 0xEF && source[offset + 1] == 0xBF
      && source[offset + 2] >= 0xBE
  }

  private mutating func readMarkup() throws(DocumentError) {
    let next = position + 1 < source.count ? source[position + 1] : 0
    let name = next == Ascii.slash ? position + 2 : position + 1
    if at("<![CDATA[") {
      copyCharacterData()
    } else if at("<!--") {
      skip(past: "-->")
    } else if next == UInt8(ascii: "!") || next == UInt8(ascii: "?") {
      if next == UInt8(ascii: "!") { faults += 1 }
      skip(past: next == UInt8(ascii: "?") ? "?>" : ">")
    } else if name < source.count, Ascii.beginsName(source[name]), !isNoncharacter(at: name) {
      try copyTag()
    } else {
      output.append(contentsOf: "&lt;".utf8)
      position += 1
      faults += 1
    }
  }

  /// A CDATA section stays one, so that what is in it stays unread; one that has no end is left to
  /// the repair.
  private mutating func copyCharacterData() {
    let end = offset(of: "]]>", from: position + 9).map { $0 + 3 } ?? source.count
    while position < end {
      copy(until: Self.endsCharacterData, before: end)
      guard position < end else { return }
      dropCharacter()
      // Without what stood between them, brackets must not become the section's end.
      if (output.last == Self.bracket && at("]>"))
        || (output.suffix(2).elementsEqual([Self.bracket, Self.bracket]) && at(">"))
      {
        output.append(contentsOf: "]]><![CDATA[".utf8)
      }
    }
  }

  private static let bracket = UInt8(ascii: "]")

  /// Copies a tag. A `<` inside ends it, as no well-formed tag has one.
  private mutating func copyTag() throws(DocumentError) {
    var quote: UInt8?
    var attributes = 0
    tags += 1
    guard tags <= XMLLimits.tagsMax else {
      throw DocumentError(
        .tooLarge, offset: position, detail: "it has more than \(XMLLimits.tagsMax) tags of XML")
    }
    output.append(Ascii.less)
    position += 1
    while position < source.count {
      copy(until: Self.endsTagText, before: source.count)
      guard position < source.count else { return }
      let byte = source[position]
      switch byte {
      case Ascii.less: return
      case Ascii.ampersand:
        readReference()
        continue
      case Ascii.greater where quote == nil:
        output.append(byte)
        position += 1
        return
      case Ascii.quote, Ascii.apostrophe:
        if quote == nil {
          quote = byte
        } else if quote == byte {
          quote = nil
        }
      case Ascii.equals where quote == nil:
        attributes += 1
        if attributes > XMLLimits.attributesMax {
          throw DocumentError(
            .tooLarge, offset: position,
            detail: "an XML element has more than \(XMLLimits.attributesMax) attributes")
        }
      case _ where byte == 0xEF || (byte < 0x20 && !Ascii.isSpace(byte)):
        dropCharacter()
        continue
      default: break
      }
      output.append(byte)
      position += 1
    }
  }

  // MARK: Bytes

  func at(_ text: StaticString) -> Bool {
    matches(text, at: position)
  }

  private func matches(_ text: StaticString, at offset: Int) -> Bool {
    guard source.count - offset >= text.utf8CodeUnitCount else { return false }
    // SAFETY: a static string has so many bytes at `utf8Start`, for ever.
    return text.withUTF8Buffer { bytes in
      bytes.indices.allSatisfy { source[offset + $0] == bytes[$0] }
    }
  }

  private mutating func offset(of text: StaticString, from start: Int) -> Int? {
    var offset = start
    defer { examined += offset - start }
    while offset < source.count {
      if source[offset] == text.utf8Start.pointee, matches(text, at: offset) { return offset }
      offset += 1
    }
    return nil
  }

  mutating func skip(past text: StaticString) {
    position = offset(of: text, from: position).map { $0 + text.utf8CodeUnitCount } ?? source.count
  }

  /// From a quote to behind its partner.
  mutating func skipQuoted() {
    let start = position
    let quote = source[position]
    position += 1
    while position < source.count, source[position] != quote { position += 1 }
    position = min(position + 1, source.count)
    examined += position - start
  }

  mutating func skipSpace() {
    while position < source.count, source[position] <= 0x20 { position += 1 }
  }

  mutating func takeName() -> String {
    let start = position
    while position < source.count, position - start < 64, Ascii.continuesName(source[position]) {
      position += 1
    }
    examined += position - start
    return String(decoding: source[start..<position], as: UTF8.self)
  }
}
