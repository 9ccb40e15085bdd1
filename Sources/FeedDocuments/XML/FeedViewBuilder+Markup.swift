// Elements inside an element that may hold markup are kept as markup.
extension FeedViewBuilder {
  mutating func openMarkup(_ element: Element) {
    if markupDepth == 0 {
      let index = frames.count - 1
      // The text before is examined only once, however many elements follow.
      let isFirst =
        !frames[index].isInline && buffer[frames[index].textStart...].allSatisfy(Ascii.isSpace)
      let isDivision = isFirst && element.local == "div"
      frames[index].isInline = true
      write(element)
      frames[index].enclosed = isDivision ? buffer.count..<buffer.count : nil
    } else {
      write(element)
    }
    markupDepth += 1
    markupNames.append(element.local)
  }

  mutating func closeMarkup(_ frame: Frame) {
    markupDepth -= 1
    let name = markupNames.popLast() ?? ""
    if markupDepth == 0, let start = frames.last?.enclosed?.lowerBound {
      // A second element beside it would have cleared this.
      frames[frames.count - 1].enclosed = start..<buffer.count
    }
    if Self.isVoid(name) { return }
    buffer.append(contentsOf: "</\(name)>".utf8)
  }

  private mutating func write(_ element: Element) {
    buffer.append(Ascii.less)
    buffer.append(contentsOf: element.local.utf8)
    for attribute in element.attributes where !attribute.hasNamespace || attribute.hasPrefix {
      buffer.append(contentsOf: " \(attribute.name)=\"".utf8)
      var value = attribute.value
      value.withUTF8 { appendEscaped($0) }
      buffer.append(Ascii.quote)
    }
    buffer.append(contentsOf: (Self.isVoid(element.local) ? " />" : ">").utf8)
  }

  mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    for byte in text {
      switch byte {
      case Ascii.less: buffer.append(contentsOf: "&lt;".utf8)
      case Ascii.greater: buffer.append(contentsOf: "&gt;".utf8)
      case Ascii.ampersand: buffer.append(contentsOf: "&amp;".utf8)
      case Ascii.quote: buffer.append(contentsOf: "&quot;".utf8)
      default: buffer.append(byte)
      }
    }
  }

  private static func isVoid(_ name: String) -> Bool {
    switch name {
    case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
      "source", "track", "wbr":
      true
    default: false
    }
  }
}
