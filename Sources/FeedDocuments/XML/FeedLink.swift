/// A feed that an HTML page names in a `link` element.
package struct FeedLink: Sendable, Equatable {
  /// The URL as written, with its references to characters resolved.
  package var href: String
  /// The media type in lower case.
  package var type: String
  package var title: String?

  /// The bytes of a page that are searched, and the links that are returned.
  static let (bytesMax, linksMax) = (1 << 20, 16)
  private static let titleCharacters = 200
}

/// The feeds that a page names.
package struct FeedLinks: Sendable {
  /// The links in the order of the page.
  package var links: [FeedLink]
  /// The page's own base for relative URLs, as written; nil if it has none.
  package var base: String?

  /// Returns the feeds that a page names; nil if the document is no HTML page.
  ///
  /// - Parameter bytes: The body of an answer.
  package init?(_ bytes: UnsafeRawBufferPointer, contentType: String?) {
    let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(FeedLink.bytesMax))
    let text: [UInt8]
    do throws(DocumentError) {
      text = try DecodedText(start, contentType: contentType).bytes
    } catch {
      text = Array(start)
    }
    guard Self.isPage(text, contentType) else { return nil }
    self.init(page: text)
  }

  /// - Parameter page: HTML in UTF-8.
  init(page: [UInt8]) {
    var examined = 0
    self.init(page: page, examined: &examined)
  }

  /// - Parameter examined: Increased by the number of bytes that were examined for tags.
  init(page: [UInt8], examined: inout Int) {
    links = []
    page.prefix(FeedLink.bytesMax).withUnsafeBufferPointer { bytes in
      var hidden: [UInt8]?
      var position = 0
      while position < bytes.count, links.count < FeedLink.linksMax {
        guard let tag = HTMLTag(bytes, at: position, examined: &examined) else {
          position += 1
          continue
        }
        position = tag.end
        if let name = hidden {
          if tag.isEnd, tag.hasName(name, in: bytes) { hidden = nil }
        } else if !tag.isEnd {
          hidden = Self.textElements.first { tag.hasName($0, in: bytes) }
          take(tag, bytes)
        }
      }
    }
  }

  /// The elements whose content is text and has no links.
  private static let textElements = ["script", "style", "textarea", "title"].map { Array($0.utf8) }
  private static let (link, base) = (Array("link".utf8), Array("base".utf8))

  private mutating func take(_ tag: HTMLTag, _ bytes: UnsafeBufferPointer<UInt8>) {
    if base == nil, tag.hasName(Self.base, in: bytes) {
      base = Self.attributes(of: tag, bytes)["href"]
    } else if tag.hasName(Self.link, in: bytes),
      let link = FeedLink(Self.attributes(of: tag, bytes))
    {
      links.append(link)
    }
  }

  /// Returns the first attribute of each name.
  private static func attributes(
    of tag: HTMLTag, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> [String: String] {
    let attributes = tag.attributes(in: bytes).map { name, value in
      let text = String(decoding: bytes[value], as: UTF8.self)
      return (name, HTMLText.decodingReferences(text).trimmed)
    }
    return Dictionary(attributes, uniquingKeysWith: { first, _ in first })
  }

  /// Returns true for a text that begins as HTML does, or is labelled as HTML and begins with a
  /// tag.
  private static func isPage(_ text: [UInt8], _ contentType: String?) -> Bool {
    let start = String(decoding: text.prefix(4_096), as: UTF8.self).lowercased().trimmed
    guard start.contains("<") else { return false }
    if contentType?.lowercased().contains("html") == true { return true }
    return ["<!doctype html", "<html", "<head"].contains { start.contains($0) }
  }
}

extension FeedLink {
  /// Returns the link if it names a feed.
  fileprivate init?(_ attributes: [String: String]) {
    let relations = (attributes["rel"] ?? "").lowercased().split(whereSeparator: \.isWhitespace)
    guard relations.contains("alternate"), !relations.contains("stylesheet"),
      let href = attributes["href"], !href.isEmpty, href.utf8.count <= XMLLimits.referenceBytesMax
    else { return nil }
    let type = (attributes["type"] ?? "").lowercased().prefix { $0 != ";" }
    self.init(
      href: href, type: String(type).trimmed,
      title: attributes["title"].flatMap {
        $0.isEmpty ? nil : String($0.prefix(Self.titleCharacters))
      })
    guard isFeed else { return nil }
  }

  private var isFeed: Bool {
    switch type {
    case "application/rss+xml", "application/atom+xml", "application/feed+json": true
    // Many pages name the JSON of an API, which is no feed.
    case "application/json": (href + (title ?? "")).lowercased().contains("feed")
    default: false
    }
  }
}
