/// Functions for the HTML in feeds. They need its tags and references only, not its tree.
enum HTMLText {
  /// Returns the text without tags, comments, scripts and styles, with its references resolved
  /// once. O(length).
  static func plain(_ html: String) -> String {
    var result: [UInt8] = []
    var hidden: [UInt8]?
    var bytes = html
    bytes.withUTF8 { bytes in
      var position = 0
      while position < bytes.count {
        if let tag = HTMLTag(bytes, at: position) {
          position = tag.end
          if let name = hidden {
            if tag.isEnd, tag.hasName(name, in: bytes) { hidden = nil }
          } else if !tag.isEnd {
            for name in ["script", "style"] where tag.hasName(Array(name.utf8), in: bytes) {
              hidden = Array(name.utf8)
            }
          }
        } else {
          if hidden == nil { result.append(bytes[position]) }
          position += 1
        }
      }
    }
    return decodingReferences(String(decoding: result, as: UTF8.self))
  }

  /// Returns true if a text of undeclared format is HTML: it has an end tag or a reference, and no
  /// tag or reference that is unknown in HTML, such as `<foo>`.
  static func looksLikeHTML(_ text: String) -> Bool {
    var examined = 0
    return looksLikeHTML(text, examined: &examined)
  }

  /// - Parameter examined: Increased by the number of bytes that were examined for tags.
  static func looksLikeHTML(_ text: String, examined: inout Int) -> Bool {
    guard text.utf8.contains(where: { $0 == Ascii.less || $0 == Ascii.ampersand }) else {
      return false
    }
    var isMarkup = false, isForeign = false
    var text = text
    text.withUTF8 { bytes in
      var position = 0
      while position < bytes.count {
        switch bytes[position] {
        case Ascii.less:
          guard let tag = HTMLTag(bytes, at: position, examined: &examined) else { break }
          if tag.name.isEmpty {
            // A comment is not read again, though it may hold the beginnings of others.
            position = tag.end
            continue
          }
          let name = String(decoding: bytes[tag.name], as: UTF8.self).lowercased()
          if !elements.contains(name) { isForeign = true }
          isMarkup = isMarkup || tag.isEnd
        case Ascii.ampersand:
          if let reference = HTMLReference(bytes, at: position) {
            if reference.scalar == nil { isForeign = true }
            isMarkup = true
          }
        default: break
        }
        position += 1
      }
    }
    return isMarkup && !isForeign
  }

  /// Returns the text with its references to characters resolved. O(length).
  static func decodingReferences(_ text: String) -> String {
    guard text.utf8.contains(Ascii.ampersand) else { return text }
    var result: [UInt8] = []
    var text = text
    text.withUTF8 { bytes in
      var position = 0
      while position < bytes.count {
        if bytes[position] == Ascii.ampersand,
          let reference = HTMLReference(bytes, at: position), let scalar = reference.scalar
        {
          result.append(scalar)
          position = reference.end
        } else {
          result.append(bytes[position])
          position += 1
        }
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the HTML with the relative URLs of its links and images made absolute. Without a base,
  /// or if the HTML would grow to more than twice its length plus 64 KiB, it is unchanged.
  /// O(length).
  ///
  /// - Parameter bytesLeft: The number of bytes that URLs and their bases may still take together.
  ///   Links beyond that stay as they are.
  static func resolvingLinks(
    _ html: [UInt8], base: URLReference.Base, bytesLeft: inout Int
  ) -> [UInt8] {
    guard !base.text.isEmpty, html.contains(Ascii.less) else { return html }
    var result: [UInt8] = []
    let largest = html.count * 2 + 65_536
    html.withUnsafeBufferPointer { bytes in
      var position = 0, copied = 0
      while position < bytes.count, result.count <= largest, bytesLeft > 0 {
        guard bytes[position] == Ascii.less, let tag = HTMLTag(bytes, at: position) else {
          position += 1
          continue
        }
        for value in tag.linkValues(in: bytes) where value.count <= XMLLimits.referenceBytesMax {
          let reference = decodingReferences(String(decoding: bytes[value], as: UTF8.self))
          guard !reference.isEmpty, URLReference.scheme(of: reference) == nil,
            !reference.hasPrefix("#")
          else { continue }
          guard bytesLeft > 0 else { break }
          let resolved = URLReference.resolve(reference, base: base)
          bytesLeft -= resolved.utf8.count + base.text.utf8.count
          result.append(contentsOf: bytes[copied..<value.lowerBound])
          for byte in resolved.utf8 {
            switch byte {
            case Ascii.quote: result.append(contentsOf: "&quot;".utf8)
            case Ascii.apostrophe: result.append(contentsOf: "&#39;".utf8)
            case Ascii.less: result.append(contentsOf: "&lt;".utf8)
            case Ascii.ampersand: result.append(contentsOf: "&amp;".utf8)
            default: result.append(byte)
            }
          }
          copied = value.upperBound
        }
        position = tag.end
      }
      result.append(contentsOf: bytes[copied...])
    }
    return result.count > largest ? html : result
  }

  /// Returns true for the name of an element of HTML, in lower case.
  static func isElement(_ name: String) -> Bool { elements.contains(name) }

  private static let elements: Set<String> = Set(
    """
    a abbr acronym address area article aside audio b base basefont big blockquote body br button \
    canvas caption center cite code col colgroup command datagrid datalist dd del details dfn \
    dialog dir div dl dt em embed event-source fieldset figcaption figure font footer form frame \
    h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd keygen label legend li link \
    m map mark menu meta meter multicol nav nextid nobr noscript object ol optgroup option output \
    p param picture pre progress q rp rt ruby s samp script section select small sound source \
    spacer span strike strong style sub summary sup table tbody td textarea tfoot th thead time \
    title tr tt u ul var video wbr
    """.split(separator: " ").map(String.init))
}
