// The prolog, of which only the entities of plain text are kept.
extension XMLCleaner {
  /// Skips everything before the root's tag.
  ///
  /// The text and the elements of HTML that servers write before a feed, such as the warnings of
  /// PHP, are skipped, too, if a feed follows.
  mutating func readProlog() {
    defer { countLinesBeforeRoot() }
    var root: Int?
    while position < source.count {
      if source[position] != Ascii.less {
        if !Ascii.isSpace(source[position]) { addTextBeforeRoot() }
        position += 1
      } else if at("<?") {
        skipInstruction(isInProlog: true)
      } else if at("<!--") {
        skipComment()
      } else if at("<!") {
        readDocumentType()
      } else {
        if root == nil, isHTMLElement || hasTextBeforeRoot {
          root = FeedRootTag.offset(in: source, from: position)
        }
        guard let root, position < root else { return }
        addTextBeforeRoot()
        position += 1
      }
      // A comment or an instruction that is not closed before the feed does not hide the feed.
      if let root { position = min(position, root) }
    }
  }

  private mutating func addTextBeforeRoot() {
    if !hasTextBeforeRoot { faults.add("there is text before the feed", at: position) }
    hasTextBeforeRoot = true
  }

  /// True if an element of HTML begins here that a page cannot begin with.
  private var isHTMLElement: Bool {
    let name = source[(position + 1)...].prefix(64).prefix(while: Ascii.continuesName)
    let text = String(decoding: name, as: UTF8.self).lowercased()
    return HTMLText.isElement(text) && !["html", "head", "body"].contains(text)
  }

  // MARK: Comments and instructions

  /// Skips a comment. As in browsers `<!-->` is one, too.
  mutating func skipComment() {
    let start = position
    let dashes = offset(of: "--", from: start + 4)
    let isWhole = dashes.map { $0 + 2 < source.count && source[$0 + 2] == Ascii.greater } ?? false
    position = start + 4
    let isShort = at(">") || at("->")
    position = start
    if let dashes, isWhole, !isShort {
      skip(to: dashes + 3)
      return
    }
    let end = offset(of: "-->", from: isShort ? start : (dashes ?? source.count))
    faults.add(
      end == nil ? "<!-- is not closed" : "a comment with -- in it is not allowed", at: start)
    skip(to: end.map { $0 + 3 } ?? source.count)
  }

  /// Skips a processing instruction or the XML declaration, which ends at the first `>`.
  mutating func skipInstruction(isInProlog: Bool = false) {
    let start = position
    position += 2
    let hasName =
      position < source.count && (Ascii.beginsName(source[position]) || at(":"))
    let target = takeName()
    let isWritten = hasName && (at("?>") || position < source.count && source[position] <= 0x20)
    if target.lowercased() == "xml" {
      let end = offset(of: ">", from: position).map { $0 + 1 } ?? source.count
      if start > 0, !hasTextBeforeRoot {
        faults.add("the XML declaration is not at the start", at: start)
      } else if start == 0, target != "xml" || !isDeclaration(endingAt: end) {
        faults.add("the XML declaration is not written correctly", at: start)
      }
      position = start
      skip(to: end)
      return
    }
    position = start
    let end = offset(of: "?>", from: start + 2)
    if !isWritten || end == nil {
      faults.add(end == nil ? "<? is not closed" : "<? is not followed by a name", at: start)
    }
    skip(to: end.map { $0 + 2 } ?? source.count)
  }

  /// Returns true if the declaration has a version, and after it an encoding and `standalone` or
  /// none of them. The position is after `<?xml`.
  private mutating func isDeclaration(endingAt end: Int) -> Bool {
    var names = ["version", "encoding", "standalone"][...]
    while true {
      let start = position
      skipSpace()
      if at("?>") { return position + 2 == end && names.first != "version" }
      let name = takeName()
      guard position < end, start < position - name.utf8.count,
        let place = names.firstIndex(of: name), name == "version" || names.first != "version"
      else { return false }
      names = names[(place + 1)...]
      skipSpace()
      guard position < end, source[position] == Ascii.equals else { return false }
      position += 1
      skipSpace()
      guard position < end, Ascii.isQuote(source[position]) else { return false }
      skipQuoted()
      guard position < end else { return false }
    }
  }

  // MARK: The document type

  /// Keeps the entities of plain text and skips the rest. Entities inside an entity's text are not
  /// expanded, so nothing can multiply.
  private mutating func readDocumentType() {
    let start = position
    hasDocumentType = true
    if !skipNameOfDocumentType() {
      faults.add("the document type is not written correctly", at: start)
    }
    var isInSubset = false
    scan: while position < source.count {
      switch source[position] {
      case UInt8(ascii: "["): isInSubset = true
      case UInt8(ascii: "]"): isInSubset = false
      case Ascii.greater where !isInSubset: break scan
      // References to parameters may stand for declarations.
      case UInt8(ascii: "%") where isInSubset: hasExternalSubset = true
      case Ascii.quote, Ascii.apostrophe:
        if !isInSubset { hasExternalSubset = true }
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
  }

  /// Skips `<!DOCTYPE rss`. Returns false if something else is there.
  private mutating func skipNameOfDocumentType() -> Bool {
    guard at("<!DOCTYPE") else { return false }
    position += "<!DOCTYPE".utf8.count
    guard position < source.count, Ascii.isSpace(source[position]) else { return false }
    skipSpace()
    let name = takeName()
    guard !name.isEmpty else { return false }
    isHTML = isHTML || name.lowercased() == "html"
    skipSpace()
    return at(">") || at("[") || at("SYSTEM") || at("PUBLIC")
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
      // If a name is declared twice, the first declaration wins (XML 1.0, section 4.2).
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

  /// Returns the escaped text of an entity. Its references to characters are resolved; markup in it
  /// counts as text.
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
}
