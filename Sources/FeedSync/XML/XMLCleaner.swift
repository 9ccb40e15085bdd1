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
  private(set) var output: [UInt8] = []
  /// What XML forbids and was mended.
  private(set) var faults = 0
  /// The document type as written, if there is one.
  private(set) var documentType: String?
  /// Bytes that were looked at, those that were looked at again included.
  private(set) var examined = 0

  private let source: UnsafeRawBufferPointer
  private var position = 0
  private var tags = 0
  private var entities: [String: [UInt8]] = [:]
  /// Bytes that entities may still become.
  private var entityBytesLeft: Int

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

  // MARK: Prolog

  /// Passes over everything before the root's tag.
  private mutating func readProlog() {
    var sawText = false
    while position < source.count {
      if source[position] != Ascii.less {
        sawText = sawText || source[position] > 0x20
        position += 1
      } else if at("<?") {
        skip(past: "?>")
      } else if at("<!--") {
        skip(past: "-->")
      } else if at("<!") {
        readDocumentType()
      } else {
        break
      }
    }
    if sawText { faults += 1 }
  }

  /// Keeps the entities that are plain text and passes over the rest. No entity is looked for in
  /// another's text, so nothing can multiply.
  private mutating func readDocumentType() {
    let start = position
    var isInSubset = false
    scan: while position < source.count {
      switch source[position] {
      case UInt8(ascii: "["): isInSubset = true
      case UInt8(ascii: "]"): isInSubset = false
      case Ascii.greater where !isInSubset: break scan
      case Ascii.quote, Ascii.apostrophe:
        skipQuoted()
        continue
      case Ascii.less where at("<!--"):
        skip(past: "-->")
        continue
      case Ascii.less where at("<!ENTITY"):
        readEntity()
        continue
      default: break
      }
      position += 1
    }
    position = min(position + 1, source.count)
    documentType = String(
      decoding: source[start..<min(position, start + 1_000)], as: UTF8.self)
  }

  private mutating func readEntity() {
    position += "<!ENTITY".utf8.count
    skipSpace()
    let name = takeName()
    skipSpace()
    if position < source.count,
      source[position] == Ascii.quote || source[position] == Ascii.apostrophe,
      !name.isEmpty
    {
      let start = position + 1
      skipQuoted()
      let end = max(start, position - 1)
      // The first declaration of a name counts (XML 1.0, section 4.2).
      if entities[name] == nil, end - start <= XMLLimits.entityBytesMax,
        entities.count < XMLLimits.entitiesMax
      {
        entities[name] = Self.plainText(source[start..<end])
      }
    }
    // External and parameter entities end here as well.
    while position < source.count, source[position] != Ascii.greater {
      if source[position] == Ascii.quote || source[position] == Ascii.apostrophe {
        skipQuoted()
      } else {
        position += 1
      }
    }
    position = min(position + 1, source.count)
  }

  /// The text that an entity stands for, escaped: its references to characters are resolved, all
  /// else is taken as it stands. Markup in it is text.
  private static func plainText(_ value: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    let text = HTMLText.decodingReferences(String(decoding: value, as: UTF8.self))
    var result: [UInt8] = []
    let scalars = text.unicodeScalars.filter { $0 != "\u{FFFE}" && $0 != "\u{FFFF}" }
    for byte in String(scalars).utf8 where byte >= 0x20 || Ascii.isSpace(byte) {
      switch byte {
      case Ascii.ampersand: result.append(contentsOf: "&amp;".utf8)
      case Ascii.less: result.append(contentsOf: "&lt;".utf8)
      case Ascii.greater: result.append(contentsOf: "&gt;".utf8)
      case Ascii.quote: result.append(contentsOf: "&quot;".utf8)
      case Ascii.apostrophe: result.append(contentsOf: "&apos;".utf8)
      default: result.append(byte)
      }
    }
    return result
  }

  // MARK: Body

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

  // MARK: References

  private mutating func readReference() {
    let start = position
    position += 1
    if position < source.count, source[position] == UInt8(ascii: "#") {
      if let scalar = takeNumber() {
        append(scalar)
        return
      }
    } else {
      let name = takeName()
      if !name.isEmpty, position < source.count, source[position] == UInt8(ascii: ";") {
        position += 1
        if append(entity: name, writtenAs: start..<position) { return }
      }
    }
    position = start + 1
    output.append(contentsOf: "&amp;".utf8)
    faults += 1
  }

  /// The character of `#38;` or `#x26;`; U+FFFF for one that XML forbids.
  private mutating func takeNumber() -> Unicode.Scalar? {
    position += 1
    let isHexadecimal = position < source.count && source[position] | 0x20 == UInt8(ascii: "x")
    if isHexadecimal { position += 1 }
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

  /// Writes a character that a number names, as a reference where it could be taken for markup.
  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\u{FFFF}": faults += 1
    case "&", "<", ">", "\"", "'", "\t", "\n", "\r":
      output.append(contentsOf: "&#\(scalar.value);".utf8)
    case "\u{80}"..."\u{9F}": output.append(Windows1252.scalar(scalar.value))
    default: output.append(scalar)
    }
  }

  /// Whether the name stands for something.
  private mutating func append(entity name: String, writtenAs range: Range<Int>) -> Bool {
    switch name {
    case "amp", "lt", "gt", "quot", "apos":
      output.append(contentsOf: source[range])
    default:
      if let text = entities[name] {
        guard text.count <= entityBytesLeft else { return false }
        entityBytesLeft -= text.count
        output.append(contentsOf: text)
      } else if let scalar = HTMLEntities.scalar(name) {
        output.append(scalar)
        faults += 1
      } else {
        return false
      }
    }
    return true
  }

  // MARK: Bytes

  private func at(_ text: StaticString) -> Bool {
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

  private mutating func skip(past text: StaticString) {
    position = offset(of: text, from: position).map { $0 + text.utf8CodeUnitCount } ?? source.count
  }

  /// From a quote to behind its partner.
  private mutating func skipQuoted() {
    let start = position
    let quote = source[position]
    position += 1
    while position < source.count, source[position] != quote { position += 1 }
    position = min(position + 1, source.count)
    examined += position - start
  }

  private mutating func skipSpace() {
    while position < source.count, source[position] <= 0x20 { position += 1 }
  }

  private mutating func takeName() -> String {
    let start = position
    while position < source.count, position - start < 64, Ascii.continuesName(source[position]) {
      position += 1
    }
    examined += position - start
    return String(decoding: source[start..<position], as: UTF8.self)
  }
}
