/// Rewrites XML in one pass so that libxml2 can read it safely.
///
/// The output has no XML declaration, document type, comment or processing instruction, and no
/// references except to numbers and to the five names of XML. So libxml2 can neither expand an
/// entity nor request anything outside of the document.
///
/// Common faults are repaired: control characters are removed, an ampersand that begins no
/// reference and a `<` that begins no tag are escaped, and the named characters of HTML become the
/// characters. `XMLRepair` takes care of elements that do not match.
struct XMLCleaner {
  var output: [UInt8] = []
  /// The faults that were repaired, at their places in the source.
  var faults = TextFaults()
  /// The number of bytes that were examined, counting those that were examined twice.
  private(set) var examined = 0

  let source: UnsafeRawBufferPointer
  var position = 0
  private var tags = 0
  /// The places of the output where lines of the source are missing, and how many.
  private var skippedLines: [(offset: Int, lines: Int)] = []
  var hasTextBeforeRoot = false
  var hasDocumentType = false
  /// True if the document type is that of HTML.
  var isHTML = false
  /// True if the document type refers to other documents, which may define any entity.
  var hasExternalSubset = false
  var entities: [String: [UInt8]] = [:]
  /// The number of bytes that entities may still expand to.
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

  /// Copies up to the next byte that the table marks.
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

  /// Returns a table that marks the bytes of the closure, the control characters that XML forbids,
  /// and the lead byte of U+FFFE and U+FFFF.
  private static func table(_ also: (UInt8) -> Bool) -> [Bool] {
    (0...255).map { (byte: UInt8) in
      byte == 0xEF || (byte < 0x20 && !Ascii.isSpace(byte)) || also(byte)
    }
  }

  /// Copies a `>`, escaped in `]]>`, which XML forbids outside of CDATA sections.
  private mutating func copyGreater() {
    position += 1
    if output.suffix(2).elementsEqual("]]".utf8) {
      output.append(contentsOf: "&gt;".utf8)
      faults.add("]]> ends nothing", at: position - 1)
    } else {
      output.append(Ascii.greater)
    }
  }

  private mutating func dropCharacter() {
    if source[position] == 0xEF {
      let isForbidden = isNoncharacter(at: position)
      if !isForbidden { output.append(0xEF) }
      if isForbidden { faults.add("U+FFFE and U+FFFF are not allowed", at: position) }
      position += isForbidden ? 3 : 1
    } else {
      faults.add("a control character is not allowed", at: position)
      position += 1
    }
  }

  /// Returns true if U+FFFE or U+FFFF is at the offset. They are removed, which joins the text
  /// before and after them, so they must not separate anything.
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
      skipComment()
    } else if next == UInt8(ascii: "?") {
      skipInstruction()
    } else if next == UInt8(ascii: "!") {
      faults.add("<! begins no comment and no CDATA section", at: position)
      skip(past: ">")
    } else if name < source.count, Ascii.beginsName(source[name]), !isNoncharacter(at: name) {
      try copyTag()
    } else {
      output.append(contentsOf: "&lt;".utf8)
      faults.add("< begins no tag", at: position)
      position += 1
    }
  }

  /// Copies a CDATA section as one, so that its content is not read as markup. `XMLRepair` takes
  /// care of one without an end.
  private mutating func copyCharacterData() {
    let end = offset(of: "]]>", from: position + 9).map { $0 + 3 } ?? source.count
    while position < end {
      copy(until: Self.endsCharacterData, before: end)
      guard position < end else { return }
      dropCharacter()
      // Brackets that the removal has joined must not end the section.
      if (output.last == Self.bracket && at("]>"))
        || (output.suffix(2).elementsEqual([Self.bracket, Self.bracket]) && at(">"))
      {
        output.append(contentsOf: "]]><![CDATA[".utf8)
      }
    }
  }

  private static let bracket = UInt8(ascii: "]")

  /// Copies a tag. A `<` inside ends it, because no well-formed tag contains one.
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
      case Ascii.less:
        // The markup that follows may be removed, and the tag then seems to continue after it.
        if at("<!--") || at("<?") { faults.add("a tag has no end", at: position) }
        return
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
    // SAFETY: a static string has `utf8CodeUnitCount` bytes at `utf8Start`, which are never freed.
    return text.withUTF8Buffer { bytes in
      bytes.indices.allSatisfy { source[offset + $0] == bytes[$0] }
    }
  }

  mutating func offset(of text: StaticString, from start: Int) -> Int? {
    var offset = min(start, source.count)
    defer { examined += max(0, offset - start) }
    while offset < source.count {
      if source[offset] == text.utf8Start.pointee, matches(text, at: offset) { return offset }
      offset += 1
    }
    return nil
  }

  mutating func skip(past text: StaticString) {
    skip(to: offset(of: text, from: position).map { $0 + text.utf8CodeUnitCount } ?? source.count)
  }

  mutating func skip(to end: Int) {
    countLines(from: position, to: end)
    position = end
  }

  /// Records the lines of a part of the source that is not in the output.
  private mutating func countLines(from start: Int, to end: Int) {
    let lines = source[start..<end].count { $0 == UInt8(ascii: "\n") }
    if lines > 0 { skippedLines.append((output.count, lines)) }
  }

  mutating func countLinesBeforeRoot() {
    skippedLines = []
    countLines(from: 0, to: position)
  }

  /// Returns a fault of the output with its line in the source.
  func lineFault(_ fault: (offset: Int, reason: String)) -> LineFault {
    let skipped = skippedLines.prefix { $0.offset <= fault.offset }.reduce(0) { $0 + $1.lines }
    return LineFault(fault.reason, after: output.prefix(fault.offset), moreLines: skipped)
  }

  /// Returns the lines of the source for bytes of the output.
  ///
  /// - Parameter offsets: In ascending order.
  /// - Complexity: O(length of the output).
  func lines(ofOutput offsets: [Int]) -> [Int] {
    var (line, counted) = (1, 0)
    var skipped = skippedLines[...]
    return offsets.map { offset in
      line += output[counted..<offset].count { $0 == UInt8(ascii: "\n") }
      counted = offset
      while let first = skipped.first, first.offset <= offset {
        line += first.lines
        skipped.removeFirst()
      }
      return line
    }
  }

  /// Skips a quoted text with its quotes.
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
