// The prolog, of which only the entities of plain text are kept.
extension XMLCleaner {
  /// Skips everything before the root's tag.
  mutating func readProlog() {
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

  /// Keeps the entities of plain text and skips the rest. Entities inside an entity's text are not
  /// expanded, so nothing can multiply.
  private mutating func readDocumentType() {
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
