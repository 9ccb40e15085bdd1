/// The kind of document that a body seems to be if it is not JSON.
package enum DocumentGuess: String {
  /// Includes HTML, and text before a feed: only the XML reader can distinguish them.
  case xml = "XML"
  case utf16 = "UTF-16 text; JSON must be UTF-8"
  case gzip = "gzip data, which the server must label with Content-Encoding: gzip"
  case text = "text that is neither XML nor JSON"

  /// O(length) for a body that begins with text, otherwise O(1).
  package init?(_ bytes: UnsafeRawBufferPointer) {
    let marks: [([UInt8], DocumentGuess)] = [
      ([0xFF, 0xFE, 0x3C, 0x00], .xml), ([0xFE, 0xFF, 0x00, 0x3C], .xml),
      ([0x3C, 0x00], .xml), ([0x00, 0x3C], .xml), ([0x00, 0x00, 0x00, 0x3C], .xml),
      ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16), ([0x1F, 0x8B], .gzip),
      ([0x7B, 0x00], .utf16), ([0x00, 0x7B], .utf16),
    ]
    for (mark, guess) in marks where bytes.starts(with: mark) {
      self = guess
      return
    }
    let text = Self.text(of: bytes)
    guard let first = text.first else { return nil }
    if first == Ascii.less {
      self = .xml
    } else if Self.beginsJSON(text) {
      return nil
    } else {
      self = FeedRootTag.offset(in: bytes) == nil ? .text : .xml
    }
  }

  /// Returns the bytes after a byte order mark and white space.
  fileprivate static func text(of bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0).drop { $0 <= 0x20 }
  }

  private static func beginsJSON(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    switch text.first {
    case UInt8(ascii: "{"), Ascii.quote, UInt8(ascii: "-"): return true
    case let first? where Ascii.isDigit(first): return true
    case UInt8(ascii: "["):
      // A log begins with [error] or [Mon Nov 23], too.
      let rest = text.dropFirst().drop { $0 <= 0x20 }
      return !(rest.first.map(Ascii.isLetter) ?? false) || beginsWithWord(rest)
    default: return beginsWithWord(text)
    }
  }

  /// Returns true if a later line begins an object or array in JSON that ends with the text, as
  /// after the warnings that servers write.
  fileprivate static func hasJSONBelow(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let text = text(of: bytes)
    guard let last = text.last(where: { $0 > 0x20 }),
      last == UInt8(ascii: "}") || last == UInt8(ascii: "]")
    else { return false }
    var place = text.startIndex
    while let end = text[place...].firstIndex(of: 0x0A) {
      place = end + 1
      let line = text[place...].drop { $0 == 0x20 || $0 == 0x09 }
      let next = line.dropFirst().first { $0 > 0x20 }
      switch line.first {
      case UInt8(ascii: "{") where next == Ascii.quote: return true
      case UInt8(ascii: "[") where next == UInt8(ascii: "{"): return true
      default: break
      }
    }
    return false
  }

  private static func beginsWithWord(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    ["true", "false", "null"].contains { text.starts(with: $0.utf8) }
  }
}

extension DocumentError {
  /// Returns the error with what the body seems to be, if it is not a feed at all.
  package func explained(
    by bytes: UnsafeRawBufferPointer, contentType: String?
  ) -> DocumentError {
    var explained = self
    let guess = DocumentGuess(bytes)
    if guess == .text || guess == .xml && isOtherFormat, DocumentGuess.hasJSONBelow(bytes) {
      return DocumentError(.misplacedToken, detail: "there is text before the JSON")
    }
    switch guess {
    case .xml: break
    case .text?:
      let line = DocumentGuess.text(of: bytes).prefix(400).prefix { $0 != 0x0A && $0 != 0x0D }
      let start = String(decoding: line, as: UTF8.self).excerpt()
      explained = DocumentError(.unknownFormat, detail: "found text that begins with \"\(start)\"")
    case let guess?:
      explained = DocumentError(.unknownFormat, detail: "found \(guess.rawValue)")
    case nil where code == .notAnObject: explained = Self.unknownJSON(bytes) ?? self
    case nil: break
    }
    switch explained.code {
    case .unknownFormat, .unknownJSON, .htmlPage, .empty:
      guard let contentType else { break }
      let label = "the answer is labelled \(contentType.excerpt(100))"
      explained.detail = explained.detail.map { "\($0); \(label)" } ?? label
    default: break
    }
    return explained
  }

  /// Returns the error for JSON whose root is not an object: that it is of no known format, or what
  /// is wrong in it.
  private static func unknownJSON(_ bytes: UnsafeRawBufferPointer) -> DocumentError? {
    do throws(DocumentError) {
      return try JSONParser().withValue(bytes) { root in
        let kind = root.kind == .array ? "array" : "value that is neither an object nor an array"
        return DocumentError(.unknownJSON, detail: "found a JSON \(kind)")
      }
    } catch {
      return error
    }
  }
}
